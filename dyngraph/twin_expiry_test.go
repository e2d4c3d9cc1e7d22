package dyngraph

import (
	"math"
	"slices"
	"testing"

	"motifd/dyngraph/property"
)

// horizon is the time before which edges of a label have expired.
func (w *twin) horizon(label string) int64 {
	at := int64(math.MinInt64)
	for _, h := range w.horizons {
		if h.Label == label {
			return h.Before
		}
		if h.Label == property.Any {
			at = h.Before
		}
	}
	return at
}

// removeIsolated removes vertices without edges that no +v declared. Those that came while none were removed are as if
// they had been declared, and a key that keeps its label remains what it was, unless a +v declares it.
func (w *twin) removeIsolated(start *twin) {
	for key, v := range w.verts {
		if x, was := start.verts[key]; was && x.label == v.label {
			v.declared = x.declared || w.isolated && v.declared
		} else {
			v.declared = v.declared || !w.isolated
		}
		w.verts[key] = v
		has := false
		for e := range w.edges {
			has = has || e.from == key || e.to == key
		}
		for _, value := range v.values[:twinVertexColumns] {
			has = has || !value.IsNull()
		}
		if w.isolated && !v.declared && !has {
			delete(w.verts, key)
		}
	}
}

// placeOf is the place of a net edge as the twin has it.
func placeOf(n *NetEdge) int {
	switch n.UpdateIndex {
	case AtExpiry:
		return -1
	case AtIsolation:
		return math.MaxInt
	}
	return int(n.UpdateIndex)
}

// times are those of a history: now rises, and horizons follow.
type times struct {
	expires bool
	now     int64
	scale   int64
}

func makeTimes(pick source) *times {
	return &times{expires: pick(2) == 0, scale: []int64{1, 1, 1000, math.MaxInt64 / 64}[pick(4)]}
}

// advance moves horizons on before a batch, now and then under other labels.
func (x *times) advance(t *testing.T, pick source, g *Graph, w *twin) {
	if pick(8) == 0 {
		w.lists = !w.lists
		g.ListVertices(w.lists)
	}
	if !x.expires {
		return
	}
	x.now += x.scale * int64(pick(3))
	if pick(12) == 0 {
		w.isolated = !w.isolated
		g.ExpireIsolated(w.isolated)
	}
	if w.horizons == nil || pick(10) == 0 {
		had := w.clone()
		w.horizons = nil
		for _, l := range [][]string{{"A", property.Any}, {property.Any}, {"A", "B"}, {"", "A"}, nil}[pick(5)] {
			w.horizons = append(w.horizons, Horizon{l, had.horizon(l)})
		}
		g.SetHorizons(w.horizons)
	}
	to := slices.Clone(w.horizons)
	for i := range to {
		to[i].Before = max(to[i].Before, x.now-x.scale*int64(i)-int64(pick(3)))
	}
	most := 1 + pick(4)
	got, want := g.Approach(to, most), w.approach(to, most)
	if !slices.Equal(got, want) {
		t.Fatalf("from %v to %v, at most %d edges: %v, want %v", w.horizons, to, most, got, want)
	}
	if got, want := g.Expiring(to), len(w.ages(to)) > 0; got != want {
		t.Fatalf("Expiring is %v, want %v", got, want)
	}
	w.horizons = want
	g.SetHorizons(want)
}

// ages are those of the edges before some horizons.
func (w *twin) ages(to []Horizon) (ages []uint64) {
	at := *w
	at.horizons = to
	for e, a := range w.edges {
		if before := at.horizon(e.label); a.HasTS && a.TS < before {
			ages = append(ages, uint64(before-a.TS))
		}
	}
	slices.Sort(ages)
	slices.Reverse(ages)
	return ages
}

// approach tries every distance behind the horizons at which something changes.
func (w *twin) approach(to []Horizon, most int) []Horizon {
	behind := func(by uint64) []Horizon {
		hs := slices.Clone(to)
		for i := range hs {
			if gap := uint64(hs[i].Before - w.horizons[i].Before); by < gap {
				hs[i].Before = int64(uint64(hs[i].Before) - by)
			} else {
				hs[i].Before = w.horizons[i].Before
			}
		}
		return hs
	}
	ages := w.ages(to)
	distances := []uint64{0}
	for _, age := range ages {
		distances = append(distances, age, age-1)
	}
	slices.Sort(distances)
	for _, by := range distances {
		hs := behind(by)
		if n := len(w.ages(hs)); n <= most && (n > 0 || len(ages) == 0) {
			return hs
		}
	}
	return behind(ages[0] - 1)
}

// checkCalendar looks for the edges with a time, each in the calendar, and counts what the calendar counts.
func checkCalendar(t *testing.T, g *Graph, w *twin) {
	t.Helper()
	if len(w.horizons) == 0 {
		return
	}
	far := slices.Clone(w.horizons)
	for i := range far {
		far[i].Before = math.MaxInt64
	}
	if got, want := len(g.expired(far, math.MaxInt)), len(w.ages(far)); got != want {
		t.Fatalf("the calendar has %d edges, want %d", got, want)
	}
}

func FuzzCalendar(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, uint8(4))
	f.Fuzz(func(t *testing.T, b []byte, step uint8) {
		playCalendar(t, fromBytes(b), min(len(b)/3, 2000), int64(1)<<(step%62))
	})
}

func TestA18CalendarAgainstMap(t *testing.T) {
	for seed := range uint64(60) {
		playCalendar(t, seeded(seed), 20_000, int64(1)<<(seed))
	}
}

// playCalendar plays a calendar of one class against a map.
func playCalendar(t *testing.T, pick source, steps int, scale int64) {
	at := map[EdgeIndex]int64{}
	c := newCalendar(1, func(e EdgeIndex) (int, int64, bool) {
		ts, ok := at[e]
		return 0, ts, ok
	})
	horizon := int64(math.MinInt64)
	for range steps {
		e := EdgeIndex(pick(3000))
		ts, there := at[e]
		switch x := pick(12); {
		case x < 6:
			if there {
				c.leave(0, e, ts)
			}
			at[e] = max(horizon, min(max(horizon, -scale)/scale, math.MaxInt64/scale-300)*scale+scale*int64(pick(255)))
			c.enter(0, e, at[e])
		case x < 9 && there:
			c.leave(0, e, ts)
			delete(at, e)
		case x == 9 && pick(50) == 0:
			horizon = max(horizon, min(max(horizon, -scale), math.MaxInt64-300*scale)+scale*int64(pick(100)))
			var want []datedEdge
			for e, ts := range at {
				if ts < horizon {
					want = append(want, datedEdge{ts, e})
				}
			}
			slices.SortFunc(want, compareDated)
			most := pick(20)
			if got := c.due(0, horizon, most); !slices.Equal(got, want[:min(len(want), most+1)]) {
				t.Fatalf("due before %d: %v, want %v", horizon, got, want[:min(len(want), most+1)])
			}
			if got := c.due(0, horizon, math.MaxInt); !slices.Equal(got, want) {
				t.Fatalf("due before %d: %v, want %v", horizon, got, want)
			}
			for _, d := range want {
				c.leave(0, d.edge, d.ts)
				delete(at, d.edge)
			}
			c.dropBefore(0, horizon)
			checkBuckets(t, &c, len(at))
		}
	}
}

func TestA18CalendarGreatestTime(t *testing.T) {
	at := map[EdgeIndex]int64{}
	c := newCalendar(1, func(e EdgeIndex) (int, int64, bool) {
		ts, ok := at[e]
		return 0, ts, ok
	})
	put := func(e EdgeIndex, ts int64) {
		at[e] = ts
		c.enter(0, e, ts)
	}
	for e := range EdgeIndex(maxBuckets + 1) {
		put(e, int64(e)*1000) // wide buckets
	}
	last := EdgeIndex(maxBuckets + 1)
	put(last, math.MaxInt64)
	if due := c.due(0, math.MaxInt64, math.MaxInt); len(due) != maxBuckets+1 {
		t.Errorf("%d edges are due before the greatest time, want %d", len(due), maxBuckets+1)
	}
	put(last+1, math.MaxInt64)
	for _, e := range []EdgeIndex{last, last + 1} {
		c.leave(0, e, math.MaxInt64)
		delete(at, e)
	}
	if due := c.due(0, math.MaxInt64, math.MaxInt); len(due) != maxBuckets+1 {
		t.Errorf("%d edges are due after the last two went, want %d", len(due), maxBuckets+1)
	}
}

// checkBuckets looks whether a calendar of one class keeps its bounds, with some edges in it.
func checkBuckets(t *testing.T, c *calendar, edges int) {
	t.Helper()
	x := &c.classes[0]
	entries := len(x.front) + len(x.recent)
	for key, b := range x.buckets {
		entries += len(b.edges)
		if live := len(b.edges); b.live < 1 || b.live > live || live > 2*b.live+16 || !slices.Contains(x.keys, key) {
			t.Fatalf("bucket %d (keys are %d): %d entries of %d edges", key, x.keys, live, b.live)
		}
	}
	if len(x.buckets) > maxBuckets || entries > 3*edges+16*len(x.buckets)+4096 {
		t.Fatalf("%d entries in %d buckets, with %d edges", entries, len(x.buckets), edges)
	}
}
