package cpu

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/internal/rowsort"
)

// lengths are the variants of a query with paths that are searched at once, along prefix trees of their orders
// (DESIGN A23). Their requests stand one behind the other; the search is that of the first, their leader. Its rows say
// in their first column which variant they are of, so that a group has those of all variants in order, and is cut into
// theirs when it is emitted. A count is the leader's.
type lengths struct {
	parts  []*compiled
	layout *rowsort.Layout
	// trees are, by part and anchored order, the roots of the prefix trees; see program.CompileTogether. They hold all
	// parts, but with EmitCounts only those that are counted one by one.
	trees [][]*program.Order
}

// findLengths finds, among the plans of Prepare, those that are variants of one query.
func (b *Backend) findLengths(plans []*matcher.Plan) {
	b.together = false
	for from := 0; from < len(plans); {
		of := plans[from].Query.VariantOf()
		to := from + 1
		for to < len(plans) && of != nil && plans[to].Query.VariantOf() == of {
			to++
		}
		b.setLengths(plans[from:to])
		from = to
	}
}

// setLengths has variants of one query searched together if they may be: the planner has ordered them so, and rows of
// all have room in one layout.
func (b *Backend) setLengths(plans []*matcher.Plan) {
	var parts []*compiled
	for _, p := range plans {
		parts = append(parts, b.plans[p])
	}
	if old := parts[0].lengths; old != nil && slices.Equal(old.parts, parts) {
		b.together = true
		return
	}
	for _, c := range parts {
		c.lengths = nil
	}
	apart := func(p *matcher.Plan) bool { return p.Together == nil || b.filter.Dormant(p) }
	if len(plans) < 2 || b.apart || b.byLength || slices.ContainsFunc(plans, apart) || !program.JoinsRows(plans) {
		return
	}
	l := &lengths{parts: parts, layout: rowsort.NewJointLayout(b.g.View(dyngraph.New), plans),
		trees: make([][]*program.Order, len(parts))}
	var searched []*matcher.Plan
	for _, c := range parts {
		if c.isListed() {
			searched = append(searched, c.plan)
		}
	}
	if len(searched) < 2 {
		return
	}
	trees := program.CompileTogether(searched, b.filter, b.columns)
	for i, c := range parts {
		if c.isListed() {
			l.trees[i], trees = trees[0], trees[1:]
		}
		c.lengths, c.length = l, i
	}
	b.together = true
}

// isListed reports whether the plan's matches are found one by one in batches without revised vertices.
func (c *compiled) isListed() bool {
	return c.countPlan == nil || c.plan.Query.Emit != matcher.EmitCounts
}

// leaders returns, by request, the one whose search finds its matches, too, or -1 where it is searched by itself; nil
// if all are.
func (b *Backend) leaders(reqs []matcher.Request, want matcher.Want) []int {
	if !b.together {
		return nil
	}
	var leaders []int
	for from := 0; from < len(reqs); {
		n := b.joined(reqs[from:], want)
		if n > 0 && leaders == nil {
			leaders = slices.Repeat([]int{-1}, len(reqs))
		}
		leader := -1
		for i := range n {
			if b.plans[reqs[from+i].Plan].lengths.trees[i] != nil {
				if leader < 0 {
					leader = from + i
				}
				leaders[from+i] = leader
			}
		}
		from += max(1, n)
	}
	return leaders
}

// joined returns how many of the first requests are those of all variants of one query, and may be searched together; 0
// if they may not. They differ in their plans alone. Rows are not capped: a cap is met by a search in canonical order
// of one pattern. No match may hold in both views, as its variant alone could tell. And no variant has a candidate
// space of its own, or is to get one.
func (b *Backend) joined(reqs []matcher.Request, want matcher.Want) int {
	first := &reqs[0]
	l := b.plans[first.Plan].lengths
	if l == nil || first.Want != want || len(reqs) < len(l.parts) || first.Limit > 0 || first.Silence != nil ||
		(want == matcher.WantCount) != (first.Plan.Query.Emit == matcher.EmitCounts) {
		return 0
	}
	for i, c := range l.parts {
		r := &reqs[i]
		if r.Plan != c.plan || r.Want != want || r.Limit != first.Limit || r.From != first.From ||
			r.Before != first.Before || r.Silence != first.Silence || r.Budget != first.Budget ||
			!slices.Equal(r.Skip, first.Skip) || b.isRevised(c) {
			return 0
		}
		if b.keepsRows(c, r) && (c.keep.way != nil || b.allowance(c) == 0) {
			return 0
		}
	}
	return len(l.parts)
}

// emitLengths emits rows of a group of all variants as those of the variants.
func (s *rowSearch) emitLengths(g *group, l *lengths, rows matcher.Rows) error {
	wide := rows.Width()
	for at := 0; at < rows.Len(); {
		tag := rows.Row(at)[0]
		q := l.parts[tag].plan.Query
		vertices, edges := len(q.Vertices), len(q.Edges)
		s.narrow = s.narrow[:0]
		for ; at < rows.Len() && rows.Row(at)[0] == tag; at++ {
			row := rows.Row(at)
			s.narrow = append(s.narrow, row[1:1+vertices]...)
			s.narrow = append(s.narrow, row[wide-rows.Edges:][:edges]...)
		}
		of := matcher.Rows{Vertices: vertices, Edges: edges, Data: s.narrow}
		r := &s.results[g.request+int(tag)]
		r.Count = r.Count.Add(matcher.CountOf(uint64(of.Len())))
		if err := s.emit(matcher.Group{Request: g.request + int(tag), Order: g.order, Rows: of}); err != nil {
			return err
		}
	}
	return nil
}

// isJoined reports whether a request is searched together with others.
func (s *rowSearch) isJoined(request int) bool { return s.leader != nil && s.leader[request] >= 0 }
