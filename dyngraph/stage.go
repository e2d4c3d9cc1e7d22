package dyngraph

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"motifd/dyngraph/property"
)

// staged is the batch between Stage and Commit or Abort, and its buffers, which later batches use again.
type staged struct {
	active       bool
	delta        Delta
	labelsBefore int
	boundBefore  uint32
	edgesBefore  uint32   // edgeBound
	renewed      []Attr   // by index into delta.Renewed, which ascends
	renewedAt    []uint32 // by order of a replaced edge's old version: index into renewed
	reused       []VertexRecord
	revised      []revision // by place, then id
	reviseTo     []property.Value
	olds, news   []vertexVersion // of either sign, in their order
	oldsIn       int             // how many are in Delta.Net
	newsIn       int
	inserts      []slot // adjacency entries of the inserted edges, sorted
	deletes      []slot // likewise of the deleted ones
	insertsAt    []int  // their slots, or any numbers; see pma.insert
	deletesAt    []int
	deletesWere  []uint32   // their slots before the insertions, or noSlot
	parallel     []LabelID  // that have parallel edges since this batch
	unnamed      []edgePair // of deletions without id that found no edge
	replaces     []slot     // likewise of the replaced edges
	replacesAt   []int
	declared     declared // see StageDeclaration

	sorter   sorter
	births   []birth
	items    []netItem
	stayed   []stayedEdge
	inserted int // edges
	net      int // net edges
	sorted   []netItem
	starts   []uint32
}

type birth struct {
	at   uint64
	vert int32
}

// netItem is a net edge with the data for staging it.
type netItem struct {
	NetEdge
	attr   int32     // of an insertion: the update whose attributes it takes, or none
	source EdgeIndex // then those of this edge
	slot   uint32    // of a deletion: the slot of its entry under one end, or noSlot
	slotTo bool      // that end is To
	beside bool      // of an insertion: the graph has an edge parallel to it
}

// foundAt notes the slot of an entry of the edge.
func (n *netItem) foundAt(slot int, atTo bool) {
	n.slot, n.slotTo = noSlot, atTo
	if slot < int(noSlot) {
		n.slot = uint32(slot)
	}
}

// renewedValues returns the new attributes of the edge with an order of the side table, if it is replaced.
func (s *staged) renewedValues(order uint32) *Attr {
	if order&(stagedDeleted|Replaced) != Replaced {
		return nil
	}
	return &s.renewed[s.renewedAt[order&^Replaced-1]]
}

// stayedEdge is an edge that is in both graphs and takes the attributes of an update.
type stayedEdge struct {
	edge EdgeIndex
	upd  int32
}

func (s *staged) renewal(e EdgeIndex) (Attr, bool) {
	if len(s.delta.Renewed) == 0 {
		return Attr{}, false
	}
	i, ok := slices.BinarySearch(s.delta.Renewed, e)
	if !ok {
		return Attr{}, false
	}
	return s.renewed[i], true
}

// Stage folds the updates to their net effect (DESIGN S3) and shows it: inserted edges go in physically, deleted ones
// stay, and every entry of either is marked. The updates must be what Accept took from messages, judged against the
// graph as it is now. Updates that Accept would refuse for a contradiction, a self-loop or a limit give an error, and
// the graph is as before; keys and labels are not examined again.
//
// Labels are interned in the order of their first appearance in the InsertEdge and InsertVertex updates, and among
// those that ReviseVertex adds, inside one in the order FromLabel, ToLabel, Label, whether or not anything with that
// label is left when the batch ends. Deletions intern nothing.
//
// New vertex ids go to the keys that end the batch as another vertex than they began it, in the order in which they
// became so: when the key came into being, or got its label. From comes before To. The lowest free id goes first. A
// vertex that comes and goes inside the batch gets no id. Ids and edge indexes that the last batch but one freed are
// free from here on.
func (g *Graph) Stage(updates []Update) (*Delta, error) {
	if g.staged.active {
		return nil, ErrStaged
	}
	if len(updates) > math.MaxInt32 {
		return nil, fmt.Errorf("dyngraph: a batch of %d updates is too long; the most is %d", len(updates),
			math.MaxInt32)
	}
	s := &g.staged
	s.labelsBefore, s.boundBefore, s.edgesBefore = len(g.labels.names), g.bound, g.edgeBound
	defer g.fold.reset()
	err := g.fold.run(g, updates)
	if err == nil {
		s.collect(g, updates)
		err = g.room()
	}
	if err != nil {
		g.unresolve() // not all of them are known
		g.labels.truncate(s.labelsBefore)
		s.clear()
		return nil, err
	}
	addAll(&g.free, g.older)
	addAll(&g.freeEdges, g.olderEdges)
	g.stageVertices()
	g.stageEdges(updates)
	s.touch()
	s.active = true
	return &s.delta, nil
}

// collect finds in the fold the vertices that come and go, the edges that stay, and how many come; and what plain
// updates do.
func (s *staged) collect(g *Graph, updates []Update) {
	f := &g.fold
	for i := range f.verts {
		v := &f.verts[i]
		if v.old != NoVertex && (v.cur == none || !f.incs[v.cur].old) {
			s.delta.Freed = append(s.delta.Freed, v.old)
		}
		if v.cur != none {
			if f.incs[v.cur].old {
				v.id = v.old
			} else {
				s.births = append(s.births, birth{f.incs[v.cur].birth, int32(i)})
			}
		}
	}
	slices.Sort(s.delta.Freed)
	slices.SortFunc(s.births, func(a, b birth) int { return cmp.Compare(a.at, b.at) })
	net := 0
	for i := range f.edges {
		e := &f.edges[i]
		if e.expired() {
			continue // to collectExpired
		}
		if e.old != NoEdge && g.expires(e.old) {
			g.outlived(e.old)
		}
		switch {
		case e.present && e.old == NoEdge:
			s.inserted++
			net++
		case e.present && e.upd != none:
			s.stays(g, updates, stayedEdge{e.old, e.upd}, e.updateIndex)
		case !e.present && e.old != NoEdge:
			net++
		}
	}
	s.collectPlain(g, updates)
	if len(g.expiry.horizons) > 0 {
		s.collectExpired(g)
	}
	if g.isolated {
		s.removeIsolated(g)
	}
	s.collectRevised(g)
	s.net = net + len(s.items) + 2*len(s.revised)
	if g.listVertices {
		s.net += len(s.delta.Freed) + len(s.births)
	}
}

// room tells whether there are enough ids, labels and indexes for the batch.
func (g *Graph) room() error {
	s := &g.staged
	if n := len(g.labels.names); n > g.opt.MaxLabels {
		return refuse(ReasonLabelLimit, "%d labels are too many; the table holds %d", n, g.opt.MaxLabels)
	}
	if ids := g.idsInUse() + uint64(len(s.births)); ids > uint64(g.opt.MaxVertices) {
		return refuse(ReasonVertexLimit, "%d vertex ids are too many; the most is %d", ids, g.opt.MaxVertices)
	}
	if n := g.edgesInUse() + uint64(s.inserted); n > uint64(g.maxEdges) {
		return refuse(ReasonEdgeLimit, "%d edges are too many; the most is %d", n, g.maxEdges)
	}
	if s.net >= Replaced {
		return refuse(ReasonEdgeLimit, "the batch changes %d edges and vertices; at most %d can change at once", s.net,
			Replaced-1)
	}
	return nil
}

// idsInUse counts the ids that the next batch cannot give out: those of vertices, and those that the last batch freed.
func (g *Graph) idsInUse() uint64 { return uint64(g.bound) - uint64(g.free.len()+len(g.older)) }

// edgesInUse is the same for edge indexes.
func (g *Graph) edgesInUse() uint64 {
	return uint64(g.edgeBound) - uint64(g.freeEdges.len()+len(g.olderEdges))
}

func (g *Graph) stageVertices() {
	s, f := &g.staged, &g.fold
	for _, id := range s.delta.Freed {
		g.vstate[id] = 1 << Old
		g.dropKey(id)
	}
	for _, b := range s.births {
		v := &f.verts[b.vert]
		key := f.key(b.vert)
		if v.old == NoVertex {
			key = strings.Clone(key) // do not keep the record that it came in alive
		}
		id := VertexID(g.bound)
		if free, ok := g.free.takeLowest(); ok {
			id = VertexID(free)
			s.reused = append(s.reused, VertexRecord{ID: id, Key: g.vkey[id], Label: g.vlabel[id]})
		} else {
			g.bound++
			g.growVertices()
		}
		v.id = id
		g.putVertex(id, key, f.incs[v.cur].label, 1<<New)
		g.giveValues(id, v)
		g.setImplied(id, g.isolated && !v.declared)
		s.delta.Created = append(s.delta.Created, id)
	}
}

func (g *Graph) growVertices() {
	n := int(g.bound)
	s, bg := &g.spares, background(g.opt.Background)
	g.vkey, g.vlabel = s.vkey.grown(bg, g.vkey, n), s.vlabel.grown(bg, g.vlabel, n)
	g.vstate = s.vstate.grown(bg, g.vstate, n)
	g.adj.grow(n)
}

func (g *Graph) growEdges() {
	n := int(g.edgeBound)
	s, bg := &g.spares, background(g.opt.Background)
	g.adj.edges, g.order = s.edges.grown(bg, g.adj.edges, n), s.order.grown(bg, g.order, n)
}

// touch lists the touched vertices. The entries, sorted by vertex, give the ends of the net edges.
func (s *staged) touch() {
	d := &s.delta
	a, b := s.inserts, s.deletes
	t := grown(d.Touched[:0], len(a)+len(b))
	n, last := 0, NoVertex
	for len(a) > 0 && len(b) > 0 {
		// No branch: it could not be predicted which of two random vertices is less.
		v, w := a[0].vertex(), b[0].vertex()
		x, fromA, fromB := min(v, w), 0, 0
		if v <= w {
			fromA = 1
		}
		if w <= v {
			fromB = 1
		}
		a, b = a[fromA:], b[fromB:]
		t[n] = x
		if x != last {
			n++
		}
		last = x
	}
	for _, rest := range [2][]slot{a, b} {
		for i := range rest {
			if v := rest[i].vertex(); v != last {
				t[n], last = v, v
				n++
			}
		}
	}
	d.Touched = t[:n]
	if len(d.Created)+len(d.Freed) > 0 {
		d.Touched = append(append(d.Touched, d.Created...), d.Freed...)
		slices.Sort(d.Touched)
		d.Touched = slices.Compact(d.Touched)
	}
}

// clear empties the buffers.
func (s *staged) clear() {
	d := &s.delta
	d.Net, d.Touched, d.Renewed = emptied(d.Net), emptied(d.Touched), emptied(d.Renewed)
	d.Created, d.Freed, d.Declared = emptied(d.Created), emptied(d.Freed), emptied(d.Declared)
	d.NewTriples, d.NewParallel, d.Replaced, d.Expired, d.Late, d.Unnamed = false, false, 0, 0, 0, 0
	s.parallel, s.unnamed = emptied(s.parallel), emptied(s.unnamed)
	d.Revised, d.Absent = emptied(d.Revised), 0
	clear(s.reviseTo)
	s.revised, s.reviseTo = emptied(s.revised), emptied(s.reviseTo)
	s.olds, s.news, s.oldsIn, s.newsIn = emptied(s.olds), emptied(s.news), 0, 0
	d.Listed, d.Isolated = 0, 0
	clear(s.renewed)
	clear(s.reused)
	s.renewed, s.reused = emptied(s.renewed), emptied(s.reused)
	s.inserts, s.deletes = emptied(s.inserts), emptied(s.deletes)
	s.replaces, s.replacesAt, s.renewedAt = emptied(s.replaces), emptied(s.replacesAt), emptied(s.renewedAt)
	s.insertsAt, s.deletesAt, s.deletesWere = emptied(s.insertsAt), emptied(s.deletesAt), emptied(s.deletesWere)
	s.stayed, s.inserted, s.net = emptied(s.stayed), 0, 0
	s.births, s.items, s.sorted, s.starts = emptied(s.births), emptied(s.items), emptied(s.sorted), emptied(s.starts)
	s.declared = declared{}
	s.active = false
}
