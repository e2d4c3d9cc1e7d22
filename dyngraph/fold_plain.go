package dyngraph

import (
	"cmp"
	"slices"
)

// A plain update is of an edge between two vertices that the graph knows, and that the batch neither deletes nor
// gives a label. Its edge is known by the vertices' ids and the label, so all that there is to an edge is its own
// updates: sorted by edge, they lie together, and the graph is asked about edges in the order in which it has them.

// plainOf is a plain update as an adjacency entry: that of its edge under From (in an undirected graph the lower
// end), with the index of the update in the batch as edge index, and marked when it is an insertion.
func (f *folder) plainOf(i int, r *resolved, l LabelID, op Op) slot {
	from, to := r.fromID, r.toID
	if !f.g.opt.Directed && from > to {
		from, to = to, from
	}
	return slot{rowKey(from, Out, l), to, EntryOf(EdgeIndex(i), op == InsertEdge)}
}

// divide interns the labels that updates declare and tells the plain updates from the others.
func (f *folder) divide(updates []Update) {
	g := f.g
	known := len(g.resolved)
	g.resolved = grown(g.resolved, len(updates))[:len(updates)]
	for i := range updates {
		if i%ahead == 0 {
			to := min(i+ahead, len(updates))
			g.resolveAll(updates, i, to, known)
			f.warmDeclared(updates[i:to], g.resolved[i:to])
		}
		u, r := &updates[i], &g.resolved[i]
		if g.Late(u) {
			g.staged.delta.Late++
			continue
		}
		var l LabelID
		switch u.Op {
		case InsertEdge:
			fl, tl := g.internEnds(u)
			l = g.labels.intern(u.Label)
			if g.several() {
				f.relabels(r.fromID, u.Op, u.FromLabel)
				f.relabels(r.toID, u.Op, u.ToLabel)
			}
			f.declared(r.fromID, fl)
			f.declared(r.toID, tl)
		case DeleteEdge:
			var ok bool
			if l, ok = g.labels.ids[u.Label]; !ok {
				continue // no such edge, in the graph or in the batch so far
			}
		case InsertVertex:
			if l := g.internVertex(u); g.several() {
				f.relabels(r.fromID, u.Op, u.Label)
			} else {
				f.declared(r.fromID, l)
			}
		case ReviseVertex:
			if g.several() {
				g.internAdded(u)
				f.relabels(r.fromID, u.Op, u.Label)
			}
		case DeleteVertex:
			if r.fromID != NoVertex {
				f.byID(r.fromID)
			}
		}
		if (u.Op == InsertEdge || u.Op == DeleteEdge) && r.fromID != NoVertex && r.toID != NoVertex &&
			r.fromID != r.toID {
			f.plain = append(f.plain, f.plainOf(i, r, l, u.Op))
		} else {
			f.others = append(f.others, int32(i))
		}
	}
	if len(f.verts) > 0 {
		f.reclaim()
	}
}

// declared takes a vertex into the fold that is given another label than it has.
func (f *folder) declared(id VertexID, l LabelID) {
	if id != NoVertex && l != NoLabel && l != f.g.vlabel[id] {
		f.byID(id)
	}
}

// reclaim finds among the plain updates those that are not, as a vertex of theirs is in the fold.
func (f *folder) reclaim() {
	plain := f.plain[:0]
	for _, o := range f.plain {
		if f.mark[o.vertex()]|f.mark[o.nbr] == 0 {
			plain = append(plain, o)
		} else {
			f.others = append(f.others, int32(o.ent.Index()))
		}
	}
	f.plain = plain
	slices.Sort(f.others)
}

// collectPlain finds what plain updates do.
func (s *staged) collectPlain(g *Graph, updates []Update) {
	ops := g.fold.plain
	s.sorter.sort(ops, g.bound)
	for i, warm := 0, 0; i < len(ops); {
		if i >= warm {
			warm = min(i+ahead, len(ops))
			g.warmPlain(ops[i:warm])
		}
		j := i + 1
		for j < len(ops) && ops[j].samePair(&ops[i]) {
			j++
		}
		if g.opt.EdgeIDs && j-i > 1 {
			s.collectPair(g, ops[i:j], updates)
		} else {
			s.collectEdge(g, ops[i:j], updates)
		}
		i = j
	}
}

// collectPair finds what the updates of edges between the same ends do, which may have different ids.
func (s *staged) collectPair(g *Graph, ops []slot, updates []Update) {
	id := func(o slot) string { return updates[o.ent.Index()].Attr.ID }
	slices.SortFunc(ops, func(a, b slot) int { return cmp.Or(cmp.Compare(id(a), id(b)), compareSlots(a, b)) })
	for i := 0; i < len(ops); {
		j := i + 1
		for j < len(ops) && id(ops[j]) == id(ops[i]) {
			j++
		}
		s.collectEdge(g, ops[i:j], updates)
		i = j
	}
}

// collectEdge finds what the updates of one edge do, which are in their order.
func (s *staged) collectEdge(g *Graph, ops []slot, updates []Update) {
	from, to, l := ops[0].vertex(), ops[0].nbr, labelOf(ops[0].row)
	id := g.idOf(&updates[ops[0].ent.Index()].Attr)
	at, atTo, was := g.findSlot(from, to, l, id)
	is, updateIndex, upd := was, never, none
	expired := was && g.expires(g.adj.ent[at].Index())
	if expired {
		is, updateIndex = false, AtExpiry
	}
	for _, o := range ops {
		insert, update := o.ent.Staged(), uint32(o.ent.Index())
		if insert {
			g.fold.follow(int32(update), upd)
			upd = int32(update)
		} else if !is && id == "" && g.opt.EdgeIDs {
			s.unnamed = append(s.unnamed, edgePair{from, to, l})
		}
		if insert != is {
			is, updateIndex = insert, update
		}
	}
	if expired {
		if updateIndex == AtExpiry {
			return // to collectExpired
		}
		g.outlived(g.adj.ent[at].Index())
	}
	if is == was {
		if is && upd != none {
			s.stays(g, updates, stayedEdge{g.adj.ent[at].Index(), upd}, updateIndex)
		}
		return
	}
	it := netItem{attr: upd, NetEdge: NetEdge{Sign: Inserted, Edge: NoEdge, From: from, To: to, Label: l,
		UpdateIndex: updateIndex}}
	it.Labels = [2]LabelID{g.vlabel[from], g.vlabel[to]}
	if was {
		it.Sign, it.Edge = Deleted, g.adj.ent[at].Index()
		it.foundAt(at, atTo)
	} else {
		s.inserted++
		it.beside = g.opt.EdgeIDs && g.hasPair(&it.NetEdge)
	}
	s.items = append(s.items, it)
}
