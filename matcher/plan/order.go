package plan

import (
	"math/bits"

	"motifd/dyngraph"
	"motifd/matcher"
)

// orderer chooses the orders of one plan.
type orderer struct {
	p      *matcher.Plan
	st     *statistics
	at     [][]int      // pattern edges at each vertex
	leaf   []bool       // vertices of one neighbour
	fanout [][2]float64 // of each pattern edge when its From, or its To, is mapped: the data edges to expect
}

func newOrderer(p *matcher.Plan, st *statistics) *orderer {
	q := p.Query
	o := &orderer{p: p, st: st, at: make([][]int, len(q.Vertices)), leaf: make([]bool, len(q.Vertices)),
		fanout: make([][2]float64, len(q.Edges))}
	nbrs, ends := make([]uint32, len(q.Vertices)), make([]int, len(q.Vertices))
	for _, e := range q.Edges {
		ends[e.From]++
		ends[e.To]++
	}
	room := make([]int, 2*len(q.Edges))
	for v, n := range ends {
		o.at[v], room = room[:0:n], room[n:]
	}
	for i, e := range q.Edges {
		o.at[e.From], o.at[e.To] = append(o.at[e.From], i), append(o.at[e.To], i)
		nbrs[e.From] |= 1 << e.To
		nbrs[e.To] |= 1 << e.From
		n := st.edges(p, i)
		o.fanout[i] = [2]float64{n / max(1, st.vertices(p.VertexLabels[e.From])),
			n / max(1, st.vertices(p.VertexLabels[e.To]))}
	}
	for v, m := range nbrs {
		o.leaf[v] = bits.OnesCount32(m) == 1
	}
	return o
}

// batches adds the orders that begin at what a batch changes.
func (o *orderer) batches() {
	p, q := o.p, o.p.Query
	for e := range q.Edges {
		p.Anchored = append(p.Anchored, o.anchored(e, false))
		if q.Edges[e].Either {
			p.Anchored = append(p.Anchored, o.anchored(e, true))
		}
	}
	for v := range q.Vertices {
		if !p.Asked[v].Nothing() || q.IsVertex() {
			p.Revised = append(p.Revised, o.rooted(v))
		}
	}
}

// anchored returns the matching order that starts with pattern edge e, mapped by an update.
func (o *orderer) anchored(e int, reversed bool) matcher.Order {
	qe := o.p.Query.Edges[e]
	first, second := qe.From, qe.To
	if reversed {
		first, second = second, first
	}
	b := newBuilder(o)
	b.begin(e, first, second)
	b.grow(everything)
	return matcher.Order{Edge: e, Reversed: reversed, Steps: b.steps}
}

// static returns the order for enumeration: it starts where label statistics promise the fewest roots for the most
// constraints.
func (o *orderer) static() matcher.Order {
	best, cost := 0, 0.0
	for v := range o.p.Query.Vertices {
		c := o.st.vertices(o.p.VertexLabels[v]) / float64(len(o.at[v]))
		if v == 0 || c < cost {
			best, cost = v, c
		}
	}
	return o.rooted(best)
}

// rooted returns the order that starts with a pattern vertex.
func (o *orderer) rooted(v int) matcher.Order {
	b := newBuilder(o)
	b.add(v)
	b.grow(everything)
	return matcher.Order{Edge: -1, Steps: b.steps}
}

type builder struct {
	*orderer
	step  []int     // of each pattern vertex, or -1
	used  []bool    // pattern edges that are in some Back, or the anchor
	back  []int     // of each pattern vertex that has no step: its edges to those that have one
	fan   []float64 // likewise the smallest fan-out of these edges
	steps []matcher.Step
}

func newBuilder(o *orderer) *builder {
	b := &builder{orderer: o, step: make([]int, len(o.at)), used: make([]bool, len(o.fanout)),
		back: make([]int, len(o.at)), fan: make([]float64, len(o.at)), steps: make([]matcher.Step, 0, len(o.at))}
	for i := range b.step {
		b.step[i] = -1
	}
	return b
}

// begin maps the ends of pattern edge e.
func (b *builder) begin(e, first, second int) {
	b.used[e] = true
	b.add(first)
	b.add(second)
}

// add appends a step that maps pattern vertex v.
func (b *builder) add(v int) {
	step := matcher.Step{Vertex: v}
	if n := b.back[v]; n > 0 {
		step.Back = make([]matcher.BackEdge, 0, n)
	}
	for _, i := range b.at[v] {
		e := &b.p.Query.Edges[i]
		earlier := e.From + e.To - v
		if b.used[i] || b.step[earlier] < 0 {
			continue
		}
		back := matcher.BackEdge{Edge: i, Step: b.step[earlier], Label: b.p.EdgeLabels[i]}
		if b.p.Directed {
			back.Either = e.Either
			if earlier == e.To {
				back.Dir = dyngraph.In
			}
		}
		step.Back = append(step.Back, back)
		b.used[i] = true
	}
	b.put(step)
}

// put appends a step.
func (b *builder) put(step matcher.Step) {
	v := step.Vertex
	b.step[v] = len(b.steps)
	b.steps = append(b.steps, step)
	for _, i := range b.at[v] {
		e := &b.p.Query.Edges[i]
		later := e.From + e.To - v
		if b.used[i] || b.step[later] >= 0 {
			continue
		}
		f := b.fanout[i][0]
		if e.From == later {
			f = b.fanout[i][1]
		}
		if b.back[later]++; b.back[later] == 1 || f < b.fan[later] {
			b.fan[later] = f
		}
	}
}

// everything is the set of all vertices of any pattern.
const everything = ^uint32(0)

// grow adds the remaining vertices of a set: connected, vertices of one neighbour last, then most backward edges,
// then the smallest expected fan-out, then the highest degree (DESIGN A4).
func (b *builder) grow(within uint32) {
	for {
		best := -1
		var bestBack int
		var bestFan float64
		for v := range b.at {
			if b.step[v] >= 0 || within>>v&1 == 0 {
				continue
			}
			back, fan := b.back[v], b.fan[v]
			if back == 0 {
				continue
			}
			better := best < 0
			switch {
			case better:
			case b.leaf[v] != b.leaf[best]:
				better = b.leaf[best]
			case back != bestBack:
				better = back > bestBack
			case fan != bestFan:
				better = fan < bestFan
			default:
				better = len(b.at[v]) > len(b.at[best])
			}
			if better {
				best, bestBack, bestFan = v, back, fan
			}
		}
		if best < 0 {
			return
		}
		b.add(best)
	}
}
