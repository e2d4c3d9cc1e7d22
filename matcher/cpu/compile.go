package cpu

import (
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/plan"
)

// order is a matching order made ready to run, with filter classes and constraints.
type order struct {
	plan   *matcher.Plan
	anchor int // pattern edge of the anchor, or -1
	steps  []step
	// images are other matches that come with each match: by column, the column of the match that they have there. See
	// coalesce.
	images [][]int
}

type step struct {
	vertex int
	word   int // of the candidate bits
	mask   uint64
	back   []back
	// clash are the earlier steps whose vertices may coincide with this one's: their labels do not tell them apart.
	clash []int
	// plain tells that every back edge has one label and one direction and no parallel one: each admits one data
	// edge between two given vertices.
	plain bool
	less  []less // symmetry constraints against vertices mapped earlier
	// edgeLess are pairs of pattern edges whose images must ascend, checked when the step is complete.
	edgeLess [][2]int
}

type back struct {
	edge   int // pattern edge
	step   int // earlier step
	label  dyngraph.LabelID
	dir    dyngraph.Dir
	either bool
	column int // of the neighbour lists; plain steps only
	// distinct are pattern edges parallel to this one that are mapped before it.
	distinct []int
}

// less demands id(new vertex) > id(vertex of the earlier step), or < when greater is false.
type less struct {
	step    int
	greater bool
}

// compile prepares an order. With rows the plan's symmetry constraints hold, if its unit is subgraphs; counts are
// taken of embeddings and divided.
//
// columns numbers what neighbour lists are cached by, for all orders of a backend.
func compile(p *matcher.Plan, o *matcher.Order, f *plan.Filter, columns map[column]int, rows bool) *order {
	c := &order{plan: p, anchor: o.Edge, steps: make([]step, len(o.Steps))}
	at := make([]int, len(p.Query.Vertices))
	mapped := make([]bool, len(p.Query.Edges))
	if o.Edge >= 0 {
		mapped[o.Edge] = true
	}
	symmetric := rows && p.Query.Unit == matcher.Subgraphs
	for i := range o.Steps {
		from := &o.Steps[i]
		at[from.Vertex] = i
		class := f.Class(p, from.Vertex)
		s := step{vertex: from.Vertex, word: class >> 6, mask: 1 << (class & 63), plain: true}
		for _, b := range from.Back {
			nb := back{edge: b.Edge, step: b.Step, label: b.Label, dir: b.Dir, either: b.Either}
			key := column{b.Dir, b.Label, class}
			if _, ok := columns[key]; !ok {
				columns[key] = len(columns)
			}
			nb.column = columns[key]
			for e, m := range mapped {
				if m && parallel(p.Query, e, b.Edge) {
					nb.distinct = append(nb.distinct, e)
				}
			}
			mapped[b.Edge] = true
			if b.Either || b.Label == matcher.AnyLabel || nb.distinct != nil {
				s.plain = false
			}
			s.back = append(s.back, nb)
		}
		for k := range i {
			x, y := p.VertexLabels[o.Steps[k].Vertex], p.VertexLabels[from.Vertex]
			if x == y || x == matcher.AnyLabel || y == matcher.AnyLabel {
				s.clash = append(s.clash, k)
			}
		}
		if symmetric {
			for _, l := range p.VertexLess {
				switch {
				case l[1] == from.Vertex && before(o, l[0], i):
					s.less = append(s.less, less{at[l[0]], true})
				case l[0] == from.Vertex && before(o, l[1], i):
					s.less = append(s.less, less{at[l[1]], false})
				}
			}
			for _, l := range p.EdgeLess {
				e := p.Query.Edges[l[0]]
				if (e.From == from.Vertex || e.To == from.Vertex) && before(o, e.From+e.To-from.Vertex, i) {
					s.edgeLess = append(s.edgeLess, l)
				}
			}
		}
		c.steps[i] = s
	}
	return c
}

// before reports whether pattern vertex v is mapped by a step before i.
func before(o *matcher.Order, v, i int) bool {
	for k := range i {
		if o.Steps[k].Vertex == v {
			return true
		}
	}
	return false
}

func parallel(q *matcher.Query, a, b int) bool {
	x, y := q.Edges[a], q.Edges[b]
	return a != b && (x.From == y.From && x.To == y.To || x.From == y.To && x.To == y.From)
}
