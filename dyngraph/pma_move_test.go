package dyngraph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// moved is a random array: hubs, vertices without entries, labels that come in runs or alternate.
func moved(rnd *rand.Rand) (p *pma, have []slot, draw func(n int) []slot) {
	p = &pma{directed: rnd.IntN(3) > 0}
	vertices := []int{2, 40, 700, 9000}[rnd.IntN(4)]
	p.grow(vertices + 1)
	known := map[slot]bool{}
	hub, labels, gaps := rnd.IntN(vertices), 1+rnd.IntN(3), 1+rnd.IntN(40)
	center := rnd.IntN(vertices)
	draw = func(n int) (ops []slot) {
		for range n {
			v := rnd.IntN(vertices)
			switch rnd.IntN(4) {
			case 0:
				v = hub
			case 1:
				v = min(center+rnd.IntN(30), vertices-1)
			}
			d := Out
			if p.directed {
				d = Dir(rnd.IntN(2))
			}
			k := slot{row: rowKey(VertexID(v/gaps*gaps), d, LabelID(rnd.IntN(labels))),
				nbr: VertexID(1<<20 + rnd.IntN(4000))}
			if !known[k] {
				known[k] = true
				ops = append(ops, slot{k.row, k.nbr, p.newEdge(k)})
			}
		}
		slices.SortFunc(ops, compareSlots)
		return ops
	}
	for range 1 + rnd.IntN(4) {
		ops := draw(1 + rnd.IntN(6000))
		p.insert(ops, nil)
		have = append(have, ops...)
	}
	slices.SortFunc(have, compareSlots)
	return p, have, draw
}

// copied is the array with columns of its own.
func (p *pma) copied() *pma {
	q := *p
	q.nbr, q.ent, q.count = slices.Clone(p.nbr), slices.Clone(p.ent), slices.Clone(p.count)
	q.first, q.runs, q.heads = slices.Clone(p.first), slices.Clone(p.runs), slices.Clone(p.heads)
	q.segments, q.pending, q.merged, q.moved = nil, nil, nil, stretch{}
	return &q
}

// sameArray holds that two arrays are the same, gaps aside.
func sameArray(t *testing.T, got, want *pma) {
	t.Helper()
	if !slices.Equal(got.count, want.count) || !slices.Equal(got.first, want.first) ||
		!slices.Equal(got.runs, want.runs) {
		t.Fatal("other leaves")
	}
	for v := range want.heads {
		if g, w := got.heads[v], want.heads[v]; g != w && (g.all() > 0 || w.all() > 0) {
			t.Fatalf("vertex %d has %+v, want %+v", v, g, w)
		}
	}
	for leaf, c := range want.count {
		a, b := leaf*leafSize, leaf*leafSize+int(c)
		if !slices.Equal(got.nbr[a:b], want.nbr[a:b]) || !slices.Equal(got.ent[a:b], want.ent[a:b]) {
			t.Fatalf("leaf %d has other entries", leaf)
		}
	}
}

// TestMoveWindow: a window that is moved becomes what one is that is merged and spread entry by entry.
func TestMoveWindow(t *testing.T) {
	for _, seed := range moveSeeds(t, 150) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 77))
			p, _, draw := moved(rnd)
			for range 12 {
				a := rnd.IntN(p.leaves())
				b := a + 1 + rnd.IntN(p.leaves()-a)
				if rnd.IntN(4) == 0 {
					a, b = 0, p.leaves()
				}
				var ops []slot // those that belong in the window, as far as it has room for them
				for _, o := range draw(1 + rnd.IntN(300)) {
					if leaf := p.seek(
						0,
						o.row,
						o.nbr,
						o.ent.Index(),
					); leaf >= a && leaf < b && p.countIn(a, b)+len(ops) < (b-a)*leafSize &&
						rnd.IntN(8) > 0 {
						ops = append(ops, o)
					}
				}
				if rnd.IntN(4) == 0 {
					ops = nil
				}
				q := p.copied()
				q.spread(a, b, q.merge(a, b, ops))
				p.moveWindow(a, b, ops)
				p.n, q.n = p.n+len(ops), q.n+len(ops)
				sameArray(t, p, q)
			}
		})
	}
}

// TestRebuild: an array that is written anew equals one that is built of its entries one by one.
func TestRebuild(t *testing.T) {
	for _, seed := range moveSeeds(t, 100) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 78))
			p, have, draw := moved(rnd)
			for range 4 {
				var ops []slot
				if rnd.IntN(3) > 0 {
					ops = draw(1 + rnd.IntN([]int{3, 300, 20_000}[rnd.IntN(3)]))
				}
				have = append(have, ops...)
				slices.SortFunc(have, compareSlots)
				p.rebuild(ops)
				q := p.copied()
				b := q.build(len(have))
				for _, s := range have {
					b.add(s.row, s.nbr, s.ent)
				}
				sameArray(t, p, q)
				checkPMA(t, p)
			}
		})
	}
}

func moveSeeds(t *testing.T, n int) []uint64 {
	t.Helper()
	seeds := make([]uint64, n)
	for i := range seeds {
		seeds[i] = uint64(i)
	}
	return seeds
}

// BenchmarkWindow spreads windows of a large array that an insertion overfills, entry by entry and moved.
func BenchmarkWindow(b *testing.B) {
	c := newChurn(b, 1_500_000)
	p := &c.g.adj
	for _, width := range []int{2, 4, 8, 16, 1024, 16384} {
		for _, way := range []struct {
			name string
			do   func(a, b int, ops []slot)
		}{
			{"spread", func(a, b int, ops []slot) { p.spread(a, b, p.merge(a, b, ops)) }},
			{"moved", p.moveWindow},
		} {
			b.Run(fmt.Sprintf("leaves=%d/%s", width, way.name), func(b *testing.B) {
				rnd := rand.New(rand.NewPCG(1, 1))
				n := 0
				for b.Loop() {
					a := rnd.IntN(p.leaves() - width)
					v := VertexID(p.first[a+width/2] >> 32)
					ops := []slot{{rowKey(v, Out, 1), VertexID(1<<24 + n), 0}}
					ops[0].ent = p.newEdge(ops[0])
					way.do(a, a+width, ops)
					p.remove(ops, nil)
					p.edges = p.edges[:len(p.edges)-1]
					n += p.countIn(a, a+width)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/entry")
			})
		}
	}
}
