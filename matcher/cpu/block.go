package cpu

import (
	"sync"
	"sync/atomic"
)

// blockWords is the size of a block: 128 KiB, so that what one goroutine writes the next one reads from the cache.
const blockWords = 32 << 10

// block is pooled memory for rows. Several groups may lie in one; it goes back to the pool with the last of its users.
type block struct {
	words []uint32
	users atomic.Int32
}

var blocks = sync.Pool{New: func() any { return &block{words: make([]uint32, 0, blockWords)} }}

// newBlock returns an empty block with one user.
func newBlock() *block {
	b := blocks.Get().(*block)
	b.words = b.words[:0]
	b.users.Store(1)
	return b
}

func (b *block) use() { b.users.Add(1) }

func (b *block) release() {
	if b.users.Add(-1) == 0 {
		blocks.Put(b)
	}
}

// segment is a part of a block: whole rows.
type segment struct {
	b        *block
	from, to int
}

func (s *segment) words() []uint32 { return s.b.words[s.from:s.to] }
