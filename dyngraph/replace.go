package dyngraph

import (
	"slices"

	"motifd/dyngraph/property"
)

// An edge that is in both graphs and whose declared values, or declared time, differ is replaced (DESIGN S15): in the
// net effect the old version is deleted and the new one inserted, at one place. In the graph it stays where it is: the
// entries are marked, the new attributes wait among the renewed ones, and the side table of orders leads to them.

// follow notes the insertion whose attributes an edge had before it got those of another one.
func (f *folder) follow(upd, previous int32) {
	if len(f.previous) > 0 {
		f.previous[upd] = previous
	}
}

// stays notes an edge that is in both graphs and takes the attributes of an insertion. place is the last update that
// changed its presence, or never.
func (s *staged) stays(g *Graph, updates []Update, e stayedEdge, place uint32) {
	s.stayed = append(s.stayed, e)
	if g.opt.Schema == nil {
		return
	}
	place, ok := g.replacedBy(updates, e, place)
	if !ok {
		return
	}
	x := &g.adj.edges[e.edge]
	it := netItem{attr: none, slot: noSlot, NetEdge: NetEdge{Sign: Deleted, Replaced: true, Edge: e.edge, From: x.from,
		To: x.to, Label: x.label, UpdateIndex: place}}
	it.Labels = [2]LabelID{g.vlabel[x.from], g.vlabel[x.to]}
	s.items = append(s.items, it)
	it.Sign = Inserted
	s.items = append(s.items, it)
}

// replacedBy tells whether a declared value of the edge differs in the end, and the place of its net edges: the last
// update that changed its presence or such a value.
func (g *Graph) replacedBy(updates []Update, e stayedEdge, presence uint32) (place uint32, ok bool) {
	label := g.labels.names[g.adj.edges[e.edge].label]
	at := int64(-1)
	if presence != never {
		at = int64(presence)
	}
	differs := func(column int) {
		if g.attr.value(e.edge, column) != updates[e.upd].Attr.Value(column) {
			ok = true
			at = max(at, int64(g.fold.lastChange(updates, e.upd, column)))
		}
	}
	under := g.columns.Under(label)
	if under.Has(property.TS) {
		differs(property.TS)
	}
	for _, column := range under.All() {
		differs(column)
	}
	if !ok {
		return never, false
	}
	return uint32(at), true
}

// lastChange returns the last insertion that changed a value of an edge, which has the attributes of upd in the end and
// another value before the batch. The edge may have been absent since.
func (f *folder) lastChange(updates []Update, upd int32, column int) int32 {
	now := updates[upd].Attr.Value(column)
	for {
		before := f.previous[upd]
		if before == none || updates[before].Attr.Value(column) != now {
			return upd
		}
		upd = before
	}
}

// showReplaced enters the orders of the replaced edges and the places of their new attributes, which must be known, and
// marks their entries.
func (g *Graph) showReplaced() {
	s := &g.staged
	if s.delta.Replaced == 0 {
		return
	}
	s.sorter.sort(s.replaces, g.bound)
	s.replacesAt = g.adj.mark(s.replaces, nil, s.replacesAt)
	s.renewedAt = grown(s.renewedAt[:0], len(s.delta.Net))
	for i := range s.delta.Net {
		if n := &s.delta.Net[i]; n.Replaced && n.Sign == Deleted {
			at, _ := slices.BinarySearch(s.delta.Renewed, n.Edge)
			s.renewedAt[i] = uint32(at)
			g.order[n.Edge] = (uint32(i) + 1) | Replaced
		}
	}
}
