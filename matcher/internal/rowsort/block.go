package rowsort

import (
	"sync"
	"sync/atomic"
)

// BlockWords is the size of a block: 128 KiB, so that what one goroutine writes the next one reads from the cache.
const BlockWords = 32 << 10

// block is pooled memory for whole rows. Several groups may lie in one; it goes back to the pool with its last user.
type block struct {
	words []uint32
	users atomic.Int32
}

var blocks = sync.Pool{New: func() any { return &block{words: make([]uint32, 0, BlockWords)} }}

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

// Writer writes the rows of small groups to blocks, several groups to one block. One goroutine owns it.
type Writer struct{ b *block }

// write writes the rows that keys name, w columns each, and returns where they are. Each segment is a user of its
// block.
func (o *Writer) write(w int, buf *buffer, keys []key) (segments []segment) {
	for len(keys) > 0 {
		if o.b != nil && len(o.b.words)+w > cap(o.b.words) {
			o.Close()
		}
		if o.b == nil {
			o.b = newBlock()
		}
		n := min(len(keys), (cap(o.b.words)-len(o.b.words))/w)
		from := len(o.b.words)
		o.b.words = buf.write(o.b.words, w, keys[:n])
		o.b.use()
		segments = append(segments, segment{o.b, from, len(o.b.words)})
		keys = keys[n:]
	}
	return segments
}

// Close lets go of the block at hand. The next group begins another one.
func (o *Writer) Close() {
	if o.b != nil {
		o.b.release()
		o.b = nil
	}
}
