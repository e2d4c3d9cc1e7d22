package labeladj

import (
	"slices"
	"sync/atomic"

	"motifd/dyngraph"
)

// made counts the indexes that the process has made.
var made atomic.Uint64

// New indexes the graph and the given wildcards. staged tells that a batch is staged; the index then has it. parallel
// runs its argument on several goroutines and waits for them: one pass over the graph measures the blocks, a second one
// writes them.
func New(g *dyngraph.Graph, wide []Wildcard, staged bool, parallel func(work func())) *Index {
	a := &Index{
		g:         g,
		Number:    made.Add(1),
		kinds:     map[uint64]uint32{},
		blocks:    make([]block, g.IDBound()),
		wildcards: slices.Clone(wide),
		staged:    staged,
	}
	in := dyngraph.Out
	if g.Directed() {
		in = dyngraph.In
	}
	for _, t := range g.Triples() {
		a.kind(dyngraph.Out, t.Edge, t.Dst)
		a.kind(in, t.Edge, t.Src)
	}
	covering := a.numberWildcards()
	a.readAll(covering, parallel, func(r *reader, v dyngraph.VertexID) { r.measure(v) })
	total := 0
	for v := range a.blocks {
		h := &a.blocks[v]
		h.start = h.align(total)
		total = h.start + int(h.capacity+2*h.kindCapacity)
	}
	spare := total / 4 // blocks that outgrow their capacity move to the end
	a.Nbr, a.Ent = make([]dyngraph.VertexID, total, total+spare), make([]dyngraph.Entry, total, total+spare)
	a.readAll(covering, parallel, func(r *reader, v dyngraph.VertexID) { r.fill(v) })
	return a
}

// readChunk is the number of vertices that a goroutine takes at a time.
const readChunk = 1024

func (a *Index) readAll(
	covering [][]uint32,
	parallel func(work func()),
	read func(*reader, dyngraph.VertexID),
) {
	var next atomic.Int64
	work := func() {
		r := newReader(a, covering)
		for {
			from := int(next.Add(readChunk)) - readChunk
			if from >= len(a.blocks) {
				return
			}
			for v := from; v < min(from+readChunk, len(a.blocks)); v++ {
				read(r, dyngraph.VertexID(v))
			}
		}
	}
	if len(a.blocks) <= readChunk {
		work()
		return
	}
	parallel(work)
}

// reader reads the entries of vertices from the graph. Each goroutine has its own.
type reader struct {
	a      *Index
	view   dyngraph.View
	labels []dyngraph.LabelID
	runs   []run        // of the vertex
	recent []recentKind // by label of the neighbour: the kind looked up last
	// of has the kind of each entry of the vertex; kinds has each of these once. count is, by kind, the number of
	// entries, then the index of the next one to write. It is 0 between vertices.
	of, kinds []uint32
	count     []uint32
	covering  [][]uint32 // by exact kind: the wildcards that cover it
	order     []uint64   // for sorting
	moved     []dyngraph.Entry
}

// recentKind caches the number of a kind.
type recentKind struct {
	key  uint64
	kind uint32
}

func newReader(a *Index, covering [][]uint32) *reader {
	recent := make([]recentKind, a.g.Labels())
	recent[0].kind = a.kinds[0] // of key 0
	return &reader{
		a:        a,
		view:     a.g.View(dyngraph.New),
		recent:   recent,
		covering: covering,
		count:    make([]uint32, len(a.kinds)),
	}
}

// run is a piece of a vertex's entries that have one direction and edge label, by neighbour.
type run struct {
	dir  dyngraph.Dir
	edge dyngraph.LabelID
	nbr  []dyngraph.VertexID
	ent  []dyngraph.Entry
}

// load makes runs the entries of a vertex, by direction and edge label.
func (r *reader) load(v dyngraph.VertexID) {
	r.runs = r.runs[:0]
	for d := dyngraph.Out; d <= dyngraph.In; d++ {
		r.labels = r.a.g.LabelsOf(v, d, r.labels[:0])
		for _, l := range r.labels {
			of := r.a.g.Range(v, d, l)
			for nbr, ent, ok := of.Next(); ok; nbr, ent, ok = of.Next() {
				r.runs = append(r.runs, run{d, l, nbr, ent})
			}
		}
	}
}

// read counts the entries of a vertex by kind and returns their number.
func (r *reader) read(v dyngraph.VertexID) int {
	r.of, r.kinds = r.of[:0], r.kinds[:0]
	r.load(v)
	for i := range r.runs {
		x := &r.runs[i]
		for _, w := range x.nbr {
			key := Key(x.dir, x.edge, r.view.Label(w))
			cached := &r.recent[uint32(key)]
			if cached.key != key {
				*cached = recentKind{key, r.a.kinds[key]}
			}
			k := cached.kind
			if r.count[k] == 0 {
				r.kinds = append(r.kinds, k)
			}
			r.count[k]++
			r.of = append(r.of, k)
		}
	}
	return len(r.of) + r.countWildcards()
}

// measure sets the size of a vertex's block.
func (r *reader) measure(v dyngraph.VertexID) {
	n := r.read(v)
	for _, k := range r.kinds {
		r.count[k] = 0
	}
	h := &r.a.blocks[v]
	h.resize(uint32(n), uint32(len(r.kinds)))
}

// fill writes the block of a vertex.
func (r *reader) fill(v dyngraph.VertexID) {
	h := &r.a.blocks[v]
	if h.n == 0 {
		return
	}
	r.read(v)
	slices.Sort(r.kinds)
	base := h.start + 2*int(h.kindCapacity)
	pairs, end := r.a.Nbr[h.start:base], uint32(0)
	for i, k := range r.kinds {
		n := r.count[k]
		r.count[k] = end
		end += n
		pairs[2*i], pairs[2*i+1] = dyngraph.VertexID(k), dyngraph.VertexID(end)
	}
	nbrs, ents := r.a.Nbr[base:base+int(h.n)], r.a.Ent[base:base+int(h.n)]
	put := func(k uint32, nbr dyngraph.VertexID, ent dyngraph.Entry) {
		at := r.count[k]
		r.count[k]++
		nbrs[at], ents[at] = nbr, ent
		if ent.Staged() {
			pair, _ := slices.BinarySearch(r.kinds, k)
			pairs[2*pair+1] |= stagedEnd
		}
	}
	of := r.of
	for x := range r.runs {
		ent := r.runs[x].ent
		for i, w := range r.runs[x].nbr {
			put(of[i], w, ent[i])
			for _, wildcard := range r.covering[of[i]] {
				put(wildcard, w, ent[i])
			}
		}
		of = of[len(ent):]
	}
	from := 0
	for i, k := range r.kinds {
		r.count[k] = 0
		end := endOf(pairs[2*i+1])
		if int(k) >= len(r.covering) {
			r.sortWildcard(nbrs[from:end], ents[from:end])
		}
		from = end
	}
}
