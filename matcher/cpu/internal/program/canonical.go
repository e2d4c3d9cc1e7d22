package program

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/internal/candidates"
)

// CanonicalOrder is a matching order whose steps follow the canonical order of rows (DESIGN S7): the vertices that the
// anchor fixes, then all others in pattern order. With ascending candidates, a search along it finds the rows of one
// anchor and one orientation in canonical order, so it can stop as soon as it has enough of them.
type CanonicalOrder struct {
	*Order
	fixed int // steps mapped before the search begins: the anchor's ends, or the root
	Steps []CanonicalStep
	// Parallel lists, by pattern edge, the edges between the same two vertices that it must differ from, itself
	// included, ascending; nil if there is no other. Earlier lists the others before it that it must differ from.
	Parallel, Earlier [][]int
	// Closes lists, by pattern edge, the conditions that can be tested once the edge is mapped, when edges are mapped
	// in pattern order behind the anchor's and all vertices. Settled lists, by step, those that read nothing but
	// vertices and the anchor's edge, and can be tested once the step is mapped.
	Closes, Settled [][]*matcher.Condition
}

// CanonicalStep extends a Step of a canonical order.
type CanonicalStep struct {
	*Step
	// Groups are the back edges, grouped by earlier step.
	Groups []BackGroup
	// Path leads to the step's vertex from that of step PathFrom over vertices that are mapped later, and finds the
	// candidates. Only a step without back edges has one.
	Path     []PathStep
	PathFrom int
	// OnPath tells that the vertex lies on the path of an earlier step: its image must be one that the path passes.
	OnPath bool
	// DependsOn is the set of earlier steps whose images determine the candidates; Dependencies lists it.
	DependsOn    uint32
	Dependencies []int
	// Alike counts the steps that have the same candidates as this one, itself included: fewer candidates are a dead
	// end. Larger are the later ones of them, which must have larger images.
	Alike  int
	Larger []int
}

// BackGroup holds the back edges of a step, by index, that lead to one earlier step.
type BackGroup struct {
	step  int
	Backs []int
}

// PathStep is one edge of a path, seen from the side it starts at.
type PathStep struct {
	BackEdge
	Vertex int
	Test   candidates.Test
}

// CompileCanonical compiles the canonical order of a plan that begins with the first steps of o.
func CompileCanonical(p *matcher.Plan, f candidates.Source, o *matcher.Order, fixed int) *CanonicalOrder {
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
	in := OrderOf(p, vertices)
	in.Edge, in.Reversed = o.Edge, o.Reversed
	for i := range in.Steps {
		isAnchor := func(b matcher.BackEdge) bool { return b.Edge == o.Edge }
		in.Steps[i].Back = slices.DeleteFunc(in.Steps[i].Back, isAnchor)
	}
	order := compile(p, &matcher.Member{Order: in}, f, new(ListKeys), p.Query.Unit == matcher.Subgraphs, true)
	c := &CanonicalOrder{Order: order, fixed: fixed, Parallel: make([][]int, len(p.Query.Edges))}
	c.Earlier = make([][]int, len(p.Query.Edges))
	for e, x := range p.Query.Edges {
		for _, other := range p.EdgesMustDiffer[e] {
			switch {
			case x.SameEnds(&p.Query.Edges[other]):
				c.Parallel[e] = append(c.Parallel[e], other)
			case other < e:
				c.Earlier[e] = append(c.Earlier[e], other)
			}
		}
		if c.Parallel[e] != nil {
			c.Parallel[e] = append(c.Parallel[e], e)
			slices.Sort(c.Parallel[e])
		}
	}
	c.closeConditions(p)
	for i := range c.Order.Steps {
		c.Steps = append(c.Steps, CanonicalStep{Step: &c.Order.Steps[i]})
		c.groupBackEdges(i)
	}
	for i := fixed; i < len(c.Steps); i++ {
		if len(c.Steps[i].Back) == 0 {
			c.findPath(p, f, at, i)
		}
	}
	for i := range c.Steps {
		st := &c.Steps[i]
		for k := range i {
			if st.DependsOn>>k&1 != 0 {
				st.Dependencies = append(st.Dependencies, k)
			}
		}
		c.findAlike(i)
	}
	return c
}

// closeConditions fills in Closes and Settled.
func (c *CanonicalOrder) closeConditions(p *matcher.Plan) {
	c.Settled = make([][]*matcher.Condition, len(c.Order.Steps))
	if p.Own == nil {
		return
	}
	c.Closes = make([][]*matcher.Condition, len(p.Query.Edges))
	at := make([]int, len(p.Query.Vertices))
	for i := range c.Order.Steps {
		at[c.Order.Steps[i].Vertex] = i
	}
	for i := range p.Conditions {
		if p.Conditions[i].Own() {
			continue
		}
		edge, step := -1, 1
		for _, r := range p.Conditions[i].Elements {
			switch {
			case !r.Edge:
				step = max(step, at[r.Index])
			case r.Index != c.Anchor:
				edge = max(edge, r.Index)
			}
		}
		of := &c.Settled[step]
		if edge >= 0 {
			of = &c.Closes[edge]
		}
		*of = append(*of, &p.Conditions[i])
	}
}

// OrderOf returns the static order that maps the pattern's vertices one after the other as they are listed.
func OrderOf(p *matcher.Plan, vertices []int) matcher.Order {
	at := make([]int, len(vertices))
	for i, v := range vertices {
		at[v] = i
	}
	o := matcher.Order{Edge: -1, Steps: make([]matcher.Step, len(vertices))}
	backs := make([]int, len(vertices))
	for _, e := range p.Query.Edges {
		if e.From != e.To {
			backs[max(at[e.From], at[e.To])]++
		}
	}
	room := make([]matcher.BackEdge, len(p.Query.Edges))
	for i, v := range vertices {
		o.Steps[i].Vertex = v
		if n := backs[i]; n > 0 {
			o.Steps[i].Back, room = room[:0:n], room[n:]
		}
	}
	for e, qe := range p.Query.Edges {
		if from, to := at[qe.From], at[qe.To]; from != to {
			s := &o.Steps[max(from, to)]
			s.Back = append(s.Back, backEdge(p, e, s.Vertex, min(from, to)))
		}
	}
	return o
}

// backEdge returns pattern edge e as the vertex of an earlier step sees it; its other end is v.
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

// groupBackEdges fills in Groups of step i.
func (c *CanonicalOrder) groupBackEdges(i int) {
	st := &c.Steps[i]
	for k := range st.Back {
		b := &st.Back[k]
		st.DependsOn |= 1 << b.Step
		at := slices.IndexFunc(st.Groups, func(j BackGroup) bool { return j.step == b.Step })
		if at < 0 {
			at, st.Groups = len(st.Groups), append(st.Groups, BackGroup{step: b.Step})
		}
		st.Groups[at].Backs = append(st.Groups[at].Backs, k)
	}
}

// findPath fills in the path of step i, which has no back edges: a shortest one from any earlier step.
func (c *CanonicalOrder) findPath(p *matcher.Plan, f candidates.Source, at []int, i int) {
	from := make([]int, len(c.Steps)) // by step: the edge by which it was reached
	for k := range from {
		from[k] = -1
	}
	var reached []int
	for k := range i {
		reached = append(reached, k)
	}
	other := func(e, k int) int {
		qe := p.Query.Edges[e]
		return at[qe.From+qe.To-c.Steps[k].Vertex]
	}
	for next := 0; from[i] < 0; next++ {
		k := reached[next]
		for e, qe := range p.Query.Edges {
			if qe.From != c.Steps[k].Vertex && qe.To != c.Steps[k].Vertex {
				continue
			}
			if to := other(e, k); to >= i && from[to] < 0 {
				from[to] = e
				reached = append(reached, to)
			}
		}
	}
	st := &c.Steps[i]
	for k := i; k >= i; {
		v, e := c.Steps[k].Vertex, from[k]
		k = other(e, k)
		b := backEdge(p, e, v, k)
		along := BackEdge{Edge: e, Label: b.Label, Labels: labelsOf(p, e), Dir: b.Dir, Either: b.Either,
			Test: f.EdgeTest(p, e), Shares: shares(p, c.Anchor, e)}
		st.Path = append(st.Path, PathStep{BackEdge: along, Vertex: v, Test: f.Test(p, v)})
		st.PathFrom = k
	}
	slices.Reverse(st.Path)
	st.DependsOn |= 1 << st.PathFrom
	for _, h := range st.Path[:len(st.Path)-1] {
		on := &c.Steps[at[h.Vertex]]
		on.OnPath = true
		on.DependsOn |= 1 << st.PathFrom
	}
}

// findAlike fills in Alike and Larger of step i.
func (c *CanonicalOrder) findAlike(i int) {
	st, injective := &c.Steps[i], c.Plan.Query.MatchMode == matcher.Isomorphism
	for k := c.fixed; k < len(c.Steps); k++ {
		o := &c.Steps[k]
		if k != i && !alike(st, o, injective) {
			continue
		}
		if st.Alike++; k > i && slices.ContainsFunc(o.Less, func(l Less) bool { return l.Step == i && l.Greater }) {
			st.Larger = append(st.Larger, k)
		}
	}
}

// alike reports whether two steps always have the same candidates and must take different ones.
func alike(a, b *CanonicalStep, injective bool) bool {
	return injective && !a.OnPath && !b.OnPath && len(a.Back) > 0 && len(a.Back) == len(a.Groups) &&
		a.Test == b.Test &&
		slices.EqualFunc(a.Back, b.Back, func(x, y BackEdge) bool {
			return x.Step == y.Step && x.Label == y.Label && x.Dir == y.Dir && x.Either == y.Either &&
				x.Test == y.Test
		})
}
