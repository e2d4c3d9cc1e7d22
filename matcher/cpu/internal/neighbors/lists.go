package neighbors

import (
	"cmp"
	"math/bits"
	"sync"
	"sync/atomic"

	"motifd/dyngraph"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/internal/candidates"
	"motifd/matcher/internal/truths"
)

// List holds the neighbors of one data vertex that pass a ListKey, ascending, with their entries. Edges are in it that
// pass the key's test in some view. It is read-only.
type List struct {
	Vertices []dyngraph.VertexID
	Entries  []dyngraph.Entry
	Staged   bool // some of the entries are staged: inserted or deleted by the batch
}

// sharedLists caches filtered neighbor lists for all workers of a backend. Searches visit the same vertices again and
// again; a cached list is contiguous, without the gaps of the packed memory array and without neighbors that cannot
// match. It outlives the search and is valid while its vertex keeps the epochs under which it was built.
//
// Only replacing the table takes a lock. What a worker adds to a table that is just being replaced is lost and built
// again.
type sharedLists struct {
	now      atomic.Pointer[listTable]
	mu       sync.Mutex // held to replace it
	restarts atomic.Int64
}

// listTable is a hash table, with open addressing, of the lists in a store.
type listTable struct {
	slots []listSlot
	used  atomic.Int64
	store *store
}

// listSlot locates a list. Its words are read and written atomically; a key, once set, stays.
type listSlot struct {
	key uint64 // list key and vertex, plus one; 0 in a free slot
	// at is an epoch above a Position, or above emptyList, or above the number of requests since then for a list not
	// built.
	at uint64
}

const emptyList Position = firstPosition - 1

// Lists is one worker's access to the shared lists.
type Lists struct {
	g       *dyngraph.Graph
	bits    []uint64
	words   int
	truths  *truths.Table
	epochs  *epochs
	options *Options
	keys    *program.ListKeys // of all lists; nil if they are not known
	workers int
	shared  *sharedLists
	table   *listTable
	room    room
	long    List   // scratch for a list of unknown length
	read    uint64 // entries of the graph
}

const (
	// maxListEntries bounds the number of cached entries, of 8 bytes each and including outdated ones, beyond which the
	// cache starts over; leastListEntries is the least such number, for each worker that writes to it.
	maxListEntries   = 8 << 20
	leastListEntries = 32 << 10
	// maxListSlots is the largest number of slots, of 16 bytes each.
	maxListSlots = 4 << 20
	listChunk    = 16 << 10
)

// Attach makes the worker read the graph, the candidate bits and the cache as they are now.
func (c *Lists) Attach(g *dyngraph.Graph, f candidates.Source, of *Cache) {
	c.g, c.bits, c.words, c.truths, c.epochs = g, f.Bits(), f.Words(), f.Truths(), &of.epochs
	c.options, c.shared, c.table = &of.Options, &of.lists, of.lists.now.Load()
	c.keys, c.workers = of.Keys, of.Workers
	if c.table == nil {
		c.renew()
	}
	if c.room.of != c.table.store {
		c.room = room{} // it would keep the other store in memory
	}
}

// renew replaces the table, unless another worker has: by a larger one, or by an empty one when the table or the store
// is full. Lists in use stay valid, as their memory is not written again.
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
		c.table = &listTable{slots: make([]listSlot, 256), store: newStore(listChunk, c.most())}
	} else {
		c.table = old.grown()
	}
	s.now.Store(c.table)
}

// most returns the number of entries beyond which the cache starts over: twice those of all lists that there can be, as
// far as their keys are known. Whatever is beyond it is outdated, so that memory does not grow with the stream.
func (c *Lists) most() int {
	if n := c.options.ListEntries; n > 0 || c.keys == nil {
		return cmp.Or(n, maxListEntries)
	}
	all := 2 * c.g.Edges() * c.keys.Len() // in both directions
	return min(maxListEntries, max(2*all, leastListEntries*max(1, c.workers)))
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

// listKey returns the key of the list of v along a back edge.
func listKey(v dyngraph.VertexID, b *program.BackEdge) uint64 {
	return (uint64(b.ListKey)<<32 | uint64(v)) + 1
}

func listHash(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 >> 32 }

// find returns the slot of the list of v along a back edge, and claims a free one if there is none; with it the
// current epoch and what the slot holds for that epoch.
func (c *Lists) find(v dyngraph.VertexID, b *program.BackEdge) (s *listSlot, epoch uint32, p Position) {
	key := listKey(v, b)
	epoch = c.epochs.of(v, b.Epoch)
	slots := c.table.slots
	mask := uint64(len(slots) - 1)
	for i := listHash(key) & mask; ; i = (i + 1) & mask {
		s = &slots[i&mask]
		switch k := atomic.LoadUint64(&s.key); {
		case k == key:
			at := atomic.LoadUint64(&s.at)
			if uint32(at>>32) == epoch {
				p = Position(at)
			}
			return s, epoch, p
		case k == 0:
			if c.take(s, key) {
				return s, epoch, 0
			}
			return c.find(v, b)
		}
	}
}

// take claims a free slot; false tells to look again, perhaps in another table.
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

// at returns the list at a position, where its length precedes it.
func (c *Lists) at(p Position) List {
	if p == emptyList {
		return List{}
	}
	k, from := c.table.store.at(p)
	n := k.nbr[from]
	from++
	to := from + int(n&^stagedMark)
	return List{k.nbr[from:to:to], k.ent[from:to:to], n&stagedMark != 0}
}

// Read returns about how many entries of the graph the worker has read for lists.
func (c *Lists) Read() uint64 { return c.read }

// build reads a range of the graph into a slot.
func (c *Lists) build(s *listSlot, epoch uint32, v dyngraph.VertexID, r dyngraph.Range, b *program.BackEdge,
	st *program.Step) List {
	most := r.AtMost()
	c.read += uint64(most)
	if most > c.table.store.size {
		// Few neighbors of a hub may pass: reserving room for all of them would soon fill the store.
		c.long.read(c, r, b, st)
		return c.keep(s, epoch, v, b, c.long)
	}
	if !c.room.reserve(c.table.store, most+1) {
		c.renew()
		s, epoch, _ = c.find(v, b)
		if !c.room.reserve(c.table.store, most+1) {
			var l List
			l.read(c, r, b, st)
			return l
		}
	}
	into := c.room.begin()
	into.nbr, into.ent = into.nbr[:1], into.ent[:1] // for the length
	l := List{Vertices: into.nbr[1:], Entries: into.ent[1:]}
	l.read(c, r, b, st)
	return c.publish(s, epoch, &c.room, into.nbr, l)
}

// keep copies a long list to the store if there is room; otherwise the list belongs to the caller.
func (c *Lists) keep(s *listSlot, epoch uint32, v dyngraph.VertexID, b *program.BackEdge, l List) List {
	n := len(l.Vertices)
	if n == 0 {
		return c.publish(s, epoch, nil, nil, l)
	}
	into := &c.room
	if n >= c.table.store.size {
		into = &room{} // a chunk of its own
	}
	kept := n < longest
	if kept && !into.reserve(c.table.store, n+1) {
		c.renew()
		s, epoch, _ = c.find(v, b)
		kept = into.reserve(c.table.store, n+1)
	}
	if !kept {
		c.long = List{}
		return l
	}
	to := into.begin()
	to.nbr, to.ent = append(to.nbr[:1], l.Vertices...), append(to.ent[:1], l.Entries...)
	return c.publish(s, epoch, into, to.nbr, List{to.nbr[1:], to.ent[1:], l.Staged})
}

// publish makes a list that was written to the store, behind the word for its length, visible to all workers.
func (c *Lists) publish(s *listSlot, epoch uint32, to *room, word []dyngraph.VertexID, l List) List {
	p, n := emptyList, len(l.Vertices)
	if n > 0 {
		word[0] = dyngraph.VertexID(n)
		if l.Staged {
			word[0] |= stagedMark
		}
		p = to.end(n + 1)
	}
	atomic.StoreUint64(&s.at, uint64(epoch)<<32|uint64(p))
	return List{l.Vertices[:n:n], l.Entries[:n:n], l.Staged}
}

// Of returns the list of v along a back edge of a step, and builds it if needed.
func (c *Lists) Of(v dyngraph.VertexID, b *program.BackEdge, st *program.Step) List {
	s, epoch, p := c.find(v, b)
	if p >= emptyList {
		return c.at(p)
	}
	return c.build(s, epoch, v, c.g.Range(v, b.Dir, b.Label), b, st)
}

// buildAfter is the number of searches of a long range in place after which a list is built.
const buildAfter = 8

// Peek returns the list if it is cached or worth building at once; otherwise the range of the graph to search in
// place.
func (c *Lists) Peek(v dyngraph.VertexID, b *program.BackEdge, st *program.Step) (l List, r dyngraph.Range,
	built bool) {
	s, epoch, p := c.find(v, b)
	if p >= emptyList {
		return c.at(p), r, true
	}
	r = c.g.Range(v, b.Dir, b.Label)
	if r.AtMost() <= 64 || p >= buildAfter && r.AtMost() < longest {
		return c.build(s, epoch, v, r, b, st), r, true
	}
	if p < buildAfter {
		atomic.StoreUint64(&s.at, uint64(epoch)<<32|uint64(p+1))
	}
	c.read += uint64(bits.Len(uint(r.AtMost())))
	return l, r, false
}

// Seek returns the first index at or after from whose vertex is at least w, by galloping.
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
