package dyngraph

import (
	"cmp"
	"slices"
)

// stageEdges orders the net edges, inserts the entries of inserted ones and marks those of deleted ones.
func (g *Graph) stageEdges(updates []Update) {
	s, f := &g.staged, &g.fold
	f.appendItems(s)
	s.sort(g, updates)
	s.delta.NewTriples = len(g.labels.names) > s.labelsBefore
	s.delta.Net, s.inserts = slices.Grow(s.delta.Net, len(s.sorted)), slices.Grow(s.inserts, 2*len(s.sorted))
	s.listVersions(g)
	versions := len(s.olds)+len(s.news) > 0
	for i := range s.sorted {
		if i%ahead == 0 {
			g.nameEdges(s.sorted[i:min(i+ahead, len(s.sorted))])
		}
		it := &s.sorted[i]
		if versions && it.UpdateIndex != AtExpiry {
			s.appendVersions(it.UpdateIndex)
		}
		order := uint32(len(s.delta.Net))
		if it.Replaced {
			if it.Sign == Deleted {
				s.delta.Replaced++
				s.replaces = g.appendSlots(s.replaces, &it.NetEdge, entryStaged)
			}
		} else if it.Sign == Inserted {
			g.putEdge(it)
			g.setAttr(it, updates)
			g.order[it.Edge] = order + 1
			s.inserts = g.appendSlots(s.inserts, &it.NetEdge, entryStaged)
		} else {
			g.order[it.Edge] = (order + 1) | stagedDeleted
			s.deletes = g.appendSlots(s.deletes, &it.NetEdge, entryStaged)
			s.nameSlots(i)
		}
		s.delta.Net = append(s.delta.Net, it.NetEdge)
	}
	s.appendVersions(never)
	s.sortRevised()
	s.sorter.sort(s.inserts, g.bound)
	s.sorter.sort(s.deletes, g.bound)
	s.insertsAt = g.adj.insert(s.inserts, s.insertsAt)
	g.stageParallel()
	g.renameSlots()
	s.deletesAt = g.adj.mark(s.deletes, s.deletesWere, s.deletesAt)
	g.renew(updates)
	g.showReplaced()
}

// appendItems appends the net edges in the fold to the items: those of all but plain updates. All vertices have ids.
func (f *folder) appendItems(s *staged) {
	s.items = slices.Grow(s.items, len(f.edges))
	for i := range f.edges {
		e := &f.edges[i]
		if e.present == (e.old != NoEdge) || e.expired() {
			continue
		}
		a, b := &f.incs[e.from], &f.incs[e.to]
		from, to := &f.verts[a.vert], &f.verts[b.vert]
		it := netItem{
			NetEdge: NetEdge{Edge: e.old, Label: e.label, UpdateIndex: e.updateIndex},
			attr:    e.upd,
			source:  e.source,
			slot:    e.slot,
			slotTo:  e.slotTo,
		}
		it.Labels = [2]LabelID{a.label, b.label}
		if e.present {
			it.Sign, it.From, it.To = Inserted, from.id, to.id
			it.beside = f.g.opt.EdgeIDs && a.old && b.old && f.g.hasPair(&it.NetEdge)
		} else {
			it.Sign, it.From, it.To = Deleted, from.old, to.old
		}
		if !f.g.opt.Directed && it.From > it.To {
			it.From, it.To = it.To, it.From
			it.Labels[0], it.Labels[1] = it.Labels[1], it.Labels[0]
			it.slotTo = !it.slotTo
		}
		s.items = append(s.items, it)
	}
}

// sort brings the net edges in their total order: those that have expired, as they are; then a counting sort by
// UpdateIndex, then by tuple for equal indexes.
func (s *staged) sort(g *Graph, updates []Update) {
	s.starts = append(s.starts[:0], make([]uint32, len(updates)+1)...)
	s.sorted = grown(s.sorted[:0], len(s.items))
	expired := 0
	for i := range s.items {
		if p := s.items[i].UpdateIndex; p == AtExpiry {
			s.sorted[expired] = s.items[i]
			expired++
		} else {
			s.starts[p+1]++
		}
	}
	s.starts[0] = uint32(expired)
	for p := range len(updates) {
		s.starts[p+1] += s.starts[p]
	}
	for i := range s.items {
		p := s.items[i].UpdateIndex
		if p == AtExpiry {
			continue
		}
		s.sorted[s.starts[p]] = s.items[i]
		s.starts[p]++
	}
	for i := expired; i < len(s.sorted); {
		j := i + 1
		for j < len(s.sorted) && s.sorted[j].UpdateIndex == s.sorted[i].UpdateIndex {
			j++
		}
		if j-i > 1 {
			slices.SortFunc(s.sorted[i:j], func(a, b netItem) int {
				return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Label, b.Label),
					cmp.Compare(g.itemID(&a, updates), g.itemID(&b, updates)), cmp.Compare(a.Sign, b.Sign))
			})
		}
		i = j
	}
}

// nameSlots puts the index of net edge i, in place of the edge's own, into the last two deletions: these are its
// entries. If the fold has found the slot of one of them, that one is flagged as staged. So both can be traced to their
// net edge after they are sorted.
func (s *staged) nameSlots(i int) {
	it := &s.sorted[i]
	d := s.deletes[len(s.deletes)-2:]
	d[0].ent = EntryOf(EdgeIndex(i), it.slot != noSlot && !it.slotTo)
	d[1].ent = EntryOf(EdgeIndex(i), it.slot != noSlot && it.slotTo)
}

// renameSlots undoes nameSlots once the deletions are sorted: they get their edge indexes back. Into deletesWere it
// puts the slots that the fold found, noSlot where it found none.
func (g *Graph) renameSlots() {
	s := &g.staged
	s.deletesWere = grown(s.deletesWere[:0], len(s.deletes))
	for i := range s.deletes {
		d := &s.deletes[i]
		it := &s.sorted[d.ent.Index()]
		s.deletesWere[i] = noSlot
		if d.ent.Staged() {
			s.deletesWere[i] = it.slot
		}
		d.ent = EntryOf(it.Edge, true)
	}
	if g.parallel.labels > 0 {
		s.sortRenamed()
	}
}

// sortRenamed sorts the deletions of parallel edges again: the indexes of net edges are not in the order of edge
// indexes.
func (s *staged) sortRenamed() {
	type named struct {
		slot
		was uint32
	}
	var pair []named
	for i := 0; i < len(s.deletes); {
		pair = pair[:0]
		for k := i; k < len(s.deletes) && s.deletes[k].samePair(&s.deletes[i]); k++ {
			pair = append(pair, named{s.deletes[k], s.deletesWere[k]})
		}
		slices.SortFunc(pair, func(a, b named) int { return compareSlots(a.slot, b.slot) })
		for k := range pair {
			s.deletes[i+k], s.deletesWere[i+k] = pair[k].slot, pair[k].was
		}
		i += len(pair)
	}
}

// nameEdges gives inserted edges their indexes, and reads ahead the columns by edge there.
func (g *Graph) nameEdges(items []netItem) {
	for i := range items {
		it := &items[i]
		if it.Sign != Inserted || it.Replaced {
			continue
		}
		if free, ok := g.freeEdges.takeLowest(); ok {
			it.Edge = EdgeIndex(free)
			continue
		}
		it.Edge = EdgeIndex(g.edgeBound)
		g.edgeBound++
		g.growEdges()
	}
	g.warmEdges(items)
}

// putEdge enters an inserted edge, which has its index, and counts it.
func (g *Graph) putEdge(n *netItem) {
	g.adj.edges[n.Edge] = edge{n.From, n.To, n.Label}
	g.nedges++
	if g.stats.addTriple(g.tripleKey(n.Labels[0], n.Label, n.Labels[1]), 1) == 0 {
		g.staged.delta.NewTriples = true
	}
}

// setAttr gives an inserted edge its attributes.
func (g *Graph) setAttr(n *netItem, updates []Update) {
	if n.attr != none {
		g.attr.set(n.Edge, &updates[n.attr].Attr)
		return
	}
	a := g.attr.get(n.source) // one of its ends got a label
	g.attr.set(n.Edge, &a)
}

// renew notes the edges that stay and get other attributes.
func (g *Graph) renew(updates []Update) {
	s := &g.staged
	for _, e := range s.stayed {
		if !g.attr.are(e.edge, &updates[e.upd].Attr) {
			s.delta.Renewed = append(s.delta.Renewed, e.edge)
			g.order[e.edge] = uint32(e.upd) // borrowed until the renewals are sorted
		}
	}
	slices.Sort(s.delta.Renewed)
	for _, e := range s.delta.Renewed {
		s.renewed = append(s.renewed, updates[g.order[e]].Attr.normal())
		g.order[e] = 0
	}
}

// appendSlots appends the two adjacency entries of an edge.
func (g *Graph) appendSlots(dst []slot, n *NetEdge, flag Entry) []slot {
	back := In
	if !g.opt.Directed {
		back = Out
	}
	ent := Entry(n.Edge) | flag
	return append(dst,
		slot{rowKey(n.From, Out, n.Label), n.To, ent},
		slot{rowKey(n.To, back, n.Label), n.From, ent})
}
