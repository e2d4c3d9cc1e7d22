package plan

import (
	"motifd/dyngraph"
	"motifd/matcher"
)

// anchoredOrder returns the matching order that starts with pattern edge e, mapped by an update.
func anchoredOrder(p *matcher.Plan, st *statistics, e int, reversed bool) matcher.Order {
	qe := p.Query.Edges[e]
	first, second := qe.From, qe.To
	if reversed {
		first, second = second, first
	}
	b := newBuilder(p, st)
	b.used[e] = true
	b.add(first)
	b.add(second)
	b.grow()
	return matcher.Order{Edge: e, Reversed: reversed, Steps: b.steps}
}

// staticOrder returns the order for enumeration: it starts where label statistics promise the fewest roots for the
// most constraints.
func staticOrder(p *matcher.Plan, st *statistics) matcher.Order {
	best, cost := 0, 0.0
	for v := range p.Query.Vertices {
		c := st.vertices(p.VertexLabels[v]) / float64(degree(p.Query, v))
		if v == 0 || c < cost {
			best, cost = v, c
		}
	}
	b := newBuilder(p, st)
	b.add(best)
	b.grow()
	return matcher.Order{Edge: -1, Steps: b.steps}
}

// degree counts the pattern edges at v, parallel ones each.
func degree(q *matcher.Query, v int) int {
	n := 0
	for _, e := range q.Edges {
		if e.From == v || e.To == v {
			n++
		}
	}
	return n
}

// neighbours counts the distinct pattern vertices joined to v.
func neighbours(q *matcher.Query, v int) int {
	var seen uint32
	n := 0
	for _, e := range q.Edges {
		other := -1
		switch v {
		case e.From:
			other = e.To
		case e.To:
			other = e.From
		}
		if other >= 0 && seen&(1<<other) == 0 {
			seen |= 1 << other
			n++
		}
	}
	return n
}

type builder struct {
	p     *matcher.Plan
	st    *statistics
	at    []int  // step of each pattern vertex, or -1
	used  []bool // pattern edges that are in some Back, or the anchor
	steps []matcher.Step
}

func newBuilder(p *matcher.Plan, st *statistics) *builder {
	b := &builder{p: p, st: st, at: make([]int, len(p.Query.Vertices)), used: make([]bool, len(p.Query.Edges))}
	for i := range b.at {
		b.at[i] = -1
	}
	return b
}

// add appends a step that maps pattern vertex v.
func (b *builder) add(v int) {
	step := matcher.Step{Vertex: v}
	for i, e := range b.p.Query.Edges {
		if b.used[i] || e.From != v && e.To != v {
			continue
		}
		earlier := e.From + e.To - v
		if b.at[earlier] < 0 {
			continue
		}
		back := matcher.BackEdge{Edge: i, Step: b.at[earlier], Label: b.p.EdgeLabels[i]}
		if b.p.Directed {
			back.Either = e.Either
			if earlier == e.To {
				back.Dir = dyngraph.In
			}
		}
		step.Back = append(step.Back, back)
		b.used[i] = true
	}
	b.at[v] = len(b.steps)
	b.steps = append(b.steps, step)
}

// grow adds the remaining vertices: connected, vertices of one neighbour last, then most backward edges, then the
// smallest expected fan-out, then the highest degree (DESIGN A4).
func (b *builder) grow() {
	q := b.p.Query
	for len(b.steps) < len(q.Vertices) {
		best := -1
		var bestLeaf bool
		var bestBack, bestDegree int
		var bestFan float64
		for v := range q.Vertices {
			if b.at[v] >= 0 {
				continue
			}
			back, fan := 0, 0.0
			for i, e := range q.Edges {
				if b.used[i] || e.From != v && e.To != v {
					continue
				}
				if earlier := e.From + e.To - v; b.at[earlier] >= 0 {
					f := b.st.fanout(b.p, i, earlier)
					if back == 0 || f < fan {
						fan = f
					}
					back++
				}
			}
			if back == 0 {
				continue
			}
			leaf, deg := neighbours(q, v) == 1, degree(q, v)
			better := best < 0
			switch {
			case better:
			case leaf != bestLeaf:
				better = bestLeaf
			case back != bestBack:
				better = back > bestBack
			case fan != bestFan:
				better = fan < bestFan
			default:
				better = deg > bestDegree
			}
			if better {
				best, bestLeaf, bestBack, bestFan, bestDegree = v, leaf, back, fan, deg
			}
		}
		b.add(best)
	}
}
