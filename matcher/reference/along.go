package reference

import (
	"math"
	"math/big"
	"slices"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher/condition"
)

// along tells what is demanded of paths as wholes (DESIGN S26): by conditions, rises, spans and the window of a query,
// each of whose edges is mapped to one data edge or to several in a row.
type along struct {
	where *where
	edges [][]uint32 // by pattern edge
}

// holds reports whether all is met. A row is as kind.named says. A condition that reads a path holds for each of its
// edges.
func (w *along) holds(r row) bool {
	q := w.where.q
	for i, n := range w.where.conditions {
		path := -1
		for _, e := range q.Conditions[i].Elements {
			if e.Edge && q.Edges[e.Index].Hops != nil {
				path = e.Index
			}
		}
		if path < 0 {
			if w.where.truth(n, r) != condition.True {
				return false
			}
			continue
		}
		one := slices.Clone(r)
		for _, d := range w.edges[path] {
			one[len(q.Vertices)+path] = d
			if w.where.truth(n, one) != condition.True {
				return false
			}
		}
	}
	for _, s := range q.Spans {
		if !w.within(s.Edges, s.Most) {
			return false
		}
	}
	for _, rise := range q.Rises {
		if !w.rises(rise.Edges) {
			return false
		}
	}
	all := make([]int, len(q.Edges))
	for at := range all {
		all[at] = at
	}
	return q.Within == 0 || w.within(all, q.Within)
}

// times returns the ts of what pattern edges are mapped to.
func (w *along) times(edges []int) (all []property.Value) {
	for _, at := range edges {
		for _, d := range w.edges[at] {
			all = append(all, w.where.view.Value(dyngraph.EdgeIndex(d), property.TS))
		}
	}
	return all
}

func (w *along) within(edges []int, span int64) bool {
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for _, t := range w.times(edges) {
		if t.IsNull() {
			return false
		}
		least, most = min(least, t.Whole()), max(most, t.Whole())
	}
	return new(big.Int).Sub(big.NewInt(most), big.NewInt(least)).Cmp(big.NewInt(span)) <= 0
}

func (w *along) rises(edges []int) bool {
	times := w.times(edges)
	for i := 1; i < len(times); i++ {
		if times[i-1].IsNull() || times[i].IsNull() || times[i-1].Whole() >= times[i].Whole() {
			return false
		}
	}
	return true
}
