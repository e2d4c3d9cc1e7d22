package groups

import (
	"slices"

	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/internal/residual"
)

// program is a query with WITH, resolved against the graph.
type program struct {
	plan  *matcher.Plan
	query *matcher.Query
	g     *matcher.Groups
	// stage is the last of the program's: it has the keys.
	stage *matcher.Stage
	// aggregates are those of all stages.
	aggregates []*matcher.Aggregate

	directed bool
	// pattern has all MATCH clauses, as they are searched. Elements of one clause have different images.
	pattern residual.Pattern
	// Conditions on one edge alone, by edge, and those on several elements.
	ownEdge [][]*matcher.Condition
	between []*matcher.Condition
	asked   []matcher.Asked // by vertex: the values that decide whether a revision matters (S16)
	shown   shown

	// Orders by what is bound at first: by edge, by vertex, and for the keys. Those by edge and vertex end where all
	// keys are bound.
	fromEdge, fromVertex []*residual.Order
	fromKeys             *residual.Order

	shape *shape // nil where no state is kept of hubs

	// own tells which edges the program maps; the keys among the others are given, without their ends.
	own []bool
	// counts are the programs that count the groups of each stage, in a query with several stages; this program then
	// finds keys, over the elements of all stages. nil with one stage.
	counts []*program
	at     int // index of the stage
	first  int // index of its first aggregate

	// denied are the negations of its stages (DESIGN S25). A program that counts a stage can ignore how the negations
	// of other stages depend on keys: where that matters, the keys themselves are changed.
	denied []denial

	// others are the same program for the other combinations of path lengths, of all stages or, if it counts a stage,
	// of that stage. Their rows belong to the groups of this one.
	others []*program
}

func newProgram(p *matcher.Plan, hubDegree int) *program {
	n := len(p.Query.Groups.Stages)
	var all []*program
	for _, part := range p.Parts() {
		x := programOf(part, 0, n)
		x.show()
		all = append(all, x)
	}
	x := all[0]
	x.others = all[1:]
	if n == 1 {
		if len(p.Variants)+len(x.denied) == 0 {
			x.shape = shapeOf(x, hubDegree)
		}
		return x
	}
	first := 0
	for at := range n {
		c := countOf(x, at, first)
		if len(p.Variants) > 0 {
			c.others = othersOf(all, at, first)
		}
		first += len(c.stage.Aggregates)
		x.counts = append(x.counts, c)
	}
	return x
}

// countOf makes the program that counts the groups of a stage; of is that of all stages.
func countOf(of *program, at, first int) *program {
	c := programOf(of.plan, at, at+1)
	c.asked, c.shown, c.at, c.first = of.asked, of.shown, at, first
	return c
}

// othersOf makes the programs that count the groups of a stage for each combination of the lengths of its paths, but
// the first.
func othersOf(all []*program, at, first int) (others []*program) {
	seen := [][]int{all[0].query.StageLengths(at)}
	for _, of := range all[1:] {
		lengths := of.query.StageLengths(at)
		if slices.ContainsFunc(seen, func(s []int) bool { return slices.Equal(s, lengths) }) {
			continue
		}
		seen = append(seen, lengths)
		others = append(others, countOf(of, at, first))
	}
	return others
}

// programOf makes a program of the stages from one to before another.
func programOf(p *matcher.Plan, from, to int) *program {
	g := p.Query.Groups
	x := &program{plan: p, query: p.Query, g: g, stage: &g.Stages[to-1], own: make([]bool, len(g.Edges)),
		aggregates: g.Aggregates(), directed: p.Directed, ownEdge: make([][]*matcher.Condition, len(g.Edges)),
		asked: make([]matcher.Asked, len(g.Vertices)),
		pattern: residual.Pattern{Vertices: p.Groups.VertexLabels, VertexDiffers: make([][]int, len(g.Vertices)),
			EdgeDiffers: make([][]int, len(g.Edges))}}
	for e, of := range g.Edges {
		x.pattern.Edges = append(x.pattern.Edges, residual.Edge{From: of.From, To: of.To,
			Label: p.Groups.EdgeLabels[e], Either: of.Either || !p.Directed})
	}
	for at := from; at < to; at++ {
		of := &p.Groups.Stages[at]
		for i := range of.Conditions {
			x.addCondition(&of.Conditions[i])
		}
		x.addAsked(&g.Stages[at], of)
		for _, m := range g.Stages[at].Matches {
			for _, v := range m.Vertices {
				x.pattern.VertexDiffers[v] = append(x.pattern.VertexDiffers[v], without(m.Vertices, v)...)
			}
			for _, e := range m.Edges {
				x.pattern.EdgeDiffers[e], x.own[e] = without(m.Edges, e), true
			}
		}
	}
	for v := range x.asked {
		slices.Sort(x.asked[v].Columns)
	}
	x.orders()
	for at := from; at < to; at++ {
		for i := range p.Groups.Stages[at].Negations {
			x.deny(&g.Stages[at].Negations[i], &p.Groups.Stages[at].Negations[i])
		}
	}
	return x
}

func without(all []int, one int) []int {
	return slices.DeleteFunc(slices.Clone(all), func(i int) bool { return i == one })
}

func (x *program) addCondition(c *matcher.Condition) {
	x.pattern.Conditions = append(x.pattern.Conditions, *c)
	switch r := c.Elements[0]; {
	case !c.Own():
		x.between = append(x.between, c)
	case r.Edge:
		x.ownEdge[r.Index] = append(x.ownEdge[r.Index], c)
	}
}

// addAsked collects what conditions, aggregates and conditions behind WITH ask about each vertex.
func (x *program) addAsked(stage *matcher.Stage, of *matcher.StagePlan) {
	read := func(elements int, reads []matcher.Read, c *matcher.Condition) {
		for _, r := range reads {
			if r.Element.Edge || r.Element.Aggregate {
				continue
			}
			a := &x.asked[r.Element.Index]
			if elements == 1 && c != nil {
				a.Own = append(a.Own, c)
				return
			}
			if !slices.Contains(a.Columns, r.Column) {
				a.Columns = append(a.Columns, r.Column)
			}
		}
	}
	for i := range of.Conditions {
		c := &of.Conditions[i]
		read(len(c.Elements), c.Reads, c)
	}
	for i, c := range stage.Having {
		reads := slices.Clone(of.Having[i])
		for k, r := range reads {
			switch {
			case r.Element.Aggregate:
			case r.Element.Edge:
				reads[k].Element.Index = stage.Edges[r.Element.Index]
			default:
				reads[k].Element.Index = stage.Vertices[r.Element.Index]
			}
		}
		read(len(c.Elements), reads, &matcher.Condition{Condition: c, Reads: reads})
	}
	for i, reads := range of.Formulas {
		if stage.Aggregates[i].Function != matcher.Sum {
			continue // it reads edges
		}
		read(0, reads, nil)
	}
}

// bound is a set of elements.
type bound struct{ vertices, edges []bool }

func (x *program) nothing() bound {
	return bound{make([]bool, len(x.g.Vertices)), make([]bool, len(x.g.Edges))}
}

func (b *bound) bindEdge(x *program, e int) {
	b.edges[e] = true
	b.vertices[x.g.Edges[e].From], b.vertices[x.g.Edges[e].To] = true, true
}

// given returns the set as that of a residual.Order.
func (b *bound) given() map[condition.Ref]bool {
	set := make(map[condition.Ref]bool)
	for v, is := range b.vertices {
		if is {
			set[condition.Ref{Index: v}] = true
		}
	}
	for e, is := range b.edges {
		if is {
			set[condition.Ref{Edge: true, Index: e}] = true
		}
	}
	return set
}

func (x *program) orders() {
	for e := range x.g.Edges {
		b := x.nothing()
		b.bindEdge(x, e)
		x.fromEdge = append(x.fromEdge, x.orderFrom(b, x.keys()))
	}
	for v := range x.g.Vertices {
		b := x.nothing()
		b.vertices[v] = true
		x.fromVertex = append(x.fromVertex, x.orderFrom(b, x.keys()))
	}
	b := x.nothing()
	for _, v := range x.stage.Vertices {
		b.vertices[v] = true
	}
	for _, e := range x.stage.Edges {
		if x.own[e] {
			b.bindEdge(x, e)
		} else {
			b.edges[e] = true
		}
	}
	x.fromKeys = x.orderFrom(b, x.all())
}

// keys are the keys.
func (x *program) keys() bound {
	b := x.nothing()
	for _, v := range x.stage.Vertices {
		b.vertices[v] = true
	}
	for _, e := range x.stage.Edges {
		b.edges[e] = true
	}
	return b
}

// all are all edges that the program maps.
func (x *program) all() bound {
	b := x.nothing()
	copy(b.edges, x.own)
	return b
}

// missing reports whether some element of a goal is not bound.
func (b *bound) missing(goal bound) bool {
	for v, is := range goal.vertices {
		if is && !b.vertices[v] {
			return true
		}
	}
	for e, is := range goal.edges {
		if is && !b.edges[e] {
			return true
		}
	}
	return false
}

// orderFrom makes an order that starts at the bound elements b and takes the edges on the shortest ways to a goal. It
// adds to b the elements that it binds; these are not all of the goal where no edges lead there.
func (x *program) orderFrom(b, goal bound) *residual.Order {
	given := b.given()
	var wanted []condition.Ref
	for b.missing(goal) {
		e := x.nextEdge(b, goal)
		if e < 0 {
			break
		}
		b.bindEdge(x, e)
		wanted = append(wanted, condition.Ref{Edge: true, Index: e})
	}
	return x.pattern.Order(given, wanted)
}

// nextEdge returns the edge to map next on the way to a goal, -1 if all are mapped.
func (x *program) nextEdge(b, goal bound) int {
	best, least := -1, 0
	for e, of := range x.g.Edges {
		from, to := b.vertices[of.From], b.vertices[of.To]
		if b.edges[e] || !from && !to || !x.own[e] {
			continue
		}
		cost := 0
		if !from || !to {
			cost = 1 + x.distance(b, goal, e)
		}
		if best < 0 || cost < least {
			best, least = e, cost
		}
	}
	return best
}

// distance returns the number of edges from e to the nearest unbound element of a goal.
func (x *program) distance(b, goal bound, e int) int {
	seen := bound{slices.Clone(b.vertices), slices.Clone(b.edges)}
	for n := 0; ; n++ {
		if n == 0 {
			seen.bindEdge(x, e)
		}
		for v, is := range goal.vertices {
			if is && seen.vertices[v] && !b.vertices[v] {
				return n
			}
		}
		for k, is := range goal.edges {
			if is && seen.edges[k] && !b.edges[k] {
				return n
			}
		}
		// One step on, from what lies behind e.
		var next []int
		for i, of := range x.g.Edges {
			fresh := seen.vertices[of.From] && !b.vertices[of.From] || seen.vertices[of.To] && !b.vertices[of.To]
			if !seen.edges[i] && fresh {
				next = append(next, i)
			}
		}
		if len(next) == 0 || n > len(x.g.Edges) {
			return len(x.g.Edges) + 1 // none lies behind it
		}
		for _, i := range next {
			seen.bindEdge(x, i)
		}
	}
}
