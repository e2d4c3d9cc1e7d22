package cpu

import (
	"slices"
	"sync"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/candidates"
)

// canon is a matching order that maps the pattern's vertices as canonical order compares them (DESIGN S7): what an
// anchor fixes, then all others in pattern order. With candidates ascending, a search along it finds the rows of one
// anchor and one orientation in canonical order, so that it can stop when it has enough of them.
type canon struct {
	*order
	fixed int // steps that are mapped before the search begins: the anchor's ends, or the root
	steps []canonStep
	// parallel lists, by pattern edge, those between the same two vertices, ascending, with it; nil where it is alone.
	parallel [][]int
}

// canonStep is what a step of a canonical order has beside that of any other.
type canonStep struct {
	*step
	// joined are the back edges by the earlier step that they lead to.
	joined []pairing
	// route leads to the step's vertex from that of an earlier step, base, over vertices that are mapped later. It is
	// there when no edge of the pattern joins the vertex to an earlier one, and finds its candidates.
	route []hop
	base  int
	// within tells that the vertex lies on the route of an earlier step, and must be among those that were found there.
	within bool
	// needs is the set of earlier steps whose images determine the candidates; list has them in order.
	needs uint32
	list  []int
	// alike counts the steps that have the same candidates as this one, with it: as many candidates are needed. larger
	// are those of them that come later and must be mapped to larger vertices.
	alike  int
	larger []int
}

// pairing is the back edges of a step that lead to one earlier step.
type pairing struct {
	step  int
	backs []int
}

// hop is an edge of the pattern that a route takes, seen from where it comes from.
type hop struct {
	back
	vertex int
	test   candidates.Test
}

// newCanon makes the canonical order of a plan that begins with the steps of o, which are fixed.
func newCanon(p *matcher.Plan, f *candidates.Filter, o *matcher.Order, fixed int) *canon {
	vertices := make([]int, 0, len(o.Steps))
	for i := range o.Steps[:fixed] {
		vertices = append(vertices, o.Steps[i].Vertex)
	}
	for v := range p.Query.Vertices {
		if !slices.Contains(vertices[:fixed], v) {
			vertices = append(vertices, v)
		}
	}
	at := make([]int, len(vertices))
	for i, v := range vertices {
		at[v] = i
	}
	in := matcher.Order{Edge: o.Edge, Reversed: o.Reversed}
	for i, v := range vertices {
		s := matcher.Step{Vertex: v}
		for e, qe := range p.Query.Edges {
			if e != o.Edge && (qe.From == v || qe.To == v) && at[qe.From+qe.To-v] < i {
				s.Back = append(s.Back, backEdge(p, e, v, at[qe.From+qe.To-v]))
			}
		}
		in.Steps = append(in.Steps, s)
	}
	c := &canon{order: compile(p, &in, f, new(columns), p.Query.Unit == matcher.Subgraphs), fixed: fixed,
		parallel: make([][]int, len(p.Query.Edges))}
	for e := range p.Query.Edges {
		for other := range p.Query.Edges {
			if other == e || parallel(p.Query, e, other) {
				c.parallel[e] = append(c.parallel[e], other)
			}
		}
		if len(c.parallel[e]) == 1 {
			c.parallel[e] = nil
		}
	}
	for i := range c.order.steps {
		c.steps = append(c.steps, canonStep{step: &c.order.steps[i]})
		c.join(i)
	}
	for i := fixed; i < len(c.steps); i++ {
		if len(c.steps[i].back) == 0 {
			c.find(p, f, at, i)
		}
	}
	for i := range c.steps {
		st := &c.steps[i]
		for k := range i {
			if st.needs>>k&1 != 0 {
				st.list = append(st.list, k)
			}
		}
		c.compare(i)
	}
	return c
}

// backEdge returns pattern edge e as the vertex that is mapped by an earlier step sees it; the other end is v.
func backEdge(p *matcher.Plan, e, v, step int) matcher.BackEdge {
	b := matcher.BackEdge{Edge: e, Step: step, Label: p.EdgeLabels[e]}
	if p.Directed {
		b.Either = p.Query.Edges[e].Either
		if p.Query.Edges[e].From == v {
			b.Dir = dyngraph.In
		}
	}
	return b
}

// join groups the back edges of a step.
func (c *canon) join(i int) {
	st := &c.steps[i]
	for k := range st.back {
		b := &st.back[k]
		st.needs |= 1 << b.step
		at := slices.IndexFunc(st.joined, func(j pairing) bool { return j.step == b.step })
		if at < 0 {
			at, st.joined = len(st.joined), append(st.joined, pairing{step: b.step})
		}
		st.joined[at].backs = append(st.joined[at].backs, k)
	}
}

// find finds a route to the vertex of a step that nothing joins to earlier ones: a shortest one from any of them.
func (c *canon) find(p *matcher.Plan, f *candidates.Filter, at []int, i int) {
	from := make([]int, len(c.steps)) // by step: the edge that it was come to by
	for k := range from {
		from[k] = -1
	}
	var reached []int
	for k := range i {
		reached = append(reached, k)
	}
	other := func(e, k int) int {
		qe := p.Query.Edges[e]
		return at[qe.From+qe.To-c.steps[k].vertex]
	}
	for next := 0; from[i] < 0; next++ {
		k := reached[next]
		for e, qe := range p.Query.Edges {
			if qe.From != c.steps[k].vertex && qe.To != c.steps[k].vertex {
				continue
			}
			if to := other(e, k); to >= i && from[to] < 0 {
				from[to] = e
				reached = append(reached, to)
			}
		}
	}
	st := &c.steps[i]
	for k := i; k >= i; {
		v, e := c.steps[k].vertex, from[k]
		k = other(e, k)
		b := backEdge(p, e, v, k)
		along := back{edge: e, label: b.Label, dir: b.Dir, either: b.Either}
		st.route = append(st.route, hop{back: along, vertex: v, test: f.Test(p, v)})
		st.base = k
	}
	slices.Reverse(st.route)
	st.needs |= 1 << st.base
	for _, h := range st.route[:len(st.route)-1] {
		on := &c.steps[at[h.vertex]]
		on.within = true
		on.needs |= 1 << st.base
	}
}

// compare finds the steps that have the same candidates as step i.
func (c *canon) compare(i int) {
	st := &c.steps[i]
	for k := c.fixed; k < len(c.steps); k++ {
		o := &c.steps[k]
		if k != i && !askAlike(st, o) {
			continue
		}
		if st.alike++; k > i && slices.ContainsFunc(o.less, func(l less) bool { return l.step == i && l.greater }) {
			st.larger = append(st.larger, k)
		}
	}
}

// askAlike reports whether two steps have the same candidates, of which each takes another one.
func askAlike(a, b *canonStep) bool {
	return !a.within && !b.within && len(a.back) > 0 && len(a.back) == len(a.joined) && a.test == b.test &&
		slices.EqualFunc(a.back, b.back, func(x, y back) bool {
			return x.step == y.step && x.label == y.label && x.dir == y.dir && x.either == y.either
		})
}

// canons are the canonical orders of a plan that were asked for: the static one, then by anchored order.
type canons struct {
	mu  sync.Mutex
	all []*canon
}

// canonical returns the canonical order that begins with anchored order i, or with -1 the one that begins with the
// pattern's first vertex.
func (c *compiled) canonical(f *candidates.Filter, i int) *canon {
	c.canons.mu.Lock()
	defer c.canons.mu.Unlock()
	if c.canons.all == nil {
		c.canons.all = make([]*canon, len(c.plan.Anchored)+1)
	}
	at := &c.canons.all[i+1]
	switch {
	case *at != nil:
	case i < 0:
		*at = newCanon(c.plan, f, &matcher.Order{Edge: -1, Steps: []matcher.Step{{}}}, 1)
	default:
		*at = newCanon(c.plan, f, &c.plan.Anchored[i], 2)
	}
	return *at
}
