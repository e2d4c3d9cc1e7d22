package space

import (
	"math/bits"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/internal/candidates"
	"motifd/matcher/internal/truths"
)

// kind is a kind of data edges, as one end sees them: what several pattern edges ask for alike.
type kind struct {
	dirs   []dyngraph.Dir
	labels []dyngraph.LabelID // nil for any
	test   *truths.Test       // nil for none
	ends   []end
	wants  uint64     // the pattern vertices that have such an edge
	others [32]uint64 // by pattern vertex: the other ends of its edges of the kind
}

// end is a pattern edge that asks for a kind, as one of its vertices sees it.
type end struct{ edge, of, other int }

// kindsOf lists the kinds of edges that a pattern asks for.
func kindsOf(p *matcher.Plan, f candidates.Source) (kinds []kind) {
	for i, e := range p.Query.Edges {
		var labels []dyngraph.LabelID
		if l := p.EdgeLabels[i]; l != matcher.AnyLabel {
			labels = matcher.EachLabel(l)
		}
		test := f.EdgeTest(p, i)
		for _, v := range [2]int{e.From, e.To} {
			dirs := []dyngraph.Dir{dyngraph.Out}
			switch {
			case p.Directed && e.Either:
				dirs = append(dirs, dyngraph.In)
			case p.Directed && e.To == v:
				dirs[0] = dyngraph.In
			}
			at := slices.IndexFunc(kinds, func(k kind) bool {
				return slices.Equal(k.dirs, dirs) && slices.Equal(k.labels, labels) && k.test == test &&
					(k.labels == nil) == (labels == nil)
			})
			if at < 0 {
				at = len(kinds)
				kinds = append(kinds, kind{dirs: dirs, labels: labels, test: test})
			}
			k, other := &kinds[at], e.From+e.To-v
			k.ends, k.wants = append(k.ends, end{i, v, other}), k.wants|1<<v
			k.others[v] |= 1 << other
		}
	}
	return kinds
}

// runs returns how many ranges of the graph hold the edges of one direction that have one of the kind's labels.
func (k *kind) runs() int { return max(1, len(k.labels)) }

// run returns one of the runs of a vertex in a direction.
func (k *kind) run(g *dyngraph.Graph, v dyngraph.VertexID, d dyngraph.Dir, i int) dyngraph.Range {
	if k.labels == nil {
		return g.RangeAll(v, d)
	}
	return g.Range(v, d, k.labels[i])
}

// joined returns the pattern vertices that edges of the kind join to some of a set.
func (k *kind) joined(set uint64) (of uint64) {
	for m := set & k.wants; m != 0; m &= m - 1 {
		of |= k.others[bits.TrailingZeros64(m)]
	}
	return of
}

// keep returns the bits of a set that neighbours along edges of the kind support which have the bits seen.
func (k *kind) keep(set, seen uint64) uint64 {
	for m := set & k.wants; m != 0; m &= m - 1 {
		if u := bits.TrailingZeros64(m); k.others[u]&^seen != 0 {
			set &^= 1 << u
		}
	}
	return set
}
