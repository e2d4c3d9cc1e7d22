package dyngraph

import (
	"cmp"
	"slices"
)

// Commit ends the staged batch: G_n becomes the graph. It does nothing when no batch is staged.
//
// Vertices and edges that the batch deleted keep their names (key, label, an edge's ends and attributes) until Stage of
// the batch after next.
func (g *Graph) Commit() {
	s := &g.staged
	if !s.active {
		return
	}
	g.adj.unmark(s.inserts, s.insertsAt)
	g.adj.unmark(s.replaces, s.replacesAt)
	g.adj.remove(s.deletes, s.deletesAt)
	g.older, g.newer = append(g.older[:0:0], g.newer...), append([]VertexID(nil), s.delta.Freed...)
	g.olderEdges, g.newerEdges = g.newerEdges, emptied(g.olderEdges)
	g.unresolve()
	for i := range s.sorted {
		if i+fetchAhead < len(s.sorted) {
			g.fetchOrder(s.sorted[i+fetchAhead].Edge)
		}
		n := &s.sorted[i]
		g.order[n.Edge] = 0
		switch {
		case n.Replaced:
		case n.Sign == Deleted:
			g.dropEdge(n)
			g.leaveCalendar(n.Edge)
			g.newerEdges = append(g.newerEdges, n.Edge)
		default:
			g.enterCalendar(n.Edge)
		}
	}
	for i, e := range s.delta.Renewed {
		g.renewAttr(e, &s.renewed[i])
	}
	for class, h := range g.expiry.horizons {
		g.expiry.calendar.dropBefore(class, h.Before)
	}
	g.commitRevised()
	g.commitDeclared()
	for _, id := range s.delta.Declared {
		g.setImplied(id, false)
	}
	g.sweep = false
	for _, id := range s.delta.Freed {
		g.dropVertex(id)
	}
	for _, id := range s.delta.Created {
		g.vstate[id] = inBoth
	}
	s.clear()
}

// Abort takes the staged batch back: the graph, its ids, labels and statistics are as before Stage; the layout of the
// array need not be. It does nothing when no batch is staged.
func (g *Graph) Abort() {
	s := &g.staged
	if !s.active {
		return
	}
	g.adj.unmark(s.deletes, s.deletesAt)
	g.adj.unmark(s.replaces, s.replacesAt)
	g.adj.remove(s.inserts, nil)
	for i := range s.sorted {
		n := &s.sorted[i]
		g.order[n.Edge] = 0
		if n.Sign == Inserted && !n.Replaced {
			g.dropEdge(n)
			g.attr.clear(n.Edge)
			if uint32(n.Edge) < s.edgesBefore {
				g.freeEdges.add(uint32(n.Edge))
			}
		}
	}
	g.edgeBound = s.edgesBefore
	for _, id := range s.delta.Created {
		g.dropVertex(id)
		g.dropKey(id)
		g.vkey[id] = ""
		g.vlabel[id] = NoLabel
		g.setValues(id, nil)
		if uint32(id) < s.boundBefore {
			g.free.add(uint32(id))
		}
	}
	g.bound = s.boundBefore
	for _, r := range s.reused {
		g.vkey[r.ID] = r.Key
		g.vlabel[r.ID] = r.Label
	}
	for _, id := range s.delta.Freed {
		g.vstate[id] = inBoth
		g.putKey(id)
	}
	for _, id := range g.older {
		g.free.remove(uint32(id))
	}
	for _, e := range g.olderEdges {
		g.freeEdges.remove(uint32(e))
	}
	g.parallel.forget(s.parallel)
	g.labels.truncate(s.labelsBefore)
	s.clear()
}

// renewAttr gives an edge new attributes.
func (g *Graph) renewAttr(e EdgeIndex, a *Attr) {
	ts, has := g.attr.time(e)
	if has == a.HasTS && (!has || ts == a.TS) {
		g.attr.set(e, a)
		return
	}
	g.leaveCalendar(e)
	g.attr.set(e, a)
	g.enterCalendar(e)
}

// dropEdge takes an edge out of the counts; its id is still there.
func (g *Graph) dropEdge(n *netItem) {
	g.nedges--
	g.parallel.drop(&n.NetEdge, g)
	g.stats.addTriple(g.tripleKey(n.Labels[0], n.Label, n.Labels[1]), -1)
}

func (g *Graph) dropVertex(id VertexID) {
	g.vstate[id] = 0
	g.nverts--
	g.stats.addVertex(g.vlabel[id], -1)
}

// putVertex enters a vertex under an id that is below the bound, and counts it.
func (g *Graph) putVertex(id VertexID, key string, l LabelID, state vertexBits) {
	g.vkey[id], g.vstate[id] = key, state
	g.vlabel[id] = l
	g.putKey(id)
	g.nverts++
	g.stats.addVertex(l, 1)
}

// findSlot looks an edge up from the end with fewer entries, and returns the slot of its entry there and whether that
// end is to. The id is "" unless it identifies edges.
func (g *Graph) findSlot(from, to VertexID, l LabelID, id string) (at int, atTo, ok bool) {
	back := In
	if !g.opt.Directed {
		back = Out
	}
	const near = leafSize // entries in which it is found as fast as the other end's number is
	row, nbr := rowKey(from, Out, l), to
	if d := g.Degree(from, Out); d > near && g.Degree(to, back) < d {
		row, nbr, atTo = rowKey(to, back, l), from, true
	}
	if at, ok = g.adj.lookup(row, nbr, 0); ok && g.opt.EdgeIDs {
		at, ok = g.findID(at, row, nbr, edgePair{from, to, l}, id)
	}
	return at, atTo, ok
}

// Effect returns everything that the staged batch changed. Call it between Stage and Commit; edges are in the order of
// Delta.Net, renewed ones, the replaced ones among them, ascending by (from, label, to, id), revised vertices by id.
func (g *Graph) Effect() Effect {
	s := &g.staged
	if !s.active {
		return Effect{LabelsBefore: len(g.labels.names)}
	}
	r := Effect{
		LabelsBefore: s.labelsBefore,
		NewLabels:    slices.Clone(g.labels.names[s.labelsBefore:]),
		Created:      g.records(s.delta.Created),
		Freed:        g.records(s.delta.Freed),
		Declared:     g.records(s.delta.Declared),
		Released:     slices.Clone(g.older),
	}
	r.Inserted = slices.Grow(r.Inserted, s.delta.Inserted()-s.delta.Replaced)
	r.Deleted = slices.Grow(r.Deleted, s.delta.Deleted()-s.delta.Replaced)
	for i := range s.delta.Net {
		if s.delta.Net[i].Replaced || s.delta.Net[i].Vertex {
			continue // under Renewed, or Revised, Created and Freed
		}
		rec := g.edgeRecord(s.delta.Net[i].Edge)
		if s.delta.Net[i].Sign == Inserted {
			r.Inserted = append(r.Inserted, rec)
		} else {
			r.Deleted = append(r.Deleted, rec)
		}
	}
	for i, e := range s.delta.Renewed {
		rec := g.edgeRecord(e)
		rec.Attr, rec.Previous = s.renewed[i], rec.Attr
		r.Renewed = append(r.Renewed, rec)
	}
	slices.SortFunc(r.Renewed, compareRecords)
	for i := range s.delta.Revised {
		id := s.delta.Revised[i].Vertex
		rec := g.vertexRecord(id)
		rec.Values, rec.Previous = g.View(New).VertexValues(id), rec.Values
		if _, declared := slices.BinarySearch(s.delta.Declared, id); declared {
			rec.Implied = false
		}
		r.Revised = append(r.Revised, rec)
	}
	s.declared.addTo(&r, g)
	return r
}

func (g *Graph) records(ids []VertexID) []VertexRecord {
	if len(ids) == 0 {
		return nil
	}
	r := make([]VertexRecord, len(ids))
	for i, id := range ids {
		r[i] = g.vertexRecord(id)
	}
	return r
}

// vertexRecord returns a vertex with its values before the staged batch.
func (g *Graph) vertexRecord(id VertexID) VertexRecord {
	return VertexRecord{ID: id, Key: g.vkey[id], Label: g.vlabel[id], Values: valuesAt(g.vertexValues, uint32(id)),
		Implied: g.isImplied(id)}
}

func (g *Graph) edgeRecord(e EdgeIndex) EdgeRecord {
	x := &g.adj.edges[e]
	return EdgeRecord{From: x.from, Label: x.label, To: x.to, Attr: g.attr.get(e)}
}

func compareRecords(a, b EdgeRecord) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Label, b.Label), cmp.Compare(a.To, b.To),
		cmp.Compare(a.Attr.ID, b.Attr.ID))
}
