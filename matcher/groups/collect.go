package groups

import (
	"cmp"
	"slices"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
)

// latest lists images of an edge: those with the greatest ts, then the least identity (DESIGN S24), as many as are
// wanted. Those without ts come last.
type latest struct {
	of    *matcher.Aggregate
	reads []matcher.Read // of its formula
	view  dyngraph.View
	edges []uint32
}

// newLatest returns an empty list of an aggregate of the program's stage.
func (x *program) newLatest(i int, view dyngraph.View) *latest {
	return &latest{of: &x.stage.Aggregates[i], reads: x.plan.Groups.Stages[x.at].Formulas[i], view: view}
}

// full reports whether no image with a lower ts will be listed.
func (l *latest) full(ts property.Value) bool {
	if len(l.edges) < l.of.Most {
		return false
	}
	return compareTimes(ts, l.view.Value(dyngraph.EdgeIndex(l.edges[len(l.edges)-1]), property.TS)) > 0
}

// add lists an image, if it is among the latest.
func (l *latest) add(e uint32) {
	if l.of.Formula != nil && l.value(dyngraph.EdgeIndex(e)).IsNull() {
		return
	}
	at, found := slices.BinarySearchFunc(l.edges, e, l.compare)
	if at == l.of.Most || found && l.of.Distinct {
		return
	}
	if len(l.edges) == l.of.Most {
		l.edges = l.edges[:l.of.Most-1]
	}
	l.edges = slices.Insert(l.edges, at, e)
}

// value is an edge's item in a list.
func (l *latest) value(e dyngraph.EdgeIndex) property.Value {
	values := make([]property.Value, len(l.reads))
	for i, r := range l.reads {
		values[i] = r.Value(l.view, uint32(e))
	}
	return l.of.Formula.Eval(values)
}

func (l *latest) compare(a, b uint32) int {
	x, y := dyngraph.EdgeIndex(a), dyngraph.EdgeIndex(b)
	return cmp.Or(compareTimes(l.view.Value(x, property.TS), l.view.Value(y, property.TS)), l.view.CompareEdges(x, y))
}

// compareTimes orders ts, the latest first, and null last.
func compareTimes(a, b property.Value) int {
	switch {
	case a.IsNull() && b.IsNull():
		return 0
	case a.IsNull():
		return 1
	case b.IsNull():
		return -1
	}
	return cmp.Compare(b.Whole(), a.Whole())
}

// listed makes the lists of a group when they are asked for: of the entries of a list at places from lo to before hi
// that a view has.
func (b *batch) listed(g *group, l *timeList, lo, hi int64, which dyngraph.Which) {
	if !b.collects {
		return
	}
	s := b.views[which]
	g.list = func() ([][]uint32, error) {
		lists := make([][]uint32, len(b.x.stage.Aggregates))
		for i := range lists {
			if b.x.stage.Aggregates[i].Function != matcher.Collect {
				continue
			}
			list := b.x.newLatest(i, s.view)
			for place := hi - 1; place >= max(lo, l.first); place-- {
				if err := s.work.Step(); err != nil {
					return nil, err
				}
				e := l.at(place)
				if !e.state.in(int(which)) {
					continue
				}
				if list.full(s.view.Value(dyngraph.EdgeIndex(e.edge), property.TS)) {
					break
				}
				list.add(e.edge)
			}
			lists[i] = list.edges
		}
		return lists, nil
	}
}

// made returns the lists of a group.
func (g *group) made() ([][]uint32, error) {
	if g.list != nil {
		lists, err := g.list()
		if err != nil {
			return nil, err
		}
		g.lists, g.list = lists, nil
	}
	return g.lists, nil
}

// put appends the aggregates of a group to its keys.
func (x *program) put(row []uint32, g *group) ([]uint32, error) {
	lists, err := g.made()
	if err != nil {
		return nil, err
	}
	for i, a := range x.aggregates {
		if a.Function == matcher.Collect {
			row = matcher.PutList(row, lists[i], a.Most)
		} else {
			row = matcher.PutAggregate(row, g.values[i])
		}
	}
	return row, nil
}

// listsDiffer reports whether the two views show different lists of an aggregate.
func (b *batch) listsDiffer(at int, before, after *group) (bool, error) {
	old, err := before.made()
	if err != nil {
		return false, err
	}
	now, err := after.made()
	if err != nil {
		return false, err
	}
	x := b.x
	if b.counts != nil {
		x = b.counts[b.stageOf(at)].x
	}
	i := at - x.first
	if x.stage.Aggregates[i].Formula == nil {
		replaced := func(e uint32) bool {
			_, _, staged := b.graph.Staged(dyngraph.EdgeIndex(e))
			return staged
		}
		return !slices.Equal(old[at], now[at]) || slices.ContainsFunc(now[at], replaced), nil
	}
	was, is := x.newLatest(i, b.views[dyngraph.Old].view), x.newLatest(i, b.views[dyngraph.New].view)
	return !slices.EqualFunc(old[at], now[at], func(e, f uint32) bool {
		return was.value(dyngraph.EdgeIndex(e)) == is.value(dyngraph.EdgeIndex(f))
	}), nil
}
