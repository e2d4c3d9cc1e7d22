package cpu

import (
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/candidates"
)

// order is a matching order made ready to run, with filter classes and constraints.
type order struct {
	tail   int // vertices at the end of the pattern that are mapped one after the other, anchors aside
	anchor int // pattern edge of the anchor, or -1
	plan   *matcher.Plan
	steps  []step
	kinds  []stepKind // of the steps, by slot
	ending *ending    // or nil
	// members are the orders of a class, whose steps begin like these and go on; nil otherwise. columns are those of the
	// row that the shared steps fill, the same of the members in the same places.
	members []*order
	columns []int
	pathEnd bool // see endsInPath
	// images are other matches that come with each match: by column, the column of the match that they have there.
	images [][]int
}

type step struct {
	vertex int
	slot   int // of the frames: those of a class's members are kept apart
	test   candidates.Test
	or     []candidates.Test // of which one will do instead: where members of a class differ
	back   []back
	// clash are the earlier steps whose vertices may coincide with this one's: their labels do not tell them apart.
	clash []int
	// plain tells that every back edge has one label and one direction and no parallel one: each admits one data
	// edge between two given vertices.
	plain bool
	less  []less // symmetry constraints against vertices mapped earlier
	// windows are what the candidates must have room for; see window.
	windows []window
	// edgeLess are pairs of pattern edges whose images must ascend, checked when the step is complete.
	edgeLess [][2]int
}

type back struct {
	edge   int // pattern edge
	step   int // earlier step
	label  dyngraph.LabelID
	dir    dyngraph.Dir
	either bool
	column int              // of the neighbour lists; plain steps only
	nbr    dyngraph.LabelID // of the neighbours in them, or AnyLabel
	lane   lane             // of their freshness
	// distinct are pattern edges parallel to this one that are mapped before it.
	distinct []int
}

// less demands id(new vertex) > id(vertex of the earlier step), or < when greater is false.
type less struct {
	step    int
	greater bool
}

// compile prepares an order. With symmetric the plan's symmetry constraints hold: of each orbit one match is found.
//
// columns numbers what neighbour lists are cached by, for all orders of a backend.
func compile(p *matcher.Plan, o *matcher.Order, f *candidates.Filter, columns *columns, symmetric bool) *order {
	c := &order{plan: p, anchor: o.Edge, steps: make([]step, len(o.Steps))}
	at := make([]int, len(p.Query.Vertices))
	for i := range o.Steps {
		from := &o.Steps[i]
		at[from.Vertex] = i
		class := f.Class(p, from.Vertex)
		s := step{vertex: from.Vertex, slot: i, test: f.Test(p, from.Vertex), plain: true}
		for _, b := range from.Back {
			nb := back{edge: b.Edge, step: b.Step, label: b.Label, dir: b.Dir, either: b.Either,
				nbr: p.VertexLabels[from.Vertex]}
			key := column{dir: b.Dir, label: b.Label, class: class}
			nb.column, nb.lane = columns.of(key, p.VertexLabels[o.Steps[b.Step].Vertex], nb.nbr, class)
			if o.Edge >= 0 && parallel(p.Query, o.Edge, b.Edge) {
				nb.distinct = append(nb.distinct, o.Edge)
			}
			for k := range s.back { // those of other steps have other ends
				if e := s.back[k].edge; parallel(p.Query, e, b.Edge) {
					nb.distinct = append(nb.distinct, e)
				}
			}
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
		c.kinds = append(c.kinds, columns.kindOf(&c.steps[i]))
	}
	if symmetric {
		c.findWindows()
	}
	return c
}

// end finds how rows of an order come, and what it ends in.
func (o *order) end(c *columns) {
	o.tail, o.ending, o.pathEnd = o.ordered(), c.endingOf(o), o.endsInPath()
}

// endsInPath tells that the last step of an order is joined to the one before it alone, so that nothing but this one's
// image decides what lists are read for it.
func (o *order) endsInPath() bool {
	d := len(o.steps) - 1
	if d < 3 || o.images != nil || o.members != nil {
		return false
	}
	st := &o.steps[d]
	return st.plain && o.steps[d-1].plain && len(st.back) == 1 && st.back[0].step == d-1 && len(st.less) == 0
}

// ordered returns how many of a row's last vertices ascend among rows of the same search that agree in the others:
// those that come in the order of the steps.
func (o *order) ordered() int {
	if o.images != nil || o.members != nil {
		return 0 // what is found together comes by turns
	}
	at := make([]int, len(o.steps))
	for i := range o.steps {
		at[o.steps[i].vertex] = i
	}
	n, last := 0, len(o.steps)
	for v := len(at) - 1; v >= 0 && (at[v] < 2 || at[v] < last); v-- {
		if at[v] >= 2 {
			last = at[v]
		}
		n++
	}
	return n
}

// admits tells whether a data vertex with these candidate bits passes the filter.
func (s *step) admits(bits []uint64) bool {
	if s.test.Of(bits) {
		return true
	}
	for _, t := range s.or {
		if t.Of(bits) {
			return true
		}
	}
	return false
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
