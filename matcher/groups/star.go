package groups

import (
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/internal/residual"
)

// starState is what is kept of a hub of a star, as of the graph without the staged batch.
type starState struct {
	tally
	next *tally // with the staged batch; nil without one
}

// newStar counts the rows of a hub in a view.
func (b *batch) newStar(hub uint32, which dyngraph.Which) (*starState, error) {
	s := b.views[which]
	st := &starState{tally: newTally(b.x)}
	seen := make(map[uint32]struct{})
	several := matcher.SeveralLabels(b.x.pattern.Edges[b.x.shape.member.edge].Label)
	last := residual.None // neighbours of one label ascend
	err := s.eachEdge(&b.x.shape.member, hub, func(_, other uint32) error {
		st.add(s, 1)
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
	return st, err
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
		orders[which].note(c.order)
		touched[s.vertices[h.member.other]] = struct{}{}
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
	before.changed, before.least, before.most = orders[0].changed, orders[0].least, orders[0].most
	after.changed, after.least, after.most = orders[1].changed, orders[1].least, orders[1].most
	b.compare(o, keys, &before, &after)
	return nil
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
