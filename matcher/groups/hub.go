package groups

import (
	"errors"
	"math"
	"math/big"
	"slices"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
)

// Two shapes have groups of very many rows, which are the edges of one key vertex, the hub (DESIGN A19):
//
//	star    MATCH (s)-[t]->(m) WITH m, ..
//	window  MATCH ()-[o]->(m) MATCH (s)-[t]->(m) WHERE t.ts <= o.ts AND o.ts - t.ts <= $day WITH m, o, ..
//
// For a hub with many edges state is kept, which an update changes. Other hubs are counted anew.

// spoke is a pattern edge between the hub and another vertex.
type spoke struct {
	edge, hub, other int
	dir              dyngraph.Dir // from the hub
}

// shape is the one of those two that a program has; nil for none.
type shape struct {
	member spoke
	pivot  *spoke // of a window
	// least and most bound ts of the member less ts of the pivot.
	least, most int64
	monotone    bool // more members never make the conditions behind WITH false
	degree      int  // from which on state is kept; below half of it, it is dropped
	states      map[uint32]*hubState
	touched     []uint32 // hubs whose states the staged batch has changed
}

// hubState is the state of a hub: one of the two.
type hubState struct {
	star   *starState
	window *windowState
}

// shapeOf returns the shape of a program, nil if it has none.
func shapeOf(x *program, hubDegree int) *shape {
	if !x.directed || slices.ContainsFunc(x.g.Edges, func(e matcher.QueryEdge) bool { return e.Either }) {
		return nil
	}
	h := &shape{degree: hubDegree, least: math.MinInt64, most: math.MaxInt64, states: map[uint32]*hubState{}}
	switch {
	case len(x.g.Edges) == 1 && len(x.stage.Vertices) == 1 && len(x.stage.Edges) == 0:
		h.member = x.spoke(0, x.stage.Vertices[0])
	case len(x.g.Edges) == 2 && len(x.stage.Matches) == 2 && len(x.stage.Edges) == 1:
		pivot := x.stage.Edges[0]
		m := x.shared()
		if m < 0 || slices.ContainsFunc(x.stage.Vertices, func(v int) bool {
			return v != x.g.Edges[pivot].From && v != x.g.Edges[pivot].To
		}) {
			return nil
		}
		h.member = x.spoke(1-pivot, m)
		p := x.spoke(pivot, m)
		h.pivot = &p
		if !h.windowed(x) {
			return nil
		}
	default:
		return nil
	}
	for _, m := range x.stage.Matches {
		if len(m.Edges) != 1 || len(m.Vertices) != 2 {
			return nil
		}
	}
	for _, a := range x.stage.Aggregates {
		if !h.keeps(&a) {
			return nil
		}
	}
	h.monotone = monotone(x) && !x.query.EmitsChanges()
	return h
}

func (x *program) spoke(e, hub int) spoke {
	of := x.g.Edges[e]
	if of.To == hub {
		return spoke{e, hub, of.From, dyngraph.In}
	}
	return spoke{e, hub, of.To, dyngraph.Out}
}

// shared returns the one vertex that two edges have in common, -1 if there is none or both are.
func (x *program) shared() int {
	a, b := x.g.Edges[0], x.g.Edges[1]
	at, n := -1, 0
	for _, v := range []int{a.From, a.To} {
		if v == b.From || v == b.To {
			at, n = v, n+1
		}
	}
	if n != 1 {
		return -1
	}
	return at
}

// windowed takes the conditions between the two edges as bounds of the difference of their ts. It reports whether all
// are such bounds, and there is at least one.
func (h *shape) windowed(x *program) bool {
	t, o := h.member.edge, h.pivot.edge
	timed := false // a row has both ts
	for _, c := range x.between {
		reads := map[bool]bool{} // of the member, of the pivot
		for _, r := range c.Elements {
			switch {
			case r.Edge && r.Index == t, !r.Edge && r.Index == h.member.other:
				reads[true] = true
			case r.Edge && r.Index == o, !r.Edge && r.Index == h.pivot.other:
				reads[false] = true
			}
		}
		if len(reads) < 2 {
			continue // of one of them and the hub
		}
		bounds, ok := c.Linears()
		if !ok {
			return false
		}
		for _, b := range bounds {
			if !h.takeBound(c, b) {
				return false
			}
		}
		timed = timed || len(bounds) > 0
	}
	return timed
}

// farTime bounds the ts of windows with kept state, so that differences are within int64: 73 million years.
const farTime = 1 << 61

// errFar ends a search with state for a ts beyond farTime.
var errFar = errors.New("groups: a ts is too far away")

// takeBound takes a bound of a weighted sum, if it is one of the difference of ts.
func (h *shape) takeBound(c *matcher.Condition, b condition.Linear) bool {
	if len(b.Weights) != 2 {
		return false
	}
	member := int64(0)
	for _, w := range b.Weights {
		r := c.Reads[w.Slot]
		if !r.Element.Edge || r.Column != property.TS || w.By != 1 && w.By != -1 {
			return false
		}
		if r.Element.Index == h.member.edge {
			member = w.By
		} else if r.Element.Index != h.pivot.edge {
			return false
		}
	}
	if b.Weights[0].By+b.Weights[1].By != 0 || member == 0 {
		return false
	}
	if b.Most.Cmp(big.NewInt(2*farTime)) >= 0 {
		return true // it always holds
	}
	most := int64(-2*farTime - 1) // no difference is below
	if b.Most.Cmp(big.NewInt(most)) > 0 {
		most = b.Most.Int64()
	}
	if member > 0 {
		h.most = min(h.most, most)
	} else {
		h.least = max(h.least, -most)
	}
	return true
}

// keeps reports whether the state of a hub has an aggregate.
func (h *shape) keeps(a *matcher.Aggregate) bool {
	fixed := func(r condition.Ref) bool { // it is the same in all rows, or one of the member
		if r.Edge {
			return r.Index == h.member.edge
		}
		return r.Index == h.member.other || r.Index == h.member.hub
	}
	switch a.Function {
	case matcher.CountDistinct:
		return fixed(*a.Of) && (a.Of.Edge || a.Of.Index != h.member.hub)
	case matcher.Collect:
		return a.Of.Index == h.member.edge
	case matcher.Sum:
		return !slices.ContainsFunc(a.Formula.Elements, func(r condition.Ref) bool { return !fixed(r) })
	}
	return true
}

// monotone reports whether all conditions behind WITH are lower bounds of counts.
func monotone(x *program) bool {
	for _, c := range x.stage.Having {
		relation, _, ok := c.WithConstant()
		if !ok || relation != condition.Ge && relation != condition.Gt {
			return false
		}
		for _, r := range c.Elements {
			if !r.Aggregate || x.stage.Aggregates[r.Index].Function == matcher.Sum {
				return false
			}
		}
	}
	return true
}

// tally has the totals of some rows: their number, the sums, and the number of distinct other ends.
type tally struct {
	rows, distinct uint64
	sums           []int128
}

func newTally(x *program) tally { return tally{sums: make([]int128, len(x.stage.Aggregates))} }

func (t *tally) clone() tally {
	return tally{t.rows, t.distinct, slices.Clone(t.sums)}
}

// values returns the aggregates.
func (t *tally) values(x *program) []condition.Wide {
	var a accumulator
	a.rows, a.sums = t.rows, t.sums
	return a.valuesWith(x.stage.Aggregates, func(i int) uint64 {
		if of := x.stage.Aggregates[i].Of; of.Edge {
			return t.rows
		}
		return t.distinct
	})
}

// group returns the group of the keys in a view.
func (t *tally) group(x *program, view dyngraph.View, keys []uint32) group {
	g := group{rows: t.rows}
	if g.rows > 0 {
		g.values = t.values(x)
		g.holds = x.having(view, keys, g.values)
	}
	return g
}

// add adds the bound row to the totals, except for the distinct ends; with sign -1 it takes the row off.
func (t *tally) add(s *search, sign int64) {
	t.rows += uint64(sign)
	for i := range s.x.stage.Aggregates {
		if s.x.stage.Aggregates[i].Function != matcher.Sum {
			continue
		}
		if v := s.summand(i); !v.IsNull() {
			if sign > 0 {
				t.sums[i] = t.sums[i].plus(v.Whole())
			} else {
				t.sums[i] = t.sums[i].minus(v.Whole())
			}
		}
	}
}

// isHub reports whether state is kept of a data vertex.
func (b *batch) isHub(v uint32) bool {
	h := b.x.shape
	if h == nil || b.stateless {
		return false
	}
	n := b.graph.Degree(dyngraph.VertexID(v), h.member.dir)
	if h.pivot != nil {
		n = max(n, b.graph.Degree(dyngraph.VertexID(v), h.pivot.dir))
	}
	if h.states[v] == nil {
		return n >= h.degree
	}
	if n < h.degree/2 {
		delete(h.states, v)
		return false
	}
	return true
}

// state returns the state of a hub; if there is none, made fills a new one.
func (h *shape) state(hub uint32, made func(*hubState) error) (*hubState, error) {
	h.touched = append(h.touched, hub)
	if kept := h.states[hub]; kept != nil {
		return kept, nil
	}
	kept := &hubState{}
	if err := made(kept); err != nil {
		return nil, err
	}
	h.states[hub] = kept
	return kept, nil
}

// settle makes the staged batch's changes of the states final.
func (h *shape) settle() {
	for _, hub := range h.touched {
		switch kept := h.states[hub]; {
		case kept.star != nil:
			kept.star.settle()
		default:
			kept.window.settle()
		}
	}
	h.touched = h.touched[:0]
}

// forget drops the states that the staged batch has changed.
func (h *shape) forget() {
	for _, hub := range h.touched {
		delete(h.states, hub)
	}
	h.touched = h.touched[:0]
}

// hubChange is a changed edge at a hub.
type hubChange struct {
	order uint32
	role  *spoke
}

// atHub notes a changed edge at a hub, and reports whether the edge, as pattern edge e, is at a hub.
func (b *batch) atHub(n *dyngraph.NetEdge, order uint32, e int) bool {
	h := b.x.shape
	if h == nil {
		return false
	}
	role := &h.member
	if e != role.edge {
		role = h.pivot
	}
	at := uint32(n.From)
	if role.dir == dyngraph.In {
		at = uint32(n.To)
	}
	if !b.isHub(at) {
		return false
	}
	b.hubs[at] = append(b.hubs[at], hubChange{order, role})
	return true
}

// eachEdge calls f for each edge of a hub in a view that can be the image of a spoke, with the row bound: the spoke's
// edge and both ends. Conditions of the spoke and the hub alone hold.
func (s *search) eachEdge(role *spoke, hub uint32, f func(e, other uint32) error) error {
	for _, l := range matcher.EachLabel(s.x.pattern.Edges[role.edge].Label) {
		r := s.graph.RangeAll(dyngraph.VertexID(hub), role.dir)
		if l != matcher.AnyLabel {
			if l == matcher.UnknownLabel {
				continue
			}
			r = s.graph.Range(dyngraph.VertexID(hub), role.dir, l)
		}
		if err := s.eachOf(role, r, f); err != nil {
			return err
		}
	}
	return nil
}

// eachOf is eachEdge for the edges of a range.
func (s *search) eachOf(role *spoke, r dyngraph.Range, f func(e, other uint32) error) error {
	for nbrs, ents, ok := r.Next(); ok; nbrs, ents, ok = r.Next() {
		for i, ent := range ents {
			if err := s.work.Step(); err != nil {
				return err
			}
			if ent.Staged() && !s.view.Visible(ent.Index()) {
				continue
			}
			var err error
			if s.bindSpoke(role, ent.Index()) {
				err = f(uint32(ent.Index()), uint32(nbrs[i]))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// bindSpoke maps a spoke alone, if the data edge fits and the conditions on it and its ends hold.
func (s *search) bindSpoke(role *spoke, d dyngraph.EdgeIndex) bool {
	s.clear()
	return s.bindEdge(role.edge, d, false) && s.extend.Given(s.x.fromEdge[role.edge], s.row)
}
