package dyngraph

import (
	"slices"

	"motifd/dyngraph/property"
)

// folder reduces a batch to its net effect (DESIGN S3).
//
// A vertex in the batch is a key; (key, label) is an incarnation of it, and an edge is identified by two incarnations
// and its label, and by its id where ids identify edges. So a vertex that ends the batch with the label it began with
// is the same as before, whatever was in between; under another label it is another vertex, and its edges are other
// edges. An edge is a net edge when it was present before the batch and is not after it, or the other way round; its
// UpdateIndex is that of the last update that changed its presence. The work is linear in the updates and in the
// degrees of vertices deleted or given a label.
//
// Most updates are plain and need none of this, see fold_plain.go; what follows is about the others.
//
// Folding reads the graph and interns labels, and changes nothing else.
type folder struct {
	g       *Graph
	plain   []slot  // the plain updates, as entries under From; see plainOf
	others  []int32 // the other updates
	verts   []foldVertex
	incs    []incarnation
	edges   []foldEdge
	table   edgeTable
	newKeys map[string]int32 // vertices whose key is not in the graph
	newIncs map[uint64]int32 // incarnations that are not from before the batch, by vertex and label
	mark    []uint32         // by dense id: index into verts, plus 1
	marks   spare[uint32]

	// previous is, by insertion, the one whose attributes the edge had before, or none: the versions of an edge in the
	// batch. Empty where no property is declared.
	previous []int32
	unnamed  []int32 // edges without id that were absent when an update deleted them

	// now and changed are, for the vertices whose values the batch may change, the values as the batch goes on, and the
	// last update that changed each; see foldVertex.values. Empty where no property of vertices is declared.
	now     []property.Value
	changed []uint32
	// relabelled is the last update that added or removed a label of a vertex, of those that the batch changes.
	relabelled map[labelOfVertex]uint32
	absent     int // operations =v on vertices that are not there
}

type foldVertex struct {
	key        string   // when it was absent before the batch
	old        VertexID // NoVertex when the key was absent before the batch
	id         VertexID // after the batch; NoVertex when absent
	cur        int32    // incarnation, or none
	oldInc     int32    // incarnation before the batch, or none
	edges      int32    // list of foldEdges, through nextFrom or nextTo
	values     int32    // its place in now and changed, or none: they are what they were before the batch
	enumerated bool     // all edges from before the batch are in the fold
	declared   bool     // a +v has declared it since it came into being
	linked     bool     // it is new and has edges; see removeIsolated
}

type incarnation struct {
	birth uint64 // when it last came into being: the update, and which end; or before
	vert  int32
	label LabelID
	death uint32 // the update that last took it away, if some has
	old   bool   // as before the batch
}

type foldEdge struct {
	from, to         int32 // incarnations; in an undirected graph from < to
	label            LabelID
	id               string    // "" unless it identifies edges
	old              EdgeIndex // NoEdge when absent before the batch
	source           EdgeIndex // whose attributes it takes when upd is none
	upd              int32     // the update whose attributes it takes
	updateIndex      uint32    // of the last update that changed its presence, or never
	before           uint32    // the same, when that update came
	nextFrom, nextTo int32
	slot             uint32 // where its entry under one end was before the batch, or noSlot
	slotTo           bool   // that end is to
	present          bool
	inFrom, inTo     bool // in the list of that end's vertex
}

const (
	none  = int32(-1)
	never = ^uint32(0)
	// before is the birth of an incarnation that has been there since before the batch.
	before = ^uint64(0)
	// noSlot is a slot that is not known, or too high for 32 bits.
	noSlot = ^uint32(0)
)

// set makes the edge present or absent. One update can do both, when it labels first one end and then the other: then
// it has changed nothing.
func (e *foldEdge) set(present bool, updateIndex uint32) {
	switch {
	case e.present == present:
		return
	case e.updateIndex == updateIndex:
		e.updateIndex = e.before
	default:
		e.before, e.updateIndex = e.updateIndex, updateIndex
	}
	e.present = present
}

// expired tells that the edge has expired and that no update concerns it, or none to any effect.
func (e *foldEdge) expired() bool { return !e.present && e.updateIndex == AtExpiry }

func (f *folder) reset() {
	for i := range f.verts {
		if id := f.verts[i].old; id != NoVertex {
			f.mark[id] = 0
		}
	}
	f.table.reset(f.edges)
	clear(f.verts) // lets the keys go
	if f.g != nil && f.g.opt.EdgeIDs {
		clear(f.edges) // likewise the ids
	}
	f.unnamed = emptied(f.unnamed)
	f.verts, f.incs, f.edges = emptied(f.verts), emptied(f.incs), emptied(f.edges)
	f.plain, f.others, f.previous = emptied(f.plain), emptied(f.others), emptied(f.previous)
	clear(f.now) // lets the texts go
	f.now, f.changed, f.absent = emptied(f.now), emptied(f.changed), 0
	f.newKeys, f.newIncs = emptiedMap(f.newKeys), emptiedMap(f.newIncs)
	f.relabelled = emptiedMap(f.relabelled)
}

// emptied keeps a buffer for the next batch, unless only a large batch needs it.
func emptied[T any](s []T) []T {
	const keep = 1 << 17
	if cap(s) > keep {
		return nil
	}
	return s[:0]
}

// emptiedMap does the same for a map; clearing one costs its capacity.
func emptiedMap[K comparable, V any](m map[K]V) map[K]V {
	const keep = 1 << 12
	if m == nil || len(m) > keep {
		return make(map[K]V)
	}
	clear(m)
	return m
}

// run folds the updates, but for the plain ones, which it finds. After an error the folder must still be reset.
func (f *folder) run(g *Graph, updates []Update) error {
	f.g = g
	f.mark = f.marks.grown(g.opt.Background, f.mark, int(g.bound))
	if g.opt.Schema != nil {
		f.previous = grown(f.previous, len(updates))
	}
	f.divide(updates)
	f.edges = slices.Grow(f.edges, len(f.others))
	for k, i := range f.others {
		if k%ahead == 0 {
			f.warm(updates, f.others[k:min(k+ahead, len(f.others))])
		}
		u, r := &updates[i], &g.resolved[i]
		updateIndex := uint32(i)
		switch u.Op {
		case InsertEdge:
			if selfLoop(r) {
				return refuse(ReasonSelfLoop, "edge from %s to itself", quote(u.From))
			}
			fl, tl := g.internEnds(u)
			l := g.labels.intern(u.Label)
			from, to := f.vertex(u.From, r.fromID), f.vertex(u.To, r.toID)
			if err := f.declare(from, fl, updateIndex, 0); err != nil {
				return err
			}
			if err := f.declare(to, tl, updateIndex, 1); err != nil {
				return err
			}
			f.relabel(from, u.Op, u.FromLabel, updateIndex)
			f.relabel(to, u.Op, u.ToLabel, updateIndex)
			e := f.edge(f.verts[from].cur, f.verts[to].cur, l, g.idOf(&u.Attr))
			f.follow(i, f.edges[e].upd)
			f.edges[e].upd = i
			f.setPresent(e, updateIndex)
		case DeleteEdge:
			from, to := f.known(u.From, r.fromID), f.known(u.To, r.toID)
			l, ok := g.labels.ids[u.Label]
			if !ok || from == none || to == none || from == to || f.verts[from].cur == none || f.verts[to].cur == none {
				continue
			}
			e := f.edge(f.verts[from].cur, f.verts[to].cur, l, g.idOf(&u.Attr))
			if !f.edges[e].present && g.opt.EdgeIDs && u.Attr.ID == "" {
				f.unnamed = append(f.unnamed, e)
			}
			f.edges[e].set(false, updateIndex)
		case InsertVertex:
			l := g.internVertex(u)
			v := f.vertex(u.Key, r.fromID)
			if err := f.declare(v, l, updateIndex, 0); err != nil {
				return err
			}
			f.verts[v].declared = true
			f.revise(v, u, updateIndex)
		case ReviseVertex:
			if v := f.known(u.Key, r.fromID); v != none && f.verts[v].cur != none {
				f.revise(v, u, updateIndex)
			} else {
				f.absent++
			}
		case DeleteVertex:
			if v := f.known(u.Key, r.fromID); v != none && f.verts[v].cur != none {
				f.kill(v, updateIndex)
			}
		default:
			return refuse(ReasonBadOp, "operation %d is unknown", uint8(u.Op))
		}
	}
	return nil
}

func (f *folder) key(v int32) string {
	if id := f.verts[v].old; id != NoVertex {
		return f.g.vkey[id]
	}
	return f.verts[v].key
}

// known returns the vertex of a key that the graph, as id, or the batch knows, or none.
func (f *folder) known(key string, id VertexID) int32 {
	if id != NoVertex {
		return f.byID(id)
	}
	if v, ok := f.newKeys[key]; ok {
		return v
	}
	return none
}

func (f *folder) vertex(key string, id VertexID) int32 {
	if v := f.known(key, id); v != none {
		return v
	}
	v := int32(len(f.verts))
	f.verts = append(f.verts, foldVertex{key: key, old: NoVertex, id: NoVertex, cur: none, oldInc: none, edges: none,
		values: none})
	f.newKeys[key] = v
	return v
}

func (f *folder) byID(id VertexID) int32 {
	if m := f.mark[id]; m != 0 {
		return int32(m - 1)
	}
	v, inc := int32(len(f.verts)), int32(len(f.incs))
	f.verts = append(f.verts, foldVertex{old: id, id: NoVertex, cur: inc, oldInc: inc, edges: none, values: none,
		declared: !f.g.isImplied(id)})
	f.incs = append(f.incs, incarnation{vert: v, label: f.g.vlabel[id], old: true, birth: before})
	f.mark[id] = uint32(v) + 1
	return v
}

// become makes (key, label) the vertex's present incarnation.
func (f *folder) become(v int32, l LabelID, birth uint64) {
	i := f.verts[v].oldInc
	if i == none || f.incs[i].label != l {
		k := uint64(v)<<32 | uint64(l)
		var ok bool
		if i, ok = f.newIncs[k]; !ok {
			i = int32(len(f.incs))
			f.incs = append(f.incs, incarnation{vert: v, label: l})
			f.newIncs[k] = i
		}
	}
	f.incs[i].birth = birth
	f.verts[v].cur = i
}

// declare makes the vertex present, and sets its label when it has none.
func (f *folder) declare(v int32, l LabelID, updateIndex uint32, end uint64) error {
	birth := uint64(updateIndex)<<1 | end
	cur := f.verts[v].cur
	if cur == none {
		f.become(v, l, birth)
		return nil
	}
	has := f.incs[cur].label
	if l == NoLabel || l == has {
		return nil
	}
	if has != NoLabel {
		return conflict(f.key(v), f.g.labels.names[has], f.g.labels.names[l])
	}
	f.enumerate(v)
	list := f.detach(v)
	f.incs[cur].death = updateIndex
	f.become(v, l, birth)
	now := f.verts[v].cur
	for i := list; i != none; {
		e := f.edges[i]
		atFrom := f.incs[e.from].vert == v
		if e.present {
			f.edges[i].set(false, updateIndex)
			from, to := e.from, now
			if atFrom {
				from, to = now, e.to
			}
			t := f.edge(from, to, e.label, e.id)
			f.edges[t].upd, f.edges[t].source = e.upd, e.source
			f.setPresent(t, updateIndex)
		}
		i = f.unlink(i, atFrom)
	}
	return nil
}

// kill deletes the vertex, its values and its edges.
func (f *folder) kill(v int32, updateIndex uint32) {
	f.clearValues(v, updateIndex)
	f.enumerate(v)
	list := f.detach(v)
	for i := list; i != none; {
		e := &f.edges[i]
		e.set(false, updateIndex)
		i = f.unlink(i, f.incs[e.from].vert == v)
	}
	f.incs[f.verts[v].cur].death = updateIndex
	f.verts[v].cur, f.verts[v].declared = none, false
}

// enumerate takes the vertex's edges from before the batch into the fold.
func (f *folder) enumerate(v int32) {
	if f.verts[v].enumerated || f.verts[v].old == NoVertex {
		return
	}
	f.verts[v].enumerated = true
	id := f.verts[v].old
	self := f.verts[v].oldInc
	for _, d := range [2]Dir{Out, In} {
		r := f.g.RangeAll(id, d)
		for nbr, ent, ok := r.Next(); ok; nbr, ent, ok = r.Next() {
			for k := range nbr {
				e := ent[k].Index()
				from, to := self, f.verts[f.byID(nbr[k])].oldInc
				if d == In {
					from, to = to, from
				}
				f.knownEdge(from, to, f.g.adj.edges[e].label, e)
			}
		}
	}
}

// edge returns the edge between two incarnations; on first sight it asks the graph whether it is there.
func (f *folder) edge(from, to int32, l LabelID, id string) int32 {
	if !f.g.opt.Directed && from > to {
		from, to = to, from
	}
	at, i := f.table.find(f.edges, from, to, l, id)
	if i != none {
		return i
	}
	if a, b := &f.incs[from], &f.incs[to]; a.old && b.old {
		if s, atTo, ok := f.g.findSlot(f.verts[a.vert].old, f.verts[b.vert].old, l, id); ok {
			i := f.addEdge(at, from, to, l, id, f.g.adj.ent[s].Index())
			if s < int(noSlot) {
				f.edges[i].slot, f.edges[i].slotTo = uint32(s), atTo
			}
			return i
		}
	}
	return f.addEdge(at, from, to, l, id, NoEdge)
}

// knownEdge is edge for one that the graph has.
func (f *folder) knownEdge(from, to int32, l LabelID, old EdgeIndex) {
	if !f.g.opt.Directed && from > to {
		from, to = to, from
	}
	id := f.g.edgeID(old)
	if at, i := f.table.find(f.edges, from, to, l, id); i == none {
		f.addEdge(at, from, to, l, id, old)
	}
}

func (f *folder) addEdge(at int, from, to int32, l LabelID, id string, old EdgeIndex) int32 {
	i := int32(len(f.edges))
	place, present := never, old != NoEdge
	if present && f.g.expires(old) {
		place, present = AtExpiry, false
	}
	f.edges = append(f.edges, foldEdge{
		from: from, to: to, label: l, id: id, old: old, source: old, upd: none,
		updateIndex: place, before: place, nextFrom: none, nextTo: none, slot: noSlot, present: present,
	})
	f.table.put(f.edges, at, i)
	f.link(i)
	return i
}

func (f *folder) setPresent(i int32, updateIndex uint32) {
	f.edges[i].set(true, updateIndex)
	f.link(i)
}

// link puts an edge in the lists of its ends, where it is not.
func (f *folder) link(i int32) {
	e := &f.edges[i]
	if !e.inFrom {
		v := &f.verts[f.incs[e.from].vert]
		e.nextFrom, v.edges, e.inFrom = v.edges, i, true
	}
	if !e.inTo {
		v := &f.verts[f.incs[e.to].vert]
		e.nextTo, v.edges, e.inTo = v.edges, i, true
	}
}

// detach empties the vertex's list and returns it; the caller unlinks every edge of it. Edges that become present
// again are linked anew, so that walks over lists cost no more than the links made.
func (f *folder) detach(v int32) int32 {
	list := f.verts[v].edges
	f.verts[v].edges = none
	return list
}

func (f *folder) unlink(i int32, atFrom bool) (next int32) {
	e := &f.edges[i]
	if atFrom {
		e.inFrom = false
		return e.nextFrom
	}
	e.inTo = false
	return e.nextTo
}
