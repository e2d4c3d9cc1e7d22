package candidates

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// A plan is dormant while no data edge has the labels that one of its pattern edges asks for: it cannot match then. The
// classes that only dormant plans have are not maintained: no counts are kept for them and no vertex has their bits. An
// update that brings the missing data edge brings a new label triple, which Delta.NewTriples reports; Stage looks again
// then. A plan that was woken never becomes dormant again: counting for it anew would cost more than to go on.

// isDormant reports whether a plan is dormant in both of the graph's views.
func (f *Filter) isDormant(p *matcher.Plan) bool {
	for i, e := range p.Query.Edges {
		from, label, to := p.VertexLabels[e.From], p.EdgeLabels[i], p.VertexLabels[e.To]
		if matcher.SeveralLabels(from) || matcher.SeveralLabels(label) || matcher.SeveralLabels(to) {
			continue
		}
		if f.g.TripleCount(from, label, to) == 0 && (!e.Either || f.g.TripleCount(to, label, from) == 0) {
			return true
		}
	}
	return false
}

// Dormant reports whether the plan is dormant. The plan must have been given to Prepare.
func (f *Filter) Dormant(p *matcher.Plan) bool { return f.plans[p].dormant }

// Wake begins to maintain the classes of the dormant plans that the staged batch wakes, and returns these plans. Stage
// calls it too; a backend that keeps other state per plan calls it before Stage when the batch brings a new label
// triple.
func (f *Filter) Wake() (woken []*matcher.Plan) {
	f.dormant = slices.DeleteFunc(f.dormant, func(p *matcher.Plan) bool {
		known := f.plans[p]
		if known.dormant = f.isDormant(p); !known.dormant {
			woken = append(woken, p)
		}
		return !known.dormant
	})
	f.woken += uint64(len(woken))
	f.keep(woken)
	return woken
}

// Woken returns the number of plans that Wake has woken so far. When it has changed, copies of the bits are out of
// date.
func (f *Filter) Woken() uint64 { return f.woken }

// keep begins to count for the classes of plans, and sets their bits.
func (f *Filter) keep(plans []*matcher.Plan) {
	var kept []int
	for _, p := range plans {
		for _, i := range f.plans[p].classes {
			if c := &f.classes[i]; !c.kept && !c.Impossible() {
				c.kept = true
				kept = append(kept, i)
			}
		}
	}
	counted := map[*table]int{} // columns that were there before
	var order []*table
	for _, i := range kept {
		c := &f.classes[i]
		c.table = f.tableOf(c.Label)
		if _, ok := counted[c.table]; !ok {
			counted[c.table] = len(c.table.columns)
			order = append(order, c.table)
		}
		for _, n := range c.Needs {
			col, known := c.table.column(n.Column)
			if !known {
				f.triples = triples{}
			}
			c.asks = append(c.asks, columnNeed{int32(col), n.Count})
			c.table.note(col, n.Count, i)
		}
		if len(c.Needs) == 0 {
			c.table.bare, f.bare = append(c.table.bare, i), true
		}
		if c.own != nil {
			c.table.asking = append(c.table.asking, i)
		}
	}
	for _, g := range order {
		g.arrange(len(g.columns))
		if n := counted[g]; n < len(g.columns) {
			g.countFrom(n, f.g.View(dyngraph.Old))
		}
	}
	for _, i := range kept {
		c := &f.classes[i]
		for at, v := range c.table.members {
			if v != dyngraph.NoVertex && f.fits(dyngraph.Old, v, uint32(at), c) {
				f.set(v, c)
			}
		}
	}
}
