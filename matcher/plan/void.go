package plan

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// A plan is void while no data edge has the labels that one of its edges asks for: it has no match then, whatever its other edges fit. Its classes
// are not kept up, but for those that other plans have: nothing is counted for them and no vertex has their bits. An update that brings
// such a data edge brings a new combination of labels, of which the graph tells; so Stage knows when to look again. A plan that has been
// kept is kept for good: what brought its edges once may do so again, and to count for it anew costs more than to go on.

// void tells whether a plan is void in both of the graph's views.
func (f *Filter) void(p *matcher.Plan) bool {
	for i, e := range p.Query.Edges {
		from, label, to := p.VertexLabels[e.From], p.EdgeLabels[i], p.VertexLabels[e.To]
		if from == matcher.AnyLabel || label == matcher.AnyLabel || to == matcher.AnyLabel {
			continue
		}
		if f.g.TripleCount(from, label, to) == 0 && (!e.Either || f.g.TripleCount(to, label, from) == 0) {
			return true
		}
	}
	return false
}

// Void reports whether the plan is void, and its classes are not kept. The plan must have been given to Prepare.
func (f *Filter) Void(p *matcher.Plan) bool { return f.plans[p].void }

// Wake has the classes kept of plans that the staged batch makes void no more, and returns these plans. Stage does so itself; whoever keeps other
// things for plans that are not void calls it before, when the batch brings a new combination of labels.
func (f *Filter) Wake() (woken []*matcher.Plan) {
	f.voids = slices.DeleteFunc(f.voids, func(p *matcher.Plan) bool {
		known := f.plans[p]
		if known.void = f.void(p); !known.void {
			woken = append(woken, p)
		}
		return !known.void
	})
	f.woken += uint64(len(woken))
	f.keep(woken)
	return woken
}

// Woken returns how many plans Wake has woken: whoever has copied bits of vertices has to do so again when some were.
func (f *Filter) Woken() uint64 { return f.woken }

// keep begins to count for the classes of plans, and sets their bits.
func (f *Filter) keep(plans []*matcher.Plan) {
	var kept []int
	for _, p := range plans {
		for _, i := range f.plans[p].classes {
			if c := &f.classes[i]; !c.kept && !c.impossible() {
				c.kept = true
				kept = append(kept, i)
			}
		}
	}
	counted := map[*group]int{} // columns that were there before
	var order []*group
	for _, i := range kept {
		c := &f.classes[i]
		c.group = f.groupOf(c.Label)
		if _, ok := counted[c.group]; !ok {
			counted[c.group] = len(c.group.columns)
			order = append(order, c.group)
		}
		for _, n := range c.Needs {
			col, known := c.group.column(n.Column)
			if !known {
				f.meetings = meetings{}
			}
			c.asks = append(c.asks, ask{int32(col), n.Count})
			c.group.note(col, n.Count, i)
		}
	}
	for _, g := range order {
		g.arrange(len(g.columns), f.classes)
		if n := counted[g]; n < len(g.columns) {
			g.countFrom(n, f.g.View(dyngraph.Old))
		}
	}
	for _, i := range kept {
		c := &f.classes[i]
		for at, v := range c.group.members {
			if v != dyngraph.NoVertex && c.group.satisfied(uint32(at), c.asks) {
				f.set(v, c)
			}
		}
	}
}
