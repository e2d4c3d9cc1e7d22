package neighbors

import (
	"cmp"
	"sync"
	"sync/atomic"

	"motifd/dyngraph"
	"motifd/matcher/candidates"
	"motifd/matcher/cpu/program"
)

// List holds the neighbours of one data vertex that pass the filter of one class, ascending, with their entries.
type List struct {
	Vertices []dyngraph.VertexID
	Entries  []dyngraph.Entry
	Staged   bool // the batch inserts or deletes some of the entries
}

// sharedLists are the filtered neighbour lists that all workers of a backend share. Searches come by the same vertices again and again, so a
// list is read from the packed memory array once and is then contiguous, without gaps and without neighbours that cannot match.
// A list outlives the search: it holds as long as its vertex keeps the stamp that it was built under (see freshness).
//
// Nothing is locked but to replace the table. It is a cache: what a worker adds to a table that another one is just replacing is
// found again by the next that needs it.
type sharedLists struct {
	now      atomic.Pointer[listTable]
	mu       sync.Mutex // held to replace it
	restarts atomic.Int64
}

// listTable is a hash table of the lists in a store.
type listTable struct {
	slots []listSlot
	used  atomic.Int64
	store *store
}

// listSlot is where a list is; all of it is read and written atomically. A key that is there stays there.
type listSlot struct {
	key uint64 // column and vertex, plus one; 0 in a free slot
	// at is a stamp, above a place, or above emptyList, or above how often the list was asked for while it was not built.
	at uint64
}

const emptyList Place = firstPlace - 1

// Lists is one worker's way to the shared lists.
type Lists struct {
	g       *dyngraph.Graph
	bits    []uint64
	words   int
	labels  int // that are asked for
	epochs  *epochs
	options *Options
	shared  *sharedLists
	table   *listTable
	room    room
	long    List // room for a list whose length is not known before

	unbuilt []dyngraph.VertexID  // room
	known   [PrefetchSize]Cached // what was read ahead last
	read    uint64               // what is read ahead comes together here, so that it is read
}

const (
	// maxListEntries bounds the entries that are cached, at 8 bytes each, outdated ones included; beyond it the cache starts over.
	maxListEntries = 8 << 20
	// maxListSlots bounds the slots, of 16 bytes.
	maxListSlots = 4 << 20
	listChunk    = 16 << 10
)

// Attach makes the cache read the present graph and bits.
func (c *Lists) Attach(g *dyngraph.Graph, f *candidates.Filter, of *Cache) {
	c.g, c.bits, c.words, c.labels, c.epochs = g, f.Bits(), f.Words(), f.Labels(), &of.epochs
	c.options, c.shared, c.table = &of.Options, &of.lists, of.lists.now.Load()
	if c.table == nil {
		c.renew()
	}
	if c.room.of != c.table.store {
		c.room = room{} // which would keep the other store
	}
}

// renew replaces the table, if no other worker has: by one with more slots, or by an empty one where there are very many or the store is
// full. Lists that are in use stay valid, as their memory is not written again.
func (c *Lists) renew() {
	s := c.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.now.Load(); now != c.table {
		c.table = now
		return
	}
	old := c.table
	if old != nil && old.store.full() {
		s.restarts.Add(1)
	}
	if old == nil || len(old.slots) >= maxListSlots || old.store.full() {
		c.table = &listTable{slots: make([]listSlot, 256), store: newStore(1, listChunk, cmp.Or(c.options.ListEntries, maxListEntries))}
	} else {
		c.table = old.grown()
	}
	s.now.Store(c.table)
}

// grown returns a table with twice as many slots.
func (t *listTable) grown() *listTable {
	n := &listTable{slots: make([]listSlot, 2*len(t.slots)), store: t.store}
	mask, used := uint64(len(n.slots)-1), int64(0)
	for k := range t.slots {
		from := &t.slots[k]
		s := listSlot{key: atomic.LoadUint64(&from.key), at: atomic.LoadUint64(&from.at)}
		if s.key == 0 {
			continue
		}
		i := listHash(s.key) & mask
		for n.slots[i].key != 0 {
			i = (i + 1) & mask
		}
		n.slots[i] = s
		used++
	}
	n.used.Store(used)
	return n
}

// listKey names the list of a vertex along a back edge.
func listKey(v dyngraph.VertexID, b *program.BackEdge) uint64 {
	return (uint64(b.ListKey)<<32 | uint64(v)) + 1
}

func listHash(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 >> 32 }

// find returns the slot of a vertex's list along a back edge, taking a free one if there is none, and what it holds under
// the present stamp.
func (c *Lists) find(v dyngraph.VertexID, b *program.BackEdge) (s *listSlot, stamp uint32, p Place) {
	key := listKey(v, b)
	stamp = c.epochs.of(v, b.Epoch)
	slots := c.table.slots
	mask := uint64(len(slots) - 1)
	for i := listHash(key) & mask; ; i = (i + 1) & mask {
		s = &slots[i&mask]
		switch k := atomic.LoadUint64(&s.key); {
		case k == key:
			at := atomic.LoadUint64(&s.at)
			if uint32(at>>32) == stamp {
				p = Place(at)
			}
			return s, stamp, p
		case k == 0:
			if c.take(s, key) {
				return s, stamp, 0
			}
			return c.find(v, b)
		}
	}
}

// take takes a free slot; false tells to look again, perhaps in another table.
func (c *Lists) take(s *listSlot, key uint64) bool {
	t := c.table
	if now := c.shared.now.Load(); now != t {
		c.table = now
		return false
	}
	if 4*t.used.Add(1) > 3*int64(len(t.slots)) {
		t.used.Add(-1)
		c.renew()
		return false
	}
	if !atomic.CompareAndSwapUint64(&s.key, 0, key) {
		t.used.Add(-1)
		return false
	}
	return true
}

// at returns the list at a place: behind the number of its vertices.
func (c *Lists) at(p Place) List {
	if p == emptyList {
		return List{}
	}
	k, from := c.table.store.at(p)
	n := k.nbr[from]
	from++
	to := from + int(n&^stagedMark)
	return List{k.nbr[from:to:to], k.ent[0][from:to:to], n&stagedMark != 0}
}

// build reads a range into the slot.
func (c *Lists) build(s *listSlot, stamp uint32, v dyngraph.VertexID, r dyngraph.Range, b *program.BackEdge, st *program.Step) List {
	most := r.AtMost()
	if most > c.table.store.size {
		// How few of a hub's neighbours pass is not known: room for all of them would soon fill the store.
		c.long.read(c, r, b, st)
		return c.keep(s, stamp, v, b, c.long)
	}
	if !c.room.reserve(c.table.store, most+1) {
		c.renew()
		s, stamp, _ = c.find(v, b)
		if !c.room.reserve(c.table.store, most+1) {
			var l List
			l.read(c, r, b, st)
			return l
		}
	}
	into := c.room.begin()
	into.nbr, into.ent[0] = into.nbr[:1], into.ent[0][:1] // for their number
	l := List{Vertices: into.nbr[1:], Entries: into.ent[0][1:]}
	l.read(c, r, b, st)
	return c.publish(s, stamp, &c.room, into.nbr, l)
}

// keep copies a long list to the store, if there is room. Where it does not go there it is the caller's.
func (c *Lists) keep(s *listSlot, stamp uint32, v dyngraph.VertexID, b *program.BackEdge, l List) List {
	n := len(l.Vertices)
	if n == 0 {
		return c.publish(s, stamp, nil, nil, l)
	}
	into := &c.room
	if n >= c.table.store.size {
		into = &room{} // a chunk of its own
	}
	kept := n < longest
	if kept && !into.reserve(c.table.store, n+1) {
		c.renew()
		s, stamp, _ = c.find(v, b)
		kept = into.reserve(c.table.store, n+1)
	}
	if !kept {
		c.long = List{}
		return l
	}
	to := into.begin()
	to.nbr, to.ent[0] = append(to.nbr[:1], l.Vertices...), append(to.ent[0][:1], l.Entries...)
	return c.publish(s, stamp, into, to.nbr, List{to.nbr[1:], to.ent[0][1:], l.Staged})
}

// publish makes a list known that was written, behind a word, to room for it.
func (c *Lists) publish(s *listSlot, stamp uint32, to *room, word []dyngraph.VertexID, l List) List {
	p, n := emptyList, len(l.Vertices)
	if n > 0 {
		word[0] = dyngraph.VertexID(n)
		if l.Staged {
			word[0] |= stagedMark
		}
		p = to.end(n + 1)
	}
	atomic.StoreUint64(&s.at, uint64(stamp)<<32|uint64(p))
	return List{l.Vertices[:n:n], l.Entries[:n:n], l.Staged}
}

// Of returns the list of vertex v along a back edge of step st.
func (c *Lists) Of(v dyngraph.VertexID, b *program.BackEdge, st *program.Step) List {
	s, stamp, p := c.find(v, b)
	if p >= emptyList {
		return c.at(p)
	}
	return c.build(s, stamp, v, c.g.Range(v, b.Dir, b.Label), b, st)
}

// buildAfter is the number of times that a long range is searched in place before it is worth a list.
const buildAfter = 8

// Peek returns the list if it is there or worth building at once, else the range to search in place.
func (c *Lists) Peek(v dyngraph.VertexID, b *program.BackEdge, st *program.Step) (l List, r dyngraph.Range, built bool) {
	s, stamp, p := c.find(v, b)
	if p >= emptyList {
		return c.at(p), r, true
	}
	r = c.g.Range(v, b.Dir, b.Label)
	if r.AtMost() <= 64 || p >= buildAfter && r.AtMost() < longest {
		return c.build(s, stamp, v, r, b, st), r, true
	}
	if p < buildAfter {
		atomic.StoreUint64(&s.at, uint64(stamp)<<32|uint64(p+1))
	}
	return l, r, false
}

// Seek returns the first index at or after from whose neighbour is at least w, by galloping.
func Seek(nbr []dyngraph.VertexID, from int, w dyngraph.VertexID) int {
	if from >= len(nbr) || nbr[from] >= w {
		return from
	}
	lo, step := from, 1
	for lo+step < len(nbr) && nbr[lo+step] < w {
		lo += step
		step *= 2
	}
	hi := min(lo+step, len(nbr)) // nbr[lo] < w, and w <= nbr[hi] if hi is inside
	for lo+1 < hi {
		m := int(uint(lo+hi) / 2)
		if nbr[m] < w {
			lo = m
		} else {
			hi = m
		}
	}
	return hi
}
