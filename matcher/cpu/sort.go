package cpu

import (
	"cmp"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// compareEdges orders edges by identity: from, to, label, as dense ids (DESIGN S7).
func compareEdges(view dyngraph.View, a, b dyngraph.EdgeIndex) int {
	if a == b {
		return 0
	}
	af, at, al := view.Edge(a)
	bf, bt, bl := view.Edge(b)
	return cmp.Or(cmp.Compare(af, bf), cmp.Compare(at, bt), cmp.Compare(al, bl))
}

// rowOrder compares rows: vertex ids in pattern order, then edge identities (DESIGN S7).
type rowOrder struct {
	view            dyngraph.View
	vertices, edges int
	// simple tells that the vertices determine the edges.
	simple bool
}

func newRowOrder(view dyngraph.View, p *matcher.Plan) rowOrder {
	o := rowOrder{view: view, vertices: len(p.Query.Vertices), edges: len(p.Query.Edges), simple: true}
	for i, e := range p.Query.Edges {
		if p.EdgeLabels[i] == matcher.AnyLabel || p.Directed && e.Either {
			o.simple = false
		}
		for j := range i {
			if parallel(p.Query, i, j) {
				o.simple = false
			}
		}
	}
	return o
}

func (o *rowOrder) width() int { return o.vertices + o.edges }

func (o *rowOrder) compare(a, b []uint32) int {
	if c := slices.Compare(a[:o.vertices], b[:o.vertices]); c != 0 || o.simple {
		return c
	}
	for i := o.vertices; i < o.vertices+o.edges; i++ {
		if c := compareEdges(o.view, dyngraph.EdgeIndex(a[i]), dyngraph.EdgeIndex(b[i])); c != 0 {
			return c
		}
	}
	return 0
}

// sort sorts flat rows in place, using tmp as scratch, and returns the scratch for the next call.
func (o *rowOrder) sort(data, tmp []uint32) []uint32 {
	w := o.width()
	n := len(data) / w
	if n < 2 {
		return tmp
	}
	sorted := true
	for i := w; sorted && i < len(data); i += w {
		sorted = o.compare(data[i-w:i], data[i:i+w]) <= 0
	}
	if sorted {
		return tmp
	}
	// The first two columns decide most comparisons; they are sorted as one integer beside the row's number.
	keys := make([]rowKey, n)
	for i := range keys {
		keys[i] = rowKey{uint64(data[i*w])<<32 | uint64(data[i*w+1]), uint32(i)}
	}
	slices.SortFunc(keys, func(a, b rowKey) int {
		if a.key != b.key {
			if a.key < b.key {
				return -1
			}
			return 1
		}
		return o.compare(data[int(a.row)*w:int(a.row)*w+w], data[int(b.row)*w:int(b.row)*w+w])
	})
	tmp = append(tmp[:0], data...)
	for i, k := range keys {
		copy(data[i*w:i*w+w], tmp[int(k.row)*w:])
	}
	return tmp
}

type rowKey struct {
	key uint64
	row uint32
}
