//go:build cuda || emu

package mirror

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher/cuda/cudatest"
	"motifd/matcher/internal/candidates"
	"motifd/matcher/matchertest"
)

// TestA25CacheHoldsWhatTheGraphHas fetches random vertices in small caches while a graph changes. What the device holds
// of a vertex is what all edges give: the same entries in the order of rows and neighbours, with the fences of their
// leaves. It goes on until lists were evicted, staged entries were held, and lists began within a leaf and reached into
// another.
func TestA25CacheHoldsWhatTheGraphHas(t *testing.T) {
	evicted, staged, crossed := 0, 0, 0
	enough := func() bool { return evicted > 0 && staged > 0 && crossed > 3 }
	fetchEntries = 50
	defer func() { fetchEntries = 1 << 20 }()
	matchertest.ForSeedsUntil(t, 3, enough, func(t *testing.T, rng *rand.Rand) {
		shape := matchertest.Shape{Directed: rng.IntN(2) == 0, Vertices: 40, Edges: 1 + rng.IntN(500), Messages: 600,
			Labels: matchertest.Labels{Vertex: []string{"L0", "L1", "L2"}, Edge: []string{"e0", "e1"}}}
		g := dyngraph.NewGraph(dyngraph.Options{Directed: shape.Directed})
		m := New(cudatest.NewDevice(t, rng), g, new(candidates.Filter), 2, nil)
		check := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		defer func() { check(m.Free()) }()
		check(m.UseCache(200 << rng.IntN(8)))
		for batch := range slices.Chunk(matchertest.RandomStream(rng, shape), 1+rng.IntN(200)) {
			updates, _ := g.Accept(batch)
			d, err := g.Stage(updates)
			check(err)
			m.Stage(d)
			for range rng.IntN(4) {
				check(m.CatchUp(t.Context(), d, dyngraph.New))
				var wanted []uint32
				for v := range g.IDBound() {
					if rng.IntN(4) == 0 && !m.Holds(v) {
						wanted = append(wanted, v)
					}
				}
				m.BeginRound()
				check(m.Fetch(t.Context(), wanted))
				s, c := m.compareCache(t, g)
				staged, crossed = staged+s, crossed+c
			}
			how := Outcome(1 + rng.IntN(2))
			m.Ended(d, how)
			if how == Committed {
				g.Commit()
			} else {
				g.Abort()
			}
		}
		evicted += int(m.cache.evicted)
	})
}

// compareCache compares what the device holds with the graph, and returns how many staged entries it holds, and how
// many lists that reach into another leaf than they begin in.
func (m *Mirror) compareCache(t *testing.T, g *dyngraph.Graph) (staged, crossed int) {
	t.Helper()
	c, leaves := m.cache, int(m.cache.slots+kernels.LeafSlots-1)/kernels.LeafSlots
	row, nbr, ent := make([]uint64, c.slots), make([]uint32, c.slots), make([]uint32, c.slots)
	count, fence, fenceNbr := make([]uint32, leaves), make([]uint64, leaves), make([]uint32, leaves)
	frame, spans := make([]uint32, g.IDBound()), make([]span, len(c.held)*c.dirs)
	for _, x := range []struct {
		to   []byte
		from kernels.Ptr
	}{{kernels.Bytes(row), c.row}, {kernels.Bytes(nbr), c.nbr}, {kernels.Bytes(ent), c.ent},
		{kernels.Bytes(count), c.count}, {kernels.Bytes(fence), c.fence}, {kernels.Bytes(fenceNbr), c.fenceNbr},
		{kernels.Bytes(frame), c.frame.Ptr}, {kernels.Bytes(spans), c.span}} {
		if err := m.dev.Read(x.to, x.from); err != nil {
			t.Fatal(err)
		}
	}
	want := m.listsOf(g)
	for v, f := range frame {
		if (f != 0) != m.Holds(uint32(v)) {
			t.Fatalf("vertex %d is held: %v; the device has frame %d", v, m.Holds(uint32(v)), f)
		}
		if f == 0 {
			continue
		}
		var got []Entry
		for d, s := range spans[int(f)*c.dirs:][:c.dirs] {
			for at := s.begin; at < s.end; at++ {
				got = append(got, Entry{row[at], nbr[at], ent[at]})
				if ent[at]&kernels.Staged != 0 {
					staged++
				}
				if leaf := at / kernels.LeafSlots; at > s.begin && at%kernels.LeafSlots == 0 {
					crossed++
					if fence[leaf] != row[at] || fenceNbr[leaf] != nbr[at] {
						t.Fatalf("vertex %d: the fence of leaf %d is %x %d", v, leaf, fence[leaf], fenceNbr[leaf])
					}
				}
				if count[at/kernels.LeafSlots] != kernels.LeafSlots {
					t.Fatalf("a leaf has %d slots", count[at/kernels.LeafSlots])
				}
			}
			kind := func(at uint32) uint32 { return uint32(row[at]) &^ direction }
			if s.begin < s.end && (s.first != kind(s.begin) || s.last != kind(s.end-1)) {
				t.Fatalf("vertex %d, direction %d: kinds %x to %x", v, d, s.first, s.last)
			}
		}
		if !slices.Equal(got, want[v]) {
			t.Fatalf("vertex %d has %x, not %x", v, got, want[v])
		}
	}
	return staged, crossed
}

// listsOf returns the entries of all vertices, from the edges of both views.
func (m *Mirror) listsOf(g *dyngraph.Graph) [][]Entry {
	all := make([][]Entry, g.IDBound())
	seen := map[dyngraph.EdgeIndex]bool{}
	for _, which := range []dyngraph.Which{dyngraph.Old, dyngraph.New} {
		view := g.View(which)
		for e := range view.EdgesSeq() {
			if seen[e] {
				continue
			}
			seen[e] = true
			from, to, label := view.Edge(e)
			ent := uint32(e)
			if sign, order, ok := g.Staged(e); ok {
				if ent = kernels.Staged | order; sign == dyngraph.Deleted {
					ent |= kernels.Deletes
				}
			}
			for dir, ends := range [][2]dyngraph.VertexID{{from, to}, {to, from}} {
				kind := kernels.KindOf(uint32(label), uint32(view.Label(ends[1])), m.edges.nbrBits)
				row := uint64(ends[0])<<32 | uint64(dir*(m.edges.dirs-1))<<31 | uint64(kind)
				all[ends[0]] = append(all[ends[0]], Entry{row, uint32(ends[1]), ent})
			}
		}
	}
	for _, list := range all {
		slices.SortFunc(list, func(a, b Entry) int {
			return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.Nbr, b.Nbr))
		})
	}
	return all
}
