package backtrack

import (
	"cmp"
	"sync"
	"sync/atomic"

	"motifd/dyngraph"
)

// Memo is what the workers of one search remember together of what endings find: each finds what others come by, too. Nothing is
// locked but to begin or to replace the table. What two find at once, or a worker in a table that another one has just replaced, is found twice.
type Memo struct {
	Shared *Shared
	now    atomic.Pointer[memoTable]
	mu     sync.Mutex // held to replace it
}

// memoTable is a hash table of what endings found for one search. Each worker writes to chunks of its own. What is written stays as it is: its
// place, once another worker has read it from a slot, is good until the search ends. The memory goes from search to search.
type memoTable struct {
	search uint32            // number of the search, from 1 on
	slots  [memoSlots]uint64 // the search, above a place; read and written atomically
	most   int64             // words
	taken  atomic.Int64      // words that chunks have room for
	next   atomic.Uint32
	chunks [memoChunks][]uint32
}

const (
	memoSlots = 1 << 13
	// maxMemoWords bounds the words, about, and half of it for each further worker: then all is forgotten.
	maxMemoWords = 1 << 20
	// memoChunk is how many words a worker has room for at a time, at most if no more are asked for.
	memoChunk = 1 << 16

	// Before what an ending found are the image of its root, its kind with two bits, and how many words there are.
	memoHead   = 3
	memoStaged = 1 // some entries are staged, perhaps
	memoLong   = 2 // it is not there: it takes too much room
	memoFlags  = 2
)

// table returns the present table.
func (s *Memo) table() *memoTable {
	if t := s.now.Load(); t != nil {
		return t
	}
	s.replace(nil)
	return s.now.Load()
}

// replace replaces a table that is full, or begins with one that another search has left, if no other worker has.
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

// Release leaves the table's memory to the next search. No worker uses it any more.
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

// begin makes a table ready for a search, with nothing in it.
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

// slot returns the place for what an ending finds from v.
func (t *memoTable) slot(kind uint32, v dyngraph.VertexID) *uint64 {
	return &t.slots[(uint64(kind)<<32|uint64(v))*0x9e3779b97f4a7c15>>32%memoSlots]
}

// lookUp returns what an ending found from v, with its head, nil if it is to be found yet.
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

// begin begins what an ending finds from v. It is written where it will stay, if there is room enough.
func (x *suffixes) begin(kind uint32, v dyngraph.VertexID) {
	x.words = append(x.room[:0], uint32(v), kind<<memoFlags, 0)
	x.staged, x.long = false, false
}

// keep remembers what was found, and returns it, with its head.
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

// place is where words are in a table: a chunk's number, from 1 on, above the index in it.
type memoPlace uint32

const (
	memoBits   = 22
	memoChunks = 1<<(32-memoBits) - 1
)

// EachRemembered calls f for what is in the tables that are not in use: the suffix's number, whether it found anything, whether some of that
// may be staged, and whether it was too much to keep.
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
