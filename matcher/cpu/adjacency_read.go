package cpu

import (
	"slices"
	"sync/atomic"

	"motifd/dyngraph"
)

// adjacencies is how many were made.
var adjacencies atomic.Uint64

// newAdjacency reads the graph, with the staged batch if there is one. parallel runs its argument on several goroutines
// and waits for them: one pass over the graph finds how large each vertex's block is, a second one writes the blocks.
func newAdjacency(g *dyngraph.Graph, wide []wideKind, parallel func(work func())) *adjacency {
	a := &adjacency{
		g:      g,
		number: adjacencies.Add(1),
		kinds:  map[uint64]uint32{},
		heads:  make([]adjacencyHead, g.IDBound()),
		wide:   slices.Clone(wide),
	}
	in := dyngraph.Out
	if g.Directed() {
		in = dyngraph.In
	}
	for _, t := range g.Triples() {
		a.kind(dyngraph.Out, t.Edge, t.Dst)
		a.kind(in, t.Edge, t.Src)
	}
	a.numberWide()
	a.readAll(parallel, func(r *adjacencyReader, v dyngraph.VertexID) { r.measure(v) })
	total := 0
	for v := range a.heads {
		h := &a.heads[v]
		h.at = h.place(total)
		total = h.at + int(h.room+2*h.width)
	}
	spare := total / 4 // for blocks that move
	a.nbr, a.ent = make([]dyngraph.VertexID, total, total+spare), make([]dyngraph.Entry, total, total+spare)
	a.readAll(parallel, func(r *adjacencyReader, v dyngraph.VertexID) { r.fill(v) })
	return a
}

// readChunk is the number of vertices that a worker takes at a time.
const readChunk = 1024

func (a *adjacency) readAll(parallel func(work func()), read func(*adjacencyReader, dyngraph.VertexID)) {
	var next atomic.Int64
	work := func() {
		r := newAdjacencyReader(a)
		for {
			from := int(next.Add(readChunk)) - readChunk
			if from >= len(a.heads) {
				return
			}
			for v := from; v < min(from+readChunk, len(a.heads)); v++ {
				read(r, dyngraph.VertexID(v))
			}
		}
	}
	if len(a.heads) <= readChunk {
		work()
		return
	}
	parallel(work)
}

// adjacencyReader reads the blocks of vertices, which do not touch each other, from the graph.
type adjacencyReader struct {
	a      *adjacency
	view   dyngraph.View
	labels []dyngraph.LabelID
	near   []nearKind // as the adjacency's
	// of are the kinds of the vertex's entries, as they come; kinds are the same, each once; count is how many there are
	// of each, or where the next goes, and 0 between vertices.
	of, kinds []uint32
	count     []uint32
	scratch   []adjacencyEntry
}

func newAdjacencyReader(a *adjacency) *adjacencyReader {
	r := &adjacencyReader{a: a, view: a.g.View(dyngraph.New), near: slices.Clone(a.near), count: make([]uint32, len(a.kinds))}
	return r
}

// ranges calls f with the vertex's entries in the graph, those of a direction and edge label after the other.
func (r *adjacencyReader) ranges(v dyngraph.VertexID, f func(d dyngraph.Dir, edge dyngraph.LabelID, nbr []dyngraph.VertexID, ent []dyngraph.Entry)) {
	for d := dyngraph.Out; d <= dyngraph.In; d++ {
		r.labels = r.a.g.LabelsOf(v, d, r.labels[:0])
		for _, l := range r.labels {
			of := r.a.g.Range(v, d, l)
			for nbr, ent, ok := of.Next(); ok; nbr, ent, ok = of.Next() {
				f(d, l, nbr, ent)
			}
		}
	}
}

// kind returns the number of a kind that there is.
func (r *adjacencyReader) kind(d dyngraph.Dir, edge, nbr dyngraph.LabelID) uint32 {
	key := adjacencyKey(d, edge, nbr)
	near := &r.near[nbr]
	if near.rest != key>>32 {
		*near = nearKind{key >> 32, r.a.kinds[key]}
	}
	return near.kind
}

// read counts the vertex's entries of each kind, and returns how many there are.
func (r *adjacencyReader) read(v dyngraph.VertexID) int {
	r.of, r.kinds = r.of[:0], r.kinds[:0]
	r.ranges(v, func(d dyngraph.Dir, edge dyngraph.LabelID, nbr []dyngraph.VertexID, _ []dyngraph.Entry) {
		for _, w := range nbr {
			k := r.kind(d, edge, r.view.Label(w))
			if r.count[k] == 0 {
				r.kinds = append(r.kinds, k)
			}
			r.count[k]++
			r.of = append(r.of, k)
		}
	})
	return len(r.of) + r.readWide(v)
}

// measure finds how large the vertex's block is.
func (r *adjacencyReader) measure(v dyngraph.VertexID) {
	n := r.read(v)
	for _, k := range r.kinds {
		r.count[k] = 0
	}
	h := &r.a.heads[v]
	h.resize(uint32(n), uint32(len(r.kinds)))
}

// fill writes the block.
func (r *adjacencyReader) fill(v dyngraph.VertexID) {
	h := &r.a.heads[v]
	if h.n == 0 {
		return
	}
	r.read(v)
	slices.Sort(r.kinds)
	base := h.at + 2*int(h.width)
	pairs, end := r.a.nbr[h.at:base], uint32(0)
	for i, k := range r.kinds {
		n := r.count[k]
		r.count[k] = end
		end += n
		pairs[2*i], pairs[2*i+1] = dyngraph.VertexID(k), dyngraph.VertexID(end)
	}
	nbrs, ents := r.a.nbr[base:base+int(h.n)], r.a.ent[base:base+int(h.n)]
	of := r.of
	r.ranges(v, func(_ dyngraph.Dir, _ dyngraph.LabelID, nbr []dyngraph.VertexID, ent []dyngraph.Entry) {
		for i, w := range nbr {
			at := r.count[of[i]]
			r.count[of[i]]++
			nbrs[at], ents[at] = w, ent[i]
			if ent[i].Staged() {
				pair, _ := slices.BinarySearch(r.kinds, of[i])
				pairs[2*pair+1] |= stagedEnd
			}
		}
		of = of[len(nbr):]
	})
	r.fillWide(v, pairs, nbrs, ents)
	for _, k := range r.kinds {
		r.count[k] = 0
	}
}
