//go:build cuda || emu

package cuda

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
)

// TestKinds sorts batches: every edge is with those of its labels and sign, in order.
func TestKinds(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, labels := range []int{1, 5, 30, 70} {
		l := dyngraph.NewLoader(dyngraph.Options{})
		for i := range labels {
			if err := l.Label(strconv.Itoa(i)); err != nil {
				t.Fatal(err)
			}
		}
		const vertices = 500
		for v := range vertices {
			if err := l.Vertex(dyngraph.VertexRecord{ID: dyngraph.VertexID(v), Key: strconv.Itoa(v),
				Label: dyngraph.LabelID(rng.IntN(labels + 1))}); err != nil {
				t.Fatal(err)
			}
		}
		g, err := l.Graph()
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 1, 1000, 20_000 + rng.IntN(20_000)} {
			d := &dyngraph.Delta{Net: make([]dyngraph.NetEdge, n)}
			for i := range d.Net {
				d.Net[i].From, d.Net[i].To = dyngraph.VertexID(rng.IntN(vertices)),
					dyngraph.VertexID(rng.IntN(vertices))
				d.Net[i].Label, d.Net[i].Sign = dyngraph.LabelID(rng.IntN(labels+1)), dyngraph.Sign(2*rng.IntN(2)-1)
			}
			want := map[kind][]uint32{}
			view := g.View(dyngraph.New)
			for i, e := range d.Net {
				k := kind{[3]dyngraph.LabelID{view.Label(e.From), e.Label, view.Label(e.To)}, e.Sign}
				want[k] = append(want[k], uint32(i))
			}
			got := newKinds(g, d)
			if len(got.all) != len(want) || len(got.starts) != len(want)+1 {
				t.Fatalf("%d labels, %d edges: %d kinds, not %d", labels, n, len(got.all), len(want))
			}
			for range 20 {
				want := [3]dyngraph.LabelID{}
				for i := range want {
					want[i] = []dyngraph.LabelID{dyngraph.LabelID(rng.IntN(labels + 1)), matcher.AnyLabel,
						matcher.UnknownLabel, matcher.LabelSet(0, dyngraph.LabelID(rng.IntN(labels+1)))}[rng.IntN(8)/2]
				}
				sign := dyngraph.Sign(2*rng.IntN(2) - 1)
				fit := slices.Sorted(got.fitting(sign, want))
				var all []int
				for i, x := range got.all {
					if l := x.labels; x.sign == sign && matcher.LabelFits(want[0], l[0]) &&
						matcher.LabelFits(want[1], l[1]) && matcher.LabelFits(want[2], l[2]) {
						all = append(all, i)
					}
				}
				if !slices.Equal(fit, all) {
					t.Fatalf("%d labels, %d edges: %v fits %v, not %v", g.Labels(), n, want, fit, all)
				}
			}
			for i, k := range got.all {
				of := got.net[got.starts[i]:got.starts[i+1]]
				if !slices.Equal(of, want[k]) {
					t.Fatalf("%d labels, %d edges: %d edges of kind %v, not %d, or others", g.Labels(), n, len(of), k,
						len(want[k]))
				}
				for _, e := range of {
					if got.of[e] != uint32(i) {
						t.Fatalf("edge %d is of kind %d, not %d", e, got.of[e], i)
					}
				}
			}
		}
	}
}
