package dyngraph

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"
)

// calendar finds the edges of a class with the least times (DESIGN A18). Edges lie in buckets of times. An entry is
// an edge index alone and says little: the edge may be gone, be another one now, or have another time. So entries are
// looked at when they are used, and a bucket is cleaned when most of its entries are stale.
//
// The bucket with the earliest times is opened when a horizon reaches it: its edges go, sorted by time, to the front.
type calendar struct {
	classes []timeClass
	in      []uint64 // bitmap by edge index: the edge is in the calendar
	// dated tells the class and the time of an edge; ok is false when it has none.
	dated func(e EdgeIndex) (class int, ts int64, ok bool)
}

type timeClass struct {
	shift   uint // buckets are 2^shift milliseconds wide
	buckets map[int64]*timeBucket
	keys    bucketKeys // of buckets, and some of buckets that are gone

	// When a bucket was opened, edges with a time up to open are in front or recent, both sorted by time, the others in
	// buckets.
	opened bool
	open   int64
	front  []datedEdge
	recent []datedEdge
	sorted int // of recent
}

// timeBucket holds the edges whose times have a common quotient by the width.
type timeBucket struct {
	edges []EdgeIndex
	live  int // edges that are in it, each counted once
}

type datedEdge struct {
	ts   int64
	edge EdgeIndex
}

// maxBuckets is the number of buckets of a class beyond which they are made wider. At least half as many are left then,
// where times are spread evenly.
const maxBuckets = 4096

func newCalendar(classes int, dated func(e EdgeIndex) (class int, ts int64, ok bool)) calendar {
	c := calendar{classes: make([]timeClass, classes), dated: dated}
	for i := range c.classes {
		c.classes[i].buckets = make(map[int64]*timeBucket)
	}
	return c
}

func (c *calendar) has(e EdgeIndex) bool {
	w := int(e >> 6)
	return w < len(c.in) && c.in[w]>>(e&63)&1 != 0
}

// enter takes an edge in, under its time.
func (c *calendar) enter(class int, e EdgeIndex, ts int64) {
	c.in = grown(c.in, int(e>>6)+1)
	c.in[e>>6] |= 1 << (e & 63)
	t := &c.classes[class]
	if t.isOpen(ts) {
		t.recent = append(t.recent, datedEdge{ts, e})
		return
	}
	b := t.bucket(ts >> t.shift)
	b.edges = append(b.edges, e)
	b.live++
	switch {
	case len(t.buckets) > maxBuckets:
		t.widen()
	case len(b.edges) > 2*b.live+16:
		c.clean(class, b, ts>>t.shift)
	}
}

// leave takes an edge out. Its entry stays.
func (c *calendar) leave(class int, e EdgeIndex, ts int64) {
	c.in[e>>6] &^= 1 << (e & 63)
	t := &c.classes[class]
	if t.isOpen(ts) {
		return
	}
	key := ts >> t.shift
	b := t.buckets[key]
	b.live--
	switch {
	case b.live == 0:
		delete(t.buckets, key)
	case len(b.edges) > 2*b.live+16:
		c.clean(class, b, key)
	}
}

// isOpen tells whether an edge with a time is in no bucket.
func (t *timeClass) isOpen(ts int64) bool { return t.opened && ts <= t.open }

// valid tells whether an edge is in the calendar under a class and what its time is.
func (c *calendar) valid(class int, e EdgeIndex) (ts int64, ok bool) {
	if !c.has(e) {
		return 0, false
	}
	of, ts, ok := c.dated(e)
	return ts, ok && of == class
}

// inBucket tells the time of an edge if it is valid under the key of a bucket.
func (c *calendar) inBucket(class int, key int64, e EdgeIndex) (ts int64, ok bool) {
	t := &c.classes[class]
	ts, ok = c.valid(class, e)
	return ts, ok && ts>>t.shift == key && !t.isOpen(ts)
}

// clean removes stale and double entries from a bucket.
func (c *calendar) clean(class int, b *timeBucket, key int64) {
	kept := make([]EdgeIndex, 0, b.live+b.live/4)
	for _, e := range b.edges {
		if _, ok := c.inBucket(class, key, e); ok {
			kept = append(kept, e)
		}
	}
	slices.Sort(kept)
	b.edges = slices.Compact(kept)
}

// bucket returns the bucket of a key, made when it is missing.
func (t *timeClass) bucket(key int64) *timeBucket {
	b := t.buckets[key]
	if b == nil {
		b = new(timeBucket)
		t.buckets[key] = b
		t.keys = append(t.keys, key)
		heap.Fix(&t.keys, len(t.keys)-1)
		if len(t.keys) > 2*len(t.buckets)+16 {
			t.keys = slices.AppendSeq(t.keys[:0], maps.Keys(t.buckets))
			heap.Init(&t.keys)
		}
	}
	return b
}

// bucketKeys is a heap with the least key first.
type bucketKeys []int64

func (k *bucketKeys) Len() int           { return len(*k) }
func (k *bucketKeys) Less(i, j int) bool { return (*k)[i] < (*k)[j] }
func (k *bucketKeys) Swap(i, j int)      { (*k)[i], (*k)[j] = (*k)[j], (*k)[i] }

// Push and Pop make it a heap.Interface. They are not used: their values would be allocated.
func (k *bucketKeys) Push(x any) { *k = append(*k, x.(int64)) }

// Pop is for heap.Interface, as Push.
func (k *bucketKeys) Pop() any {
	last := len(*k) - 1
	key := (*k)[last]
	*k = (*k)[:last]
	return key
}

// first returns the least key of the buckets; false if there are none.
func (t *timeClass) first() (key int64, ok bool) {
	for len(t.keys) > 0 && t.buckets[t.keys[0]] == nil {
		last := len(t.keys) - 1
		t.keys[0] = t.keys[last]
		if t.keys = t.keys[:last]; last > 0 {
			heap.Fix(&t.keys, 0)
		}
	}
	if len(t.keys) == 0 {
		return 0, false
	}
	return t.keys[0], true
}

// widen makes buckets twice as wide until there are not too many.
func (t *timeClass) widen() {
	for len(t.buckets) > maxBuckets/2 && t.shift < 63 {
		t.shift++
		old := t.buckets
		t.buckets, t.keys = make(map[int64]*timeBucket, len(old)/2), nil
		for key, b := range old {
			into := t.bucket(key >> 1)
			into.edges = append(into.edges, b.edges...)
			into.live += b.live
		}
	}
}

// due lists the edges of a class with times before a horizon by time, the first most+1 of them if there are more.
func (c *calendar) due(class int, before int64, most int) (list []datedEdge) {
	t := &c.classes[class]
	c.sortRecent(class)
	a, b := 0, 0
	for len(list) <= most {
		first, more := int64(0), false
		if a == len(t.front) && b == len(t.recent) {
			first, more = t.first()
		}
		var d datedEdge
		switch {
		case a < len(t.front) && (b == len(t.recent) || compareDated(t.front[a], t.recent[b]) <= 0):
			d = t.front[a]
			a++
		case b < len(t.recent):
			d = t.recent[b]
			b++
		case more && first<<t.shift < before:
			c.open(class, first)
			continue
		default:
			return list
		}
		if d.ts >= before {
			return list
		}
		if n := len(list); n > 0 && list[n-1] == d {
			continue
		}
		if ts, ok := c.valid(class, d.edge); ok && ts == d.ts {
			list = append(list, d)
		}
	}
	return list
}

func compareDated(a, b datedEdge) int {
	return cmp.Or(cmp.Compare(a.ts, b.ts), cmp.Compare(a.edge, b.edge))
}

// open moves the edges of the first bucket to the front, behind all that is there.
func (c *calendar) open(class int, key int64) {
	t := &c.classes[class]
	n := len(t.front)
	for _, e := range t.buckets[key].edges {
		if ts, ok := c.inBucket(class, key, e); ok {
			t.front = append(t.front, datedEdge{ts, e})
		}
	}
	slices.SortFunc(t.front[n:], compareDated)
	delete(t.buckets, key)
	t.opened, t.open = true, key<<t.shift|(1<<t.shift-1)
}

// sortRecent sorts the recent entries. When there are many, it moves them to the front and removes stale entries there.
func (c *calendar) sortRecent(class int) {
	t := &c.classes[class]
	if t.sorted < len(t.recent) {
		slices.SortFunc(t.recent, compareDated)
		t.sorted = len(t.recent)
	}
	if len(t.recent) <= 1024+len(t.front)/4 {
		return
	}
	t.front = append(t.front, t.recent...)
	t.recent, t.sorted = nil, 0
	t.front = slices.DeleteFunc(t.front, func(d datedEdge) bool {
		ts, ok := c.valid(class, d.edge)
		return !ok || ts != d.ts
	})
	slices.SortFunc(t.front, compareDated)
	t.front = slices.Compact(t.front)
}

// dropBefore forgets the entries before a horizon, all of which have expired.
func (c *calendar) dropBefore(class int, horizon int64) {
	t := &c.classes[class]
	c.sortRecent(class)
	t.front, t.recent = notBefore(t.front, horizon), notBefore(t.recent, horizon)
	t.sorted = len(t.recent)
}

// notBefore returns the entries of a sorted list from a time on.
func notBefore(list []datedEdge, ts int64) []datedEdge {
	n, _ := slices.BinarySearchFunc(list, ts, func(d datedEdge, ts int64) int { return cmp.Compare(d.ts, ts) })
	if n > len(list)/2 {
		return slices.Clone(list[n:])
	}
	return list[n:]
}
