//go:build cuda || emu

package mirror_test

import (
	"errors"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/kernels"
	"motifd/matcher/cuda/cudatest"
	"motifd/matcher/cuda/internal/mirror"
	"motifd/matcher/matchertest"
)

// TestA9DeviceArray plays random batches, of insertions and deletions, with ends good and bad and some that are
// missed, against a set of entries: content, order, densities, fences, where vertices begin and end.
func TestA9DeviceArray(t *testing.T) {
	matchertest.ForSeeds(t, cudatest.Rounds, func(t *testing.T, rng *rand.Rand) {
		w := newTwin(rng, 2+rng.IntN(400), []int{1, 2, 3, 4, 1 << 15, 1<<15 + 1, 1 << 20, 1 << 24}[rng.IntN(8)])
		if rng.IntN(2) == 0 {
			w.hubs = 1 + rng.IntN(min(3, w.vertices))
		}
		dev := cudatest.NewDevice(t, rng)
		a := mirror.NewArray(dev, w.dirs == 2, rng.IntN(3) == 0, []int{0, 100, kernels.RankMost}[rng.IntN(3)],
			[]int{0, 100, 300, 1000}[rng.IntN(4)])
		defer func() { check(t, a.Free()); check(t, dev.Close()) }()
		if rng.IntN(2) == 0 {
			for _, o := range w.batch(rng.IntN(3000), 0) {
				o.Ent &^= kernels.Staged
				w.put(o)
			}
		}
		w.load(t, a)
		w.compare(t, a)
		size := 1 << rng.IntN(10)
		w.play(t, a, 12, func(int) (int, int) { return rng.IntN(size + 1), rng.IntN(size + 1) })
		w.vertices += rng.IntN(100) // the tables grow
		w.relabel()
		w.play(t, a, 4, func(int) (int, int) { return 2 * size, rng.IntN(size) })
		w.play(t, a, 4, func(int) (int, int) { return 0, len(w.have) / 2 })
		w.play(t, a, 1, func(int) (int, int) { return 0, len(w.have) })
		w.play(t, a, 3, func(int) (int, int) { return rng.IntN(10), 0 })
		t.Logf("%d entries in %d leaves", len(w.entries), a.Leaves())
	})
}

// TestA9DeviceArraySpreads has batches on few vertices in a larger array, so that windows of all kinds are spread.
func TestA9DeviceArraySpreads(t *testing.T) {
	matchertest.ForSeeds(t, 2, func(t *testing.T, rng *rand.Rand) {
		w := newTwin(rng, 4000, 2)
		dev := cudatest.NewDevice(t, rng)
		a := mirror.NewArray(dev, w.dirs == 2, false, kernels.RankMost, 0)
		defer func() { check(t, a.Free()); check(t, dev.Close()) }()
		for _, o := range w.batch(14000, 0) {
			o.Ent &^= kernels.Staged
			w.put(o)
		}
		w.load(t, a)
		w.compare(t, a)
		for _, s := range []struct{ hubs, inserted, deleted int }{{1, 60, 0}, {1, 2500, 0}, {1, 300, 500}, {1, 100, 30},
			{0, 100, 4000}, {1, 0, 1000}, {0, 12000, 0}, {2, 20, 0}} {
			w.hubs = s.hubs
			batch := w.batch(s.inserted, s.deleted)
			for _, o := range batch {
				w.put(o)
			}
			w.staged = batch
			check(t, a.Update(batch, len(batch), mirror.Committed, w.vertices, w.labels, w.edges))
			w.compare(t, a)
			w.settle(true)
		}
		if w.spread == 0 || w.wide == 0 || w.rewritten == 0 {
			t.Errorf("%d updates spread windows, %d of them in scratch, and %d wrote the array anew", w.spread, w.wide,
				w.rewritten)
		}
		t.Logf("%d entries in %d leaves; %d updates spread windows, %d in scratch, %d wrote the array anew",
			len(w.entries), a.Leaves(), w.spread, w.wide, w.rewritten)
	})
}

// TestA9DeviceArrayWithFewerLabels has an array that had very many labels loaded with few, when a batch that brought
// them was aborted, say: its keys need no more than 64 bits.
func TestA9DeviceArrayWithFewerLabels(t *testing.T) {
	matchertest.ForSeeds(t, 1, func(t *testing.T, rng *rand.Rand) {
		dev := cudatest.NewDevice(t, rng)
		w := newTwin(rng, 1<<19, 4)
		a := mirror.NewArray(dev, w.dirs == 2, false, kernels.RankMost, 0)
		defer func() { check(t, a.Free()); check(t, dev.Close()) }()
		check(t, a.Load(0, 0, 1, 1<<30, 1, nil, nil))
		for _, o := range w.batch(3000, 0) {
			o.Ent &^= kernels.Staged
			w.put(o)
		}
		w.load(t, a)
		w.compare(t, a)
		w.play(t, a, 3, func(int) (int, int) { return 1000, 1000 })
	})
}

// TestA26RowsTakeSlots has rows that come and go in leaves with an equal number of entries, an array that is full of
// rows in one part and of entries in another, and more rows than an array was told of when it was loaded.
func TestA26RowsTakeSlots(t *testing.T) {
	matchertest.ForSeeds(t, cudatest.Rounds, func(t *testing.T, rng *rand.Rand) {
		dev := cudatest.NewDevice(t, rng)
		// Vertices from 100 on have an edge or two; those below have many, and those of one label one row.
		w := newTwin(rng, 3000, 2)
		a := mirror.NewArray(dev, w.dirs == 2, false, kernels.RankMost, 0)
		defer func() { check(t, a.Free()); check(t, dev.Close()) }()
		stage := func(from, to, label uint32) (kernels.Op, bool) {
			k := [3]uint32{from, to, label}
			if _, ok := w.have[k]; ok || from == to || w.dirs == 1 && from > to {
				return kernels.Op{}, false
			}
			e := uint32(w.edges)
			w.edges++
			w.have[k] = e
			w.degree[from]++
			w.degree[to]++
			return w.op(from, to, label, e), true
		}
		var ops []kernels.Op
		add := func(n int, from, to func() int) {
			for range n {
				if o, ok := stage(uint32(from()), uint32(to()), uint32(rng.IntN(2))); ok {
					ops = append(ops, o)
				}
			}
		}
		add(4000, func() int { return rng.IntN(8) }, func() int { return 100 + rng.IntN(1000) })
		add(1500, func() int { return 1100 + rng.IntN(1900) }, func() int { return 1100 + rng.IntN(1900) })
		for _, o := range ops {
			o.Ent &^= kernels.Staged
			w.put(o)
		}
		if err := w.loadWith(a, 0); err != mirror.ErrRows {
			t.Fatalf("%d rows, of which the array knew none: %v", w.rows(), err)
		}
		w.load(t, a)
		w.compare(t, a)
		end := mirror.Open
		for range 8 {
			ops = nil
			have := slices.Collect(maps.Keys(w.have))
			slices.SortFunc(have, func(a, b [3]uint32) int { return slices.Compare(a[:], b[:]) })
			for range 200 { // an edge goes, one with the other label comes
				k := have[rng.IntN(len(have))]
				o := w.op(k[0], k[1], k[2], w.have[k])
				o.Kind |= kernels.Out
				if next, ok := stage(k[0], k[1], 1-k[2]); ok {
					ops = append(ops, o, next)
				}
			}
			for _, o := range ops {
				w.put(o)
			}
			w.staged = ops
			check(t, a.Update(ops, len(ops), end, w.vertices, w.labels, w.edges))
			w.compare(t, a)
			end = mirror.Committed
			w.settle(true)
		}
		check(t, a.Update(nil, 0, end, w.vertices, w.labels, w.edges))
		w.compare(t, a)
		check(t, a.Rewrite())
		c, err := a.Read(0)
		check(t, err)
		if full := float64(c.InUse) / float64(a.Leaves()*kernels.LeafSlots); full < 0.58 || full > 0.68 {
			t.Errorf("%d slots in use, in %d leaves", c.InUse, a.Leaves())
		}
	})
}

// TestA26RowsAloneFillLeaves has batches that leave the number of entries of leaves as it is, and bring rows; and some
// that bring many rows to one leaf.
func TestA26RowsAloneFillLeaves(t *testing.T) {
	matchertest.ForSeeds(t, cudatest.Rounds, func(t *testing.T, rng *rand.Rand) {
		// The vertices between hubs have no edges at first. Some hundred are in a place.
		const hubs, apart, gap, targets = 40, 32, 400, 500
		vertex := func(h int) int { return h*apart + h/(hubs/2)*gap }
		dev := cudatest.NewDevice(t, rng)
		w := newTwin(rng, vertex(hubs)+targets, 2)
		a := mirror.NewArray(dev, w.dirs == 2, false, kernels.RankMost, 0)
		defer func() { check(t, a.Free()); check(t, dev.Close()) }()
		var ops []kernels.Op
		insert := func(from int) bool {
			k := [3]uint32{uint32(from), uint32(vertex(hubs) + rng.IntN(targets)), 0}
			if _, ok := w.have[k]; ok {
				return false
			}
			w.have[k] = uint32(w.edges)
			w.edges++
			w.degree[k[0]]++
			w.degree[k[1]]++
			ops = append(ops, w.op(k[0], k[1], 0, w.have[k]))
			return true
		}
		of := make([][][3]uint32, hubs) // edges
		for h := range hubs {
			for range 45 {
				if insert(vertex(h)) {
					o := ops[len(ops)-1]
					of[h] = append(of[h], [3]uint32{o.From, o.To, 0})
				}
			}
		}
		for _, o := range ops {
			o.Ent &^= kernels.Staged
			w.put(o)
		}
		w.load(t, a)
		w.compare(t, a)
		ops = nil
		for h := range hubs {
			for _, k := range of[h][:10+rng.IntN(16)] {
				o := w.op(k[0], k[1], 0, w.have[k])
				o.Kind |= kernels.Out
				delete(w.have, k)
				ops = append(ops, o)
				insert(vertex(h) + 1 + rng.IntN(apart-1))
			}
		}
		for range rng.IntN(2) * rng.IntN(gap) {
			insert(vertex(hubs/2) - 1 - rng.IntN(gap))
		}
		for i := range ops {
			ops[i].Ent &^= kernels.Staged
			w.put(ops[i])
		}
		leaves := a.Leaves()
		check(t, a.Update(ops, 0, mirror.Open, w.vertices, w.labels, w.edges))
		w.compare(t, a)
		t.Logf("%d entries in %d leaves, which were %d; %+v", len(w.entries), a.Leaves(), leaves, a.Status())
	})
}

// TestA28DeviceArrayWithRanges plays batches against arrays with ranges of vertices. Most of the ranges begin at a leaf
// of their own. Later batches have ids beyond the last range.
func TestA28DeviceArrayWithRanges(t *testing.T) {
	bases, grew := 0, 0
	enough := func() bool { return bases > 20 && grew > 0 }
	matchertest.ForSeedsUntil(t, cudatest.Rounds, enough, func(t *testing.T, rng *rand.Rand) {
		w := newTwin(rng, 2+rng.IntN(300), 1+rng.IntN(3))
		if rng.IntN(2) == 0 {
			w.hubs = 1 + rng.IntN(min(3, w.vertices))
		}
		dev := cudatest.NewDevice(t, rng)
		a := mirror.NewArray(dev, w.dirs == 2, false, kernels.RankMost, []int{0, 300}[rng.IntN(2)])
		a.Divide(1 + rng.IntN(4))
		defer func() { check(t, a.Free()); check(t, dev.Close()) }()
		for _, o := range w.batch(rng.IntN(4000), 0) {
			o.Ent &^= kernels.Staged
			w.put(o)
		}
		w.load(t, a)
		w.compare(t, a)
		size := 1 << rng.IntN(9)
		few := func(int) (int, int) { return rng.IntN(size + 1), rng.IntN(size + 1) }
		w.play(t, a, 8, few)
		for range 3 {
			was := w.vertices
			w.vertices += rng.IntN(2 * w.vertices)
			if bits.Len(uint(w.vertices-1)) > bits.Len(uint(was-1))+1 {
				grew++
			}
			w.relabel()
			w.play(t, a, 4, few)
		}
		w.play(t, a, 2, func(int) (int, int) { return 0, len(w.have) / 2 })
		w.play(t, a, 1, func(int) (int, int) { return 0, len(w.have) })
		w.play(t, a, 3, func(int) (int, int) { return rng.IntN(500), 0 })
		bases = max(bases, w.bases)
		t.Logf("%d entries in %d leaves; ranges began at %d leaves", len(w.entries), a.Leaves(), w.bases)
	})
}

// TestA28RangeBeyondSlots has a range with more leaves than its slots have numbers for: the array cannot be loaded, and
// the error is one of memory.
func TestA28RangeBeyondSlots(t *testing.T) {
	matchertest.ForSeeds(t, 1, func(t *testing.T, rng *rand.Rand) {
		w := newTwin(rng, 100, 1)
		dev := cudatest.NewDevice(t, rng)
		a := mirror.NewArray(dev, w.dirs == 2, false, kernels.RankMost, 0)
		a.Divide(1)
		defer func() { check(t, a.Free()); check(t, dev.Close()) }()
		for _, o := range w.batch(2000, 0) {
			o.Ent &^= kernels.Staged
			w.put(o)
		}
		w.load(t, a)
		w.compare(t, a)
		a.MostLeaves(2)
		var short *kernels.MemoryError
		if err := w.loadWith(a, w.rows()); !errors.As(err, &short) {
			t.Fatalf("%d leaves, ranges of at most 2: %v", a.Leaves(), err)
		}
		a.MostLeaves(a.Leaves())
		w.load(t, a)
		w.compare(t, a)
	})
}
