package groups

import (
	"math"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/internal/residual"
)

// starState is the kept state of a hub of a star, as of the graph without the staged batch.
type starState struct {
	tally
	next  *tally    // with the staged batch; nil without one
	edges *timeList // the edges by ts, if some are listed; nil otherwise
}

// newStar counts the rows of a hub in a view.
func (b *batch) newStar(hub uint32, which dyngraph.Which) (*starState, error) {
	s := b.views[which]
	st := &starState{tally: newTally(b.x)}
	seen := make(map[uint32]struct{})
	several := matcher.SeveralLabels(b.x.pattern.Edges[b.x.shape.member.edge].Label)
	last := residual.None // neighbours of one label ascend
	var entries []entry
	err := s.eachEdge(&b.x.shape.member, hub, func(e, other uint32) error {
		st.add(s, 1)
		if b.collects {
			ts, err := starTime(s.view.Value(dyngraph.EdgeIndex(e), property.TS))
			if err != nil {
				return err
			}
			entries = append(entries, entry{ts: ts, edge: e, other: other})
		}
		if several {
			seen[other] = struct{}{}
		} else if other != last {
			last = other
			st.distinct++
		}
		return nil
	})
	if several {
		st.distinct = uint64(len(seen))
	}
	if b.collects {
		l := newTimeList(entries)
		st.edges = &l
	}
	return st, err
}

// starTime returns a ts as it is in the list of a star: an edge without one comes before all others.
func starTime(ts property.Value) (int64, error) {
	if ts.IsNull() {
		return math.MinInt64, nil
	}
	return ts.Whole(), checkNear(ts)
}

// listed has a group list what a view has; see batch.listed.
func (st *starState) listed(b *batch, g *group, which dyngraph.Which) {
	if st.edges != nil {
		b.listed(g, st.edges, st.edges.first, st.edges.end(), which)
	}
}

// star changes the state of a hub by the changed edges, and notes the group if it begins or ends.
func (b *batch) star(hub uint32, changes []hubChange, o *outcome) error {
	h := b.x.shape
	kept, err := h.state(hub, func(kept *hubState) (err error) {
		kept.star, err = b.newStar(hub, dyngraph.Old)
		return err
	})
	if err != nil {
		return err
	}
	st := kept.star
	next := st.clone()
	var orders [2]group // by which view
	touched := make(map[uint32]struct{})
	var listed [2][]entry // by which view
	for _, c := range changes {
		n := &b.delta.Net[c.order]
		which, sign := dyngraph.New, int64(1)
		if n.Sign == dyngraph.Deleted {
			which, sign = dyngraph.Old, -1
		}
		s := b.views[which]
		if !s.bindSpoke(&h.member, n.Edge) {
			continue
		}
		next.add(s, sign)
		if st.edges != nil {
			ts, err := starTime(s.view.Value(n.Edge, property.TS))
			if err != nil {
				return err
			}
			e := entry{ts: ts, edge: uint32(n.Edge), other: s.vertices[h.member.other]}
			listed[which] = append(listed[which], e)
		}
		orders[which].note(c.order)
		touched[s.vertices[h.member.other]] = struct{}{}
	}
	if st.edges != nil {
		st.edges.stage(listed[dyngraph.New], listed[dyngraph.Old])
	}
	for other := range touched {
		for which, by := range []uint64{^uint64(0), 1} { // less what was, and what is
			any, err := b.joined(dyngraph.Which(which), hub, other)
			if err != nil {
				return err
			}
			if any {
				next.distinct += by
			}
		}
	}
	st.next = &next
	keys := []uint32{hub}
	before := st.tally.group(b.x, b.views[dyngraph.Old].view, keys)
	after := next.group(b.x, b.views[dyngraph.New].view, keys)
	st.listed(b, &before, dyngraph.Old)
	st.listed(b, &after, dyngraph.New)
	before.changed, before.least, before.most = orders[0].changed, orders[0].least, orders[0].most
	after.changed, after.least, after.most = orders[1].changed, orders[1].least, orders[1].most
	return b.compare(o, keys, &before, &after)
}

// joined reports whether a view has an edge between a hub and another vertex that is a row.
func (b *batch) joined(which dyngraph.Which, hub, other uint32) (found bool, err error) {
	s, role := b.views[which], &b.x.shape.member
	note := func(uint32, uint32) error {
		found = true
		return nil
	}
	var room [8]dyngraph.LabelID
	labels := matcher.EachLabel(b.x.pattern.Edges[role.edge].Label)
	if len(labels) == 1 && labels[0] == matcher.AnyLabel {
		labels = b.graph.LabelsOf(dyngraph.VertexID(hub), role.dir, room[:0])
	}
	for _, l := range labels {
		if l == matcher.UnknownLabel {
			continue
		}
		r := b.graph.Range(dyngraph.VertexID(hub), role.dir, l)
		if err := s.eachOf(role, r.Among(dyngraph.VertexID(other)), note); err != nil || found {
			return found, err
		}
	}
	return found, nil
}

// settle makes the staged batch final.
func (st *starState) settle() {
	st.tally, st.next = *st.next, nil
	if st.edges != nil {
		st.edges.settle()
		st.edges.compact()
	}
}
