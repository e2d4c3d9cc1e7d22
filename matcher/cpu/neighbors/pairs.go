package neighbors

import (
	"cmp"
	"sync"
	"sync/atomic"

	"motifd/dyngraph"
	"motifd/matcher/cpu/program"
)

// sharedPairs caches intersections: what the neighbor lists of two vertices have in common, for steps with two back
// edges. Where a cycle hangs from the rest of a pattern, a search comes by the same two vertices once for each way to
// reach it, and most pairs have nothing in common. An intersection is valid while both vertices keep the epochs under
// which it was found. It is shared by all workers of a backend.
//
// The table is two-way set associative and evicts the pair that was asked for longer ago. Kinds of pairs that seldom
// recur are not looked up for a while.
type sharedPairs struct {
	now atomic.Pointer[pairTable]
	mu  sync.Mutex // held to replace it
}

// pairTable is a hash table of the intersections in a store.
type pairTable struct {
	sets  []pairSet
	gen   uint32 // sets of other generations are empty
	used  atomic.Int64
	store *store
}

// pairSet holds two pairs, in one cache line, under a sequence lock: a writer makes the version odd meanwhile, and a
// reader who finds it odd or changed has read nothing.
type pairSet struct {
	version uint64 // and the generation, below
	recent  uint64 // index of the pair that was asked for last
	pairs   [2]pairSlot
}

// pairSlot is one pair.
type pairSlot struct {
	key    uint64 // the vertices
	kind   uint64 // above the place of the intersection
	epochs uint64 // of the vertices
}

// Pairs is one worker's access to the shared pairs.
type Pairs struct {
	epochs  *epochs
	options *Options
	shared  *sharedPairs
	table   *pairTable
	room    room

	use [16]pairUse // by kind, hashed
}

// pairUse tells whether looking up a kind of pairs pays.
type pairUse struct{ tries, hits, rest uint32 }

const (
	fewPairs  = 1 << 9 // sets of a new table
	mostPairs = 1 << 15
	// maxPairEntries is the number of cached vertices beyond which the table starts over.
	maxPairEntries = 1 << 20
	pairChunk      = 4 << 10
	// Looking up pays when at least one of paysFrom tries is a hit; otherwise the next pairRest times pairTries
	// intersections are made without.
	pairTries = 1 << 11
	paysFrom  = 4
	pairRest  = 16
)

// Nothing is the place of an empty intersection.
const Nothing Place = 1

// At returns the intersection at a place, and whether some of its entries are staged.
func (c *Pairs) Attach(of *Cache) {
	c.epochs, c.options, c.shared, c.table = &of.epochs, &of.Options, &of.pairs, of.pairs.now.Load()
	if c.table == nil {
		c.renew()
	}
	if c.room.of != c.table.store {
		c.room = room{}
	}
}

// renew replaces the table, unless another worker has: by an empty one if its store is full, else by a larger one.
func (c *Pairs) renew() {
	s := c.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	most := cmp.Or(c.options.PairEntries, maxPairEntries)
	old := c.table
	if c.table = s.now.Load(); c.table != old {
		return
	}
	switch {
	case old == nil:
		c.table = &pairTable{sets: make([]pairSet, fewPairs), gen: 1, store: newStore(2, pairChunk, most)}
	case old.store.full():
		c.table = &pairTable{sets: old.sets, gen: old.gen + 1, store: newStore(2, pairChunk, most)}
	default:
		c.table = old.grown()
	}
	s.now.Store(c.table)
}

// Worth reports whether pairs of a kind are to be looked up.
func (c *Pairs) Worth(kind program.PairKey) bool {
	u := c.useOf(kind)
	if c.options.NoPairs {
		return false
	}
	if u.rest > 0 {
		u.rest--
		return false
	}
	if u.tries == pairTries {
		if u.hits*paysFrom < u.tries {
			u.rest = pairTries * pairRest
		}
		u.tries, u.hits = 0, 0
	}
	u.tries++
	return true
}

func (c *Pairs) useOf(kind program.PairKey) *pairUse {
	return &c.use[(kind^kind>>16)%program.PairKey(len(c.use))]
}

func pairHash(key, kind uint64) uint64 {
	h := (key ^ kind) * 0x9e3779b97f4a7c15
	return (h ^ h>>32) * 0xd6e8feb86659fd93 >> 40
}

// slot returns the set that a pair belongs to, and the pair without a place.
func (c *Pairs) slot(kind program.PairKey, a, b dyngraph.VertexID, l [2]program.EpochKey) (set *pairSet, s pairSlot) {
	epochs := uint64(c.epochs.of(a, l[0]))<<32 | uint64(c.epochs.of(b, l[1]))
	s = pairSlot{uint64(a)<<32 | uint64(b), uint64(kind) << 32, epochs}
	return &c.table.sets[pairHash(s.key, s.kind)&uint64(len(c.table.sets)-1)], s
}

// Find returns the place of the intersection of two vertices, 0 if it is unknown.
func (c *Pairs) Find(kind program.PairKey, a, b dyngraph.VertexID, l [2]program.EpochKey) Place {
	set, pair := c.slot(kind, a, b, l)
	version := atomic.LoadUint64(&set.version)
	if uint32(version) != c.table.gen {
		return 0
	}
	i := uint64(0)
	s := &set.pairs[0]
	if atomic.LoadUint64(&s.key) != pair.key || atomic.LoadUint64(&s.kind)>>32 != uint64(kind) {
		i, s = 1, &set.pairs[1]
		if atomic.LoadUint64(&s.key) != pair.key {
			return 0
		}
	}
	at := atomic.LoadUint64(&s.kind)
	if at&^(1<<32-1) != pair.kind || atomic.LoadUint64(&s.epochs) != pair.epochs || version&pairWriting != 0 ||
		atomic.LoadUint64(&set.version) != version {
		return 0
	}
	c.useOf(kind).hits++
	if atomic.LoadUint64(&set.recent) != i {
		atomic.StoreUint64(&set.recent, i)
	}
	return Place(at)
}

// pairWriting is the lowest bit of a version.
const pairWriting = 1 << 32

// put writes a pair to its set, unless another worker is writing there.
func (t *pairTable) put(set *pairSet, pair pairSlot) {
	version := atomic.LoadUint64(&set.version)
	if version&pairWriting != 0 || !atomic.CompareAndSwapUint64(&set.version, version, version+pairWriting) {
		return
	}
	if uint32(version) != t.gen {
		t.used.Add(1)
		atomic.StoreUint64(&set.pairs[1].key, noPair)
		version = version>>32<<32 | uint64(t.gen)
		atomic.StoreUint64(&set.recent, 1)
	}
	i := 1 - atomic.LoadUint64(&set.recent)&1
	for k := range set.pairs {
		if s := &set.pairs[k]; atomic.LoadUint64(&s.key) == pair.key && atomic.LoadUint64(&s.kind)>>32 == pair.kind>>32 {
			i = uint64(k)
		}
	}
	s := &set.pairs[i]
	atomic.StoreUint64(&s.key, pair.key)
	atomic.StoreUint64(&s.kind, pair.kind)
	atomic.StoreUint64(&s.epochs, pair.epochs)
	atomic.StoreUint64(&set.recent, i)
	atomic.StoreUint64(&set.version, version+2*pairWriting)
}

// noPair is no pair's vertices.
const noPair = ^uint64(0)

// grown returns a table with twice as many sets. Concurrent writes to the old one are lost.
func (t *pairTable) grown() *pairTable {
	n := &pairTable{sets: make([]pairSet, 2*len(t.sets)), gen: t.gen, store: t.store}
	for i := range t.sets {
		set := &t.sets[i]
		version, last := atomic.LoadUint64(&set.version), atomic.LoadUint64(&set.recent)&1
		if uint32(version) != t.gen || version&pairWriting != 0 {
			continue
		}
		var pairs [2]pairSlot
		for k := range pairs {
			s := &set.pairs[k]
			pairs[k] = pairSlot{atomic.LoadUint64(&s.key), atomic.LoadUint64(&s.kind), atomic.LoadUint64(&s.epochs)}
		}
		if atomic.LoadUint64(&set.version) != version {
			continue
		}
		for _, s := range []pairSlot{pairs[1-last], pairs[last]} {
			if s.key != noPair {
				n.put(&n.sets[pairHash(s.key, s.kind>>32<<32)&uint64(len(n.sets)-1)], s)
			}
		}
	}
	return n
}

// Keep stores the intersection of a pair, staged entries included, and reports whether there are any.
func (c *Pairs) Keep(kind program.PairKey, a, b dyngraph.VertexID, l [2]program.EpochKey, nbr []dyngraph.VertexID,
	ents [][]dyngraph.Entry) (staged bool) {
	for k := range 2 {
		for _, e := range ents[k][:len(nbr)] {
			staged = staged || e.Staged()
		}
	}
	t := c.table
	if now := c.shared.now.Load(); now != t {
		c.table = now
		return staged
	}
	if len(t.sets) < mostPairs && 8*t.used.Load() > 5*int64(len(t.sets)) {
		c.renew()
		return staged
	}
	p := Nothing
	if n := len(nbr); n > 0 {
		if n >= longest || !c.room.reserve(t.store, n+1) {
			if t.store.full() {
				c.renew()
			}
			return staged
		}
		into := c.room.begin()
		into.nbr = into.nbr[:n+1]
		into.nbr[0] = dyngraph.VertexID(n)
		if staged {
			into.nbr[0] |= stagedMark
		}
		copy(into.nbr[1:], nbr)
		for k := range into.ent {
			copy(into.ent[k][1:n+1], ents[k])
		}
		p = c.room.end(n + 1)
	}
	set, pair := c.slot(kind, a, b, l)
	pair.kind |= uint64(p)
	t.put(set, pair)
	return staged
}

// At returns what is at a place: after the number of vertices, these; and whether some of their entries are staged.
func (c *Pairs) At(p Place) (nbr []dyngraph.VertexID, first, second []dyngraph.Entry, staged bool) {
	k, from := c.table.store.at(p)
	n := k.nbr[from]
	from++
	to := from + int(n&^stagedMark)
	return k.nbr[from:to:to], k.ent[0][from:to:to], k.ent[1][from:to:to], n&stagedMark != 0
}

// Hits returns the number of hits among the latest look-ups.
func (c *Pairs) Hits() (n int) {
	for i := range c.use {
		n += int(c.use[i].hits)
	}
	return n
}
