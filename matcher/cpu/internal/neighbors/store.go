package neighbors

import (
	"sync/atomic"

	"motifd/dyngraph"
)

// store is append-only memory that workers share: ascending vertices, with their entries beside them. Each worker
// writes to chunks of its own (see room), so nothing is locked. What is written is never moved nor written again, so
// a Position that another worker has read from an atomic word stays good as long as the store exists. A full store is
// left to those who still read it, and another one is begun.
type store struct {
	size    int // of a chunk, in vertices, about
	most    int64
	taken   atomic.Int64 // vertices that the chunks have room for
	next    atomic.Uint32
	emptied uint // how often
	chunks  [mostChunks]chunk
}

// chunk is memory for vertices and for as many entries.
type chunk struct {
	nbr []dyngraph.VertexID
	ent []dyngraph.Entry
}

// Position is a position in a store: a chunk number, from 1 on, above the index in the chunk. Values below
// firstPosition are free for other uses.
type Position uint32

const (
	positionBits  = 22
	firstPosition = 1 << positionBits
	mostChunks    = 1<<(32-positionBits) - 1
	// longest is the greatest number of vertices at one Position.
	longest = 1 << positionBits
	// stagedMark in a stored length tells that some of the entries are staged.
	stagedMark = 1 << 31
)

// newStore returns a store for about most vertices, in chunks of about size.
func newStore(size, most int) *store { return &store{size: size, most: int64(most)} }

// chunk returns a new chunk with room for n vertices or more; nil when the store is full.
func (s *store) chunk(n int) (number uint32, c *chunk) {
	i := s.next.Add(1)
	if i > mostChunks {
		return 0, nil
	}
	size := min(s.size, 1<<10<<min(i, 16)) // small graphs need little memory
	if size < n {
		size = n
	}
	c = &s.chunks[i-1]
	if size = max(size, len(c.nbr)); s.taken.Add(int64(size)) > s.most && i > 1 {
		return 0, nil
	}
	if len(c.nbr) < size {
		c.nbr = make([]dyngraph.VertexID, size)
		c.ent = make([]dyngraph.Entry, size)
	}
	return i, c
}

// empty empties the store, which nobody reads. It keeps the memory.
func (s *store) empty() {
	s.taken.Store(0)
	s.next.Store(0)
	s.emptied++
}

// full reports whether a chunk was refused.
func (s *store) full() bool { return s.taken.Load() > s.most || s.next.Load() > mostChunks }

// at returns the chunk of a position, and the index in it.
func (s *store) at(p Position) (c *chunk, from int) {
	return &s.chunks[p>>positionBits-1], int(p & (1<<positionBits - 1))
}

// room is the unwritten part of a chunk that one worker writes to.
type room struct {
	of      *store
	emptied uint // as the store was
	number  uint32
	chunk   *chunk
	used    int
}

// reserve makes room for n vertices in a store; false if the store is full.
func (r *room) reserve(of *store, n int) bool {
	if r.of == of && r.emptied == of.emptied && r.used+n <= len(r.chunk.nbr) {
		return true
	}
	number, c := of.chunk(n)
	if c == nil {
		return false
	}
	*r = room{of: of, emptied: of.emptied, number: number, chunk: c}
	return true
}

// begin returns the reserved room as empty slices, to be appended to.
func (r *room) begin() chunk {
	return chunk{r.chunk.nbr[r.used:r.used], r.chunk.ent[r.used:r.used]}
}

// end keeps n vertices that were appended, and returns their position.
func (r *room) end(n int) Position {
	p := Position(r.number<<positionBits | uint32(r.used))
	r.used += n
	return p
}
