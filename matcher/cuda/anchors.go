//go:build cuda || emu

package cuda

import (
	"iter"
	"slices"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher"
)

// kinds groups the net edges of a batch by kind. An oriented pattern edge fits all edges of a kind or none (DESIGN A3).
// The groups are made once, for all searches of a batch on the device.
type kinds struct {
	of     []uint32 // by net edge: the number of its kind
	starts []int    // by kind, and one more: the first of its net edges in net
	net    []uint32 // net edges by kind, ascending
	all    []kind
	number map[kind]uint32
}

// kind is the labels (from, edge, to) and the sign of a net edge.
type kind struct {
	labels [3]dyngraph.LabelID
	sign   dyngraph.Sign
}

// fitting yields the kinds of one sign that fit an oriented pattern edge, by the labels of a plan.
func (k *kinds) fitting(sign dyngraph.Sign, want [3]dyngraph.LabelID) iter.Seq[int] {
	return func(yield func(int) bool) {
		if !slices.ContainsFunc(want[:], matcher.SeveralLabels) {
			if i, ok := k.number[kind{want, sign}]; ok {
				yield(int(i))
			}
			return
		}
		for i, x := range k.all {
			if l := x.labels; x.sign == sign && matcher.LabelFits(want[0], l[0]) && matcher.LabelFits(want[1], l[1]) &&
				matcher.LabelFits(want[2], l[2]) && !yield(i) {
				return
			}
		}
	}
}

// newKinds groups the net edges of a batch with a counting sort.
func newKinds(g *dyngraph.Graph, d *dyngraph.Delta) *kinds {
	n := len(d.Net)
	k := &kinds{of: make([]uint32, n), net: make([]uint32, n), number: map[kind]uint32{}}
	view := g.View(dyngraph.New)
	for i := range d.Net {
		e := &d.Net[i]
		x := kind{} // of a revised vertex: of neither sign, so that nothing fits it
		if !e.Vertex {
			x = kind{[3]dyngraph.LabelID{view.Label(e.From), e.Label, view.Label(e.To)}, e.Sign}
		}
		at, ok := k.number[x]
		if !ok {
			at = uint32(len(k.all))
			k.number[x] = at
			k.all, k.starts = append(k.all, x), append(k.starts, 0)
		}
		k.of[i] = at
		k.starts[at]++
	}
	end := 0
	for at, n := range k.starts {
		k.starts[at], end = end, end+n
	}
	k.starts = append(k.starts, end)
	next := slices.Clone(k.starts)
	for i, at := range k.of {
		k.net[next[at]] = uint32(i)
		next[at]++
	}
	return k
}

// start is a request and one of its programs, which searches from the net edges of a kind.
type start struct {
	request int
	program uint32
}

// starts returns, by kind, the programs of some requests that the net edges of the kind fit, in the order of the
// requests. Kinds of the other sign have none.
func (s *batchSearch) starts(of []int) [][]start {
	b := s.b
	if b.kinds == nil {
		b.kinds = newKinds(b.g, b.delta)
	}
	all := make([][]start, len(b.kinds.all))
	for _, i := range of {
		r := &s.reqs[i]
		p := r.Plan
		programs := b.plans[p].of(r.Want)
		for a := range p.Anchored {
			if programs[a] == kernels.None { // another program finds its matches
				continue
			}
			o := &p.Anchored[a]
			for kind := range b.kinds.fitting(s.sign,
				[3]dyngraph.LabelID{p.VertexLabels[o.Steps[0].Vertex], p.EdgeLabels[o.Edge],
					p.VertexLabels[o.Steps[1].Vertex]}) {
				all[kind] = append(all[kind], start{i, programs[a]})
			}
		}
	}
	return all
}
