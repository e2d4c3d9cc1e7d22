package backtrack

import (
	"cmp"
	"sync"
	"sync/atomic"

	"motifd/dyngraph"
)

// Memo holds the pairs that suffixes find, for one search of any number of workers: each finds what the others visit,
// too. Only beginning or replacing the table takes a lock. An entry that two workers make at once, or one makes in a
// table that is just being replaced, is made twice.
type Memo struct {
	Shared *Shared
	now    atomic.Pointer[memoTable]
	mu     sync.Mutex // held to replace it
}

// memoTable is a direct-mapped hash table of entries of one search. Each worker writes to chunks of its own. What is
// written is never moved nor written again, so a place that another worker has read from a slot is good until the
// search ends. The memory is kept for the next search.
type memoTable struct {
	search uint32            // number of the search, from 1 on
	slots  [memoSlots]uint64 // search above place; read and written atomically
	most   int64             // words
	taken  atomic.Int64      // words that the chunks have room for
	next   atomic.Uint32
	chunks [memoChunks][]uint32
}

const (
	memoSlots = 1 << 13
	// maxMemoWords is about the number of words, and half as many for each further worker, beyond which the table
	// starts over.
	maxMemoWords = 1 << 20
	// memoChunk is the size of a chunk, in words, unless an entry is longer.
	memoChunk = 1 << 16

	// The head of an entry is the image of the root, the suffix number above two flags, and the number of words.
	memoHead   = 3
	memoStaged = 1 // some entries may be staged
	memoLong   = 2 // the words are not kept: there are too many
	memoFlags  = 2
)

// table returns the table in use.
func (s *Memo) table() *memoTable {
	if t := s.now.Load(); t != nil {
		return t
	}
	s.replace(nil)
	return s.now.Load()
}

// replace replaces a full table, or takes the first one, unless another worker has.
func (s *Memo) replace(full *memoTable) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now.Load() != full {
		return
	}
	var t *memoTable
	if full == nil {
		t = s.Shared.memoTable()
	} else {
		t = new(memoTable)
	}
	t.begin(cmp.Or(s.Shared.Options.Memo.Words, maxMemoWords/2*(1+s.Shared.Work.Threads)))
	s.now.Store(t)
}

// Release leaves the table to the next search. No worker uses it any more.
func (s *Memo) Release() {
	if t := s.now.Swap(nil); t != nil {
		s.Shared.mu.Lock()
		defer s.Shared.mu.Unlock()
		s.Shared.memos = append(s.Shared.memos, t)
	}
}

// memoTable returns a table that is not in use.
func (h *Shared) memoTable() *memoTable {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := len(h.memos)
	if n == 0 {
		return new(memoTable)
	}
	t := h.memos[n-1]
	h.memos = h.memos[:n-1]
	return t
}

// begin empties a table for another search.
func (t *memoTable) begin(most int) {
	t.most = int64(most)
	t.taken.Store(0)
	t.next.Store(0)
	if t.search++; t.search == 0 {
		clear(t.slots[:])
		t.search = 1
	}
}

// chunk returns a chunk with room for n words or more, and its place; nil when the table is full.
func (t *memoTable) chunk(n int) ([]uint32, memoPlace) {
	i := t.next.Add(1)
	if i > memoChunks {
		return nil, 0
	}
	size := max(n, min(memoChunk, 256<<min(i, 16), int(t.most))) // most searches need little
	if t.taken.Add(int64(size)) > t.most && i > 1 {
		return nil, 0
	}
	c := &t.chunks[i-1]
	if len(*c) < n {
		*c = make([]uint32, size)
	}
	return *c, memoPlace(i << memoBits)
}

// slot returns the slot of an entry.
func (t *memoTable) slot(kind uint32, v dyngraph.VertexID) *uint64 {
	return &t.slots[(uint64(kind)<<32|uint64(v))*0x9e3779b97f4a7c15>>32%memoSlots]
}

// lookUp returns an entry with its head, nil if there is none.
func (x *suffixes) lookUp(kind uint32, v dyngraph.VertexID) []uint32 {
	t := x.table
	if t == nil {
		t = x.shared.table()
		x.table = t
	}
	at := atomic.LoadUint64(t.slot(kind, v))
	if uint32(at>>32) != t.search {
		return nil
	}
	p := memoPlace(at)
	words := t.chunks[p>>memoBits-1][p&(1<<memoBits-1):]
	if words[0] != uint32(v) || words[1]>>memoFlags != kind {
		return nil // of another one that has the same slot
	}
	return words[: memoHead+words[2] : memoHead+words[2]]
}

// begin begins an entry, in its final place if the room suffices.
func (x *suffixes) begin(kind uint32, v dyngraph.VertexID) {
	x.words = append(x.room[:0], uint32(v), kind<<memoFlags, 0)
	x.staged, x.long = false, false
}

// keep completes the entry that was begun, and returns it with its head.
func (x *suffixes) keep() []uint32 {
	if x.long {
		x.words = x.words[:memoHead]
		x.words[1] |= memoLong
	}
	if x.staged {
		x.words[1] |= memoStaged
	}
	n := len(x.words)
	x.words[2] = uint32(n - memoHead)
	for len(x.room) < n {
		if x.room, x.at = x.table.chunk(n); x.room == nil {
			x.shared.replace(x.table)
			x.table = x.shared.table()
		}
	}
	words := x.room[:n:n]
	if &words[0] != &x.words[0] {
		copy(words, x.words)
	}
	slot := x.table.slot(words[1]>>memoFlags, dyngraph.VertexID(words[0]))
	atomic.StoreUint64(slot, uint64(x.table.search)<<32|uint64(x.at))
	x.room, x.at = x.room[n:], x.at+memoPlace(n)
	return words
}

// memoPlace is a position in a table: a chunk number, from 1 on, above the index in the chunk.
type memoPlace uint32

const (
	memoBits   = 22
	memoChunks = 1<<(32-memoBits) - 1
)

// EachRemembered calls f for each entry of the tables that are not in use: the suffix number, whether it has words,
// whether some entries may be staged, and whether it was too long to keep. It is for tests.
func (h *Shared) EachRemembered(f func(number uint32, some, staged, long bool)) {
	for _, table := range h.memos {
		for _, at := range table.slots {
			if uint32(at>>32) == table.search {
				p := memoPlace(at)
				head := table.chunks[p>>memoBits-1][p&(1<<memoBits-1):][:memoHead]
				f(head[1]>>memoFlags, head[2] > 0, head[1]&memoStaged != 0, head[1]&memoLong != 0)
			}
		}
	}
}
