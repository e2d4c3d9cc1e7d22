package groups

import (
	"cmp"
	"errors"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/internal/residual"
)

// errFound ends an enumeration at the first match.
var errFound = errors.New("groups: found")

// enumerate returns the rows of all groups that hold in a view, ascending by their keys; one alone if any will do.
func (x *program) enumerate(g *dyngraph.Graph, which dyngraph.Which, anyOne bool,
	work *residual.Work) (rows [][]uint32, err error) {
	if x.shape != nil {
		b := newBatch(x, g, &dyngraph.Delta{}, work)
		rows, err := b.enumerateHubs(which, anyOne)
		if errors.Is(err, errFar) {
			x.shape = nil // no state from now on
			return x.enumerate(g, which, anyOne, work)
		}
		if err == nil {
			err = work.Spend(0)
		}
		slices.SortFunc(rows, func(y, z []uint32) int { return x.compare(g.View(which), y, z) })
		return rows, err
	}
	b, counter := newBatch(x, g, nil, work), newBatch(x, g, nil, work)
	take := func(of *batch, s *search) error {
		before := len(b.keys)
		of.addKeys(s)
		if len(b.keys) == before {
			return nil
		}
		keys := of.boundKeys(s)
		var found group
		var err error
		if counter.counts != nil {
			found, _, err = counter.stages(which, keys)
		} else {
			found, err = counter.group(which, keys)
		}
		if err != nil || !found.holds {
			return err
		}
		row, err := b.x.put(keys, &found)
		if err != nil {
			return err
		}
		rows = append(rows, row)
		if anyOne {
			return errFound
		}
		return nil
	}
	for _, of := range b.lengths {
		s := of.views[which]
		s.found = func() error { return take(of, s) }
		if err = of.x.eachSeed(s); err != nil {
			break
		}
	}
	if errors.Is(err, errFound) {
		err = nil
	}
	if err == nil {
		err = work.Spend(0)
	}
	slices.SortFunc(rows, func(a, b []uint32) int { return x.compare(g.View(which), a, b) })
	return rows, err
}

// enumerateHubs is enumerate for the shapes of which state is kept: vertex by vertex, over windows that move on.
func (b *batch) enumerateHubs(which dyngraph.Which, anyOne bool) (rows [][]uint32, err error) {
	b.prepareHubs()
	s, h := b.views[which], b.x.shape
	take := func(keys []uint32, t *tally, l *timeList, lo, hi int64) (done bool, err error) {
		g := t.group(b.x, s.view, keys)
		if !g.holds {
			return false, nil
		}
		b.listed(&g, l, lo, hi, which)
		row, err := b.x.put(keys, &g)
		rows = append(rows, row)
		return anyOne, err
	}
	for v := range s.view.VerticesSeq() {
		if err := s.work.Step(); err != nil {
			return nil, err
		}
		hub := uint32(v)
		if !matcher.LabelFits(b.x.pattern.Vertices[h.member.hub], s.view.Label(v)) {
			continue
		}
		if h.pivot == nil {
			st, err := b.newStar(hub, which)
			if err != nil {
				return rows, err
			}
			l := cmp.Or(st.edges, &timeList{})
			if done, err := take([]uint32{hub}, &st.tally, l, l.first, l.end()); err != nil || done {
				return rows, err
			}
			continue
		}
		w, err := b.newWindow(hub, which)
		if err != nil {
			return nil, err
		}
		wb := &windowBatch{batch: b, hub: hub, w: w}
		c := wb.newCursor(int(which), 0)
		for i := range w.pivots.entries {
			p := &w.pivots.entries[i]
			lo, hi := wb.places(p.ts)
			if lo >= c.hi {
				c = wb.newCursor(int(which), lo)
			}
			if err := wb.move(c, lo, hi); err != nil {
				return nil, err
			}
			if done, err := take(wb.keysOf(p), &c.tally, &w.members, lo, hi); err != nil || done {
				return rows, err
			}
		}
	}
	return rows, nil
}

// boundKeys returns the keys that are bound, in a slice of the caller's.
func (b *batch) boundKeys(s *search) (keys []uint32) {
	for _, u := range b.x.stage.Vertices {
		keys = append(keys, s.vertices[u])
	}
	for _, e := range b.x.stage.Edges {
		keys = append(keys, s.edges[e])
	}
	return keys
}

// eachSeed maps a pattern edge that is a key, or has a key at an end, to each data edge, and goes on to the keys.
func (x *program) eachSeed(s *search) error {
	e := 0
	if len(x.stage.Edges) > 0 {
		e = x.stage.Edges[0]
	} else {
		e = slices.IndexFunc(x.g.Edges, func(of matcher.QueryEdge) bool {
			return of.From == x.stage.Vertices[0] || of.To == x.stage.Vertices[0]
		})
	}
	for d := range s.view.EdgesSeq() {
		if err := s.work.Step(); err != nil {
			return err
		}
		for _, reversed := range x.orientations(e) {
			s.clear()
			if err := s.withEdge(e, d, reversed, func() error { return s.run(x.fromEdge[e]) }); err != nil {
				return err
			}
		}
	}
	return nil
}
