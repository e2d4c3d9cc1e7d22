package cpu

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"motifd/matcher"
	"motifd/matcher/cpu/internal/backtrack"
	"motifd/matcher/cpu/internal/count"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/cpu/internal/space"
)

// Profile tells what searches did, step by step. A Backend with Options.Profile adds to it; it is read while nothing is
// searched. Searches take the same steps with it, and more time.
type Profile struct {
	mu     sync.Mutex
	shared backtrack.Profile // searches with what the backend keeps of a plan
	own    []ownProfile      // those with a candidate space
	counts map[countKey]*CountProfile
}

// ownProfile is the profile of a search that had a candidate space.
type ownProfile struct {
	*space.Space
	*backtrack.Profile
}

// OrderProfile counts the work of searches along one matching order.
type OrderProfile struct {
	Query  *matcher.Query
	Anchor int    // pattern edge that an update is tried against; -1 for a search from vertices
	Shared bool   // the order has the steps that several have in common, and nothing of the others
	Space  bool   // the order was chosen by a candidate space
	Starts uint64 // anchors or roots that were tried
	Levels []LevelProfile
}

// LevelProfile is one step of an order.
type LevelProfile struct {
	Vertex int // pattern vertex
	Fit    int // data vertices that fit it by the candidate space; -1 without one
	backtrack.Level
}

// CountProfile counts the work of counts that multiply components of a pattern instead of listing matches.
type CountProfile struct {
	Query *matcher.Query
	Space bool
	Terms int    // quotients of the pattern whose counts are added; 1 is the pattern itself, or its vertices kept apart
	Steps uint64 // candidates tried
	Asked uint64 // counts of components that were looked up
	Known uint64 // of these, those that were known
}

type countKey struct {
	query *matcher.Query
	space bool
}

// addSpace notes the profile of a search with a candidate space.
func (p *Profile) addSpace(s *space.Space) *backtrack.Profile {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.own = append(p.own, ownProfile{s, new(backtrack.Profile)})
	return p.own[len(p.own)-1].Profile
}

// counted notes what one worker did for a count by components; before and after are its counter's totals. A nil Profile
// takes note of nothing.
func (p *Profile) counted(plan *count.Plan, space bool, steps uint64, before, after count.LookedUp) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := countKey{plan.Pattern.Query, space}
	if p.counts == nil {
		p.counts = map[countKey]*CountProfile{}
	}
	c := p.counts[key]
	if c == nil {
		c = &CountProfile{Query: key.query, Space: space, Terms: max(1, len(plan.Quotients))}
		p.counts[key] = c
	}
	c.Steps += steps
	c.Asked, c.Known = c.Asked+after.Asked-before.Asked, c.Known+after.Known-before.Known
}

// Orders returns what searches did, those with a candidate space behind the others, by query name and anchor. Orders
// that were made again for new statistics, and are the same, are one.
func (p *Profile) Orders() []OrderProfile {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := merger{at: map[string]int{}}
	p.shared.Each(func(o *program.Order, l *backtrack.Levels) { m.add(o, l, nil) })
	for _, own := range p.own {
		own.Each(func(o *program.Order, l *backtrack.Levels) { m.add(o, l, own.Space) })
	}
	slices.SortFunc(m.all, func(x, y OrderProfile) int {
		return cmp.Or(cmp.Compare(x.Query.Name, y.Query.Name), boolCompare(x.Space, y.Space),
			cmp.Compare(x.Anchor, y.Anchor), -boolCompare(x.Shared, y.Shared), cmp.Compare(y.Starts, x.Starts),
			slices.CompareFunc(x.Levels, y.Levels, func(a, b LevelProfile) int { return a.Vertex - b.Vertex }))
	})
	return m.all
}

// Counts returns what counts by components did, by query name.
func (p *Profile) Counts() []CountProfile {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]CountProfile, 0, len(p.counts))
	for _, c := range p.counts {
		all = append(all, *c)
	}
	slices.SortFunc(all, func(x, y CountProfile) int {
		return cmp.Or(cmp.Compare(x.Query.Name, y.Query.Name), boolCompare(x.Space, y.Space),
			cmp.Compare(len(x.Query.Edges), len(y.Query.Edges)))
	})
	return all
}

// boolCompare puts false before true.
func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// merger makes one profile of orders that are the same.
type merger struct {
	all []OrderProfile
	at  map[string]int
}

func (m *merger) add(o *program.Order, l *backtrack.Levels, s *space.Space) {
	q, anchor := o.Plan.Query, o.Anchor
	if o.First != nil {
		q, anchor = o.First.Plan.Query, o.First.Order.Edge
	}
	x := OrderProfile{Query: q, Anchor: anchor, Shared: o.GoesOn(), Space: s != nil, Starts: l.Starts}
	key := fmt.Sprintf("%q %d %d %d %v %v", q.Name, len(q.Vertices), len(q.Edges), anchor, x.Shared, x.Space)
	for d := range o.Steps {
		v := o.Steps[d].Vertex
		if o.First != nil {
			v = o.First.Order.Steps[d].Vertex
		}
		level := LevelProfile{Vertex: v, Fit: -1, Level: l.Steps[d]}
		if s != nil {
			level.Fit = s.Candidates[v]
		}
		x.Levels, key = append(x.Levels, level), key+fmt.Sprint(" ", v)
	}
	i, there := m.at[key]
	if !there {
		m.at[key] = len(m.all)
		m.all = append(m.all, x)
		return
	}
	all := &m.all[i]
	all.Starts += x.Starts
	for d := range x.Levels {
		all.Levels[d].Add(&x.Levels[d].Level)
	}
}
