package groups

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/internal/residual"
)

// outcome is the effect of a batch on the groups of a query. It is computed once for both signs.
type outcome struct {
	changes []change
	over    matcher.Cause // the search was beyond a limit: changes are void
	steps   uint64
	ns      int64
	// stateless tells that the states of hubs do not know of the batch.
	stateless bool
}

// change is a group that holds in one view only or, of the sign Changed, one that shows another value.
type change struct {
	sign  dyngraph.Sign
	order uint32 // of the anchor
	row   []uint32
}

// batch finds the outcome of a staged batch for one query.
type batch struct {
	x     *program
	graph *dyngraph.Graph
	delta *dyngraph.Delta // nil when a view is enumerated
	// One search for each view, by dyngraph.Which.
	views    [2]*search
	keys     map[string][]uint32 // of the groups that the batch may change
	hubs     map[uint32][]hubChange
	rows     accumulator
	counts   []*batch         // of a query with several stages: one that counts each
	counted  map[string]group // groups of a stage that have fewer keys than the query, by view and keys
	lengths  []*batch         // itself and, with the same keys, those of program.others
	revising bool             // the batch revises vertices
	// stateless tells that no state is used, because vertices are revised that matter to the query.
	stateless bool
	// sums, distinct and collects tell which totals of a hub's rows the aggregates need.
	sums, distinct, collects bool
}

func (x *program) evaluate(g *dyngraph.Graph, d *dyngraph.Delta, w *residual.Work) (*outcome, error) {
	b := newBatch(x, g, d, w)
	o := &outcome{}
	if x.shape != nil {
		b.prepareHubs()
	}
	err := b.all(o)
	if err == nil {
		err = w.Spend(0)
	}
	if errors.Is(err, residual.ErrBudget) {
		o.changes, o.over, err = nil, w.Meter.Over(), nil
	}
	if errors.Is(err, errFar) {
		x.shape = nil // no state from now on
		return x.evaluate(g, d, w)
	}
	o.steps, o.ns, o.stateless = w.Steps, w.NS, b.stateless
	return o, err
}

// newBatch prepares for the groups of a program; d is nil where a view is enumerated.
func newBatch(x *program, g *dyngraph.Graph, d *dyngraph.Delta, w *residual.Work) *batch {
	b := &batch{x: x, graph: g, delta: d, keys: make(map[string][]uint32), hubs: make(map[uint32][]hubChange),
		revising: d != nil && len(d.Revised) > 0}
	for which := range b.views {
		b.views[which] = newSearch(x, g, dyngraph.Which(which), w)
	}
	b.lengths = []*batch{b}
	for _, other := range x.others {
		o := newBatch(other, g, d, w)
		o.keys = b.keys
		b.lengths = append(b.lengths, o)
	}
	for _, c := range x.counts {
		b.counts = append(b.counts, newBatch(c, g, d, w))
	}
	return b
}

// prepareHubs finds out whether state may be used, and which parts of it.
func (b *batch) prepareHubs() {
	for _, r := range b.delta.Revised {
		for u := range b.x.g.Vertices {
			b.stateless = b.stateless || b.x.mayChange(b.graph, u, r.Vertex)
		}
	}
	for _, a := range b.x.stage.Aggregates {
		b.collects = b.collects || a.Function == matcher.Collect
		b.sums = b.sums || a.Function == matcher.Sum
		b.distinct = b.distinct || a.Function == matcher.CountDistinct && !a.Of.Edge
	}
}

func (b *batch) all(o *outcome) error {
	if err := b.collect(); err != nil {
		return err
	}
	for _, keys := range b.keys {
		if b.counts != nil {
			if err := b.compareStages(o, keys); err != nil {
				return err
			}
			continue
		}
		before, err := b.group(dyngraph.Old, keys)
		if err != nil {
			return err
		}
		after, err := b.group(dyngraph.New, keys)
		if err != nil {
			return err
		}
		if err := b.compare(o, keys, &before, &after); err != nil {
			return err
		}
	}
	for hub, changes := range b.hubs {
		count := b.star
		if b.x.shape.pivot != nil {
			count = b.window
		}
		if err := count(hub, changes, o); err != nil {
			return err
		}
	}
	view := b.views[dyngraph.New].view
	slices.SortFunc(o.changes, func(x, y change) int {
		return cmp.Or(cmp.Compare(x.sign, y.sign), cmp.Compare(x.order, y.order), b.x.compare(view, x.row, y.row))
	})
	return nil
}

// compare notes a group that holds in one view only, or shows another value.
func (b *batch) compare(o *outcome, keys []uint32, before, after *group) error {
	c := change{sign: dyngraph.Inserted, row: slices.Clone(keys)}
	shown := after
	switch {
	case before.holds && !after.holds:
		c.sign, shown = dyngraph.Deleted, before
	case before.holds:
		if differs, err := b.differ(keys, before, after); err != nil || !differs {
			return err
		}
		c.sign = dyngraph.Changed
	case !after.holds:
		return nil
	}
	var err error
	if c.row, err = b.x.put(c.row, shown); err != nil {
		return err
	}
	if c.sign == dyngraph.Changed {
		c.order = b.changedAt(keys, before, after)
	} else {
		c.order = b.anchor(c.sign, keys, before, after)
	}
	o.changes = append(o.changes, c)
	return nil
}

// compare orders rows by their keys (DESIGN S7).
func (x *program) compare(view dyngraph.View, a, b []uint32) int {
	n := len(x.stage.Vertices)
	if c := slices.Compare(a[:n], b[:n]); c != 0 {
		return c
	}
	for i := range x.stage.Edges {
		if c := view.CompareEdges(dyngraph.EdgeIndex(a[n+i]), dyngraph.EdgeIndex(b[n+i])); c != 0 {
			return c
		}
	}
	return 0
}

// group counts a group in a view.
func (b *batch) group(which dyngraph.Which, keys []uint32) (group, error) {
	var g group
	b.rows.reset(b.x.stage.Aggregates)
	for _, of := range b.lengths {
		s := of.views[which]
		s.found = func() error {
			if is, err := s.blocked(s.view); is || err != nil {
				if err == nil {
					err = of.noteBlockers(s, &g)
				}
				return err
			}
			b.rows.add(s)
			if b.delta != nil {
				of.noteChanges(s, &g)
			}
			return nil
		}
		if err := s.eachBinding(keys, func() error { return s.run(s.x.fromKeys) }); err != nil {
			return g, err
		}
	}
	if g.rows = b.rows.rows; g.rows > 0 {
		g.values, g.lists = b.rows.values(b.x.stage.Aggregates), b.rows.edges()
		if b.x.first == 0 && b.x.at == 0 {
			g.holds = b.x.having(b.views[which].view, keys, g.values)
		}
	}
	return g, nil
}

// noteChanges notes the changed elements of the row that is bound.
func (b *batch) noteChanges(s *search, g *group) {
	for _, e := range s.edges {
		if e == residual.None {
			continue
		}
		if order, ok := b.orderOf(dyngraph.EdgeIndex(e), s.view.Which()); ok {
			g.note(order)
		}
	}
	if !b.revising {
		return
	}
	for u, v := range s.vertices {
		if v == residual.None {
			continue
		}
		if order, ok := b.revision(u, v, s.view.Which()); ok {
			g.note(order)
		}
	}
}

// orderOf returns the order of the version of an edge that a view shows, if the batch deletes or inserts it.
func (b *batch) orderOf(e dyngraph.EdgeIndex, which dyngraph.Which) (uint32, bool) {
	sign, order, ok := b.graph.Staged(e)
	if !ok {
		return 0, false
	}
	n := &b.delta.Net[order]
	if n.Replaced && sign == dyngraph.Deleted && which == dyngraph.New {
		return order + 1, true
	}
	if n.Replaced && sign == dyngraph.Inserted && which == dyngraph.Old {
		return order - 1, true
	}
	return order, true
}

// revision returns the order of the version of a vertex that a view shows, if it is revised and that matters at the
// pattern vertex.
func (b *batch) revision(u int, v uint32, which dyngraph.Which) (uint32, bool) {
	if !b.x.matters(b.graph, u, dyngraph.VertexID(v)) {
		return 0, false
	}
	return b.revised(v, which)
}

// revised returns the order of the version of a vertex that a view shows, if it is revised.
func (b *batch) revised(v uint32, which dyngraph.Which) (uint32, bool) {
	r, ok := b.delta.RevisionOf(dyngraph.VertexID(v))
	if !ok {
		return 0, false
	}
	if which == dyngraph.Old {
		return r.Old, true
	}
	return r.New, true
}

// anchor returns the order of the change that makes or breaks a match: one of its own changes or, without any, one of
// its rows' in either view (DESIGN S19, S24).
func (b *batch) anchor(sign dyngraph.Sign, keys []uint32, before, after *group) uint32 {
	which := dyngraph.New
	if sign == dyngraph.Deleted {
		which = dyngraph.Old
	}
	var own group
	n := len(b.x.stage.Vertices)
	if b.revising {
		for i, u := range b.x.stage.Vertices {
			if order, ok := b.revision(u, keys[i], which); ok {
				own.note(order)
			}
		}
	}
	for i := range b.x.stage.Edges {
		if order, ok := b.orderOf(dyngraph.EdgeIndex(keys[n+i]), which); ok {
			own.note(order)
		}
	}
	if !own.changed {
		for _, g := range []*group{before, after} {
			if g.changed {
				own.note(g.least)
				own.note(g.most)
			}
		}
	}
	if sign == dyngraph.Deleted {
		return own.least
	}
	return own.most
}

// collect finds the keys of all groups that have a row with a changed element in either view.
func (b *batch) collect() error {
	for i := range b.delta.Net {
		n := &b.delta.Net[i]
		which := dyngraph.New
		if n.Sign == dyngraph.Deleted {
			which = dyngraph.Old
		}
		for _, of := range b.lengths {
			if err := of.collectFrom(of.views[which], n, uint32(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// collectFrom is collect for one changed element.
func (b *batch) collectFrom(s *search, n *dyngraph.NetEdge, order uint32) error {
	s.found = func() error {
		b.addKeys(s)
		return nil
	}
	var err error
	switch {
	case !n.Vertex:
		err = b.fromEdge(s, n, order)
	case n.Revised:
		err = b.fromVertex(s, uint32(n.From))
	}
	if err != nil {
		return err
	}
	return b.collectDenied(s, n)
}

func (b *batch) fromEdge(s *search, n *dyngraph.NetEdge, order uint32) error {
	for e := range b.x.g.Edges {
		if !matcher.LabelFits(b.x.pattern.Edges[e].Label, n.Label) || b.atHub(n, order, e) {
			continue
		}
		for _, reversed := range b.x.orientations(e) {
			s.clear()
			if err := s.withEdge(e, n.Edge, reversed, func() error { return s.run(b.x.fromEdge[e]) }); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *batch) fromVertex(s *search, v uint32) error {
	for u := range b.x.g.Vertices {
		if !b.x.mayChange(b.graph, u, dyngraph.VertexID(v)) {
			continue
		}
		s.clear()
		if !s.bindVertex(u, v) {
			continue
		}
		if err := s.run(b.x.fromVertex[u]); err != nil {
			return err
		}
	}
	return nil
}

// addKeys notes the keys that are bound.
func (b *batch) addKeys(s *search) {
	var room [16]byte
	text := room[:0]
	for _, u := range b.x.stage.Vertices {
		text = binary.LittleEndian.AppendUint32(text, s.vertices[u])
	}
	for _, e := range b.x.stage.Edges {
		text = binary.LittleEndian.AppendUint32(text, s.edges[e])
	}
	if _, ok := b.keys[string(text)]; ok {
		return
	}
	keys := make([]uint32, len(text)/4)
	for i := range keys {
		keys[i] = binary.LittleEndian.Uint32(text[4*i:])
	}
	b.keys[string(text)] = keys
}
