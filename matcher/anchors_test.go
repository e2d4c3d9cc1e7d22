package matcher

import (
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/dyngraph"
)

// randomAnchors returns a plan with nothing but what the index of anchors looks at.
func randomAnchors(rng *rand.Rand) *Plan {
	label := func() dyngraph.LabelID {
		return []dyngraph.LabelID{0, 1, 2, 3, AnyLabel, UnknownLabel}[rng.IntN(6)]
	}
	p := &Plan{}
	n := 2 + rng.IntN(4)
	for range n {
		p.VertexLabels = append(p.VertexLabels, label())
	}
	for e := range 1 + rng.IntN(6) {
		p.EdgeLabels = append(p.EdgeLabels, label())
		u := rng.IntN(n)
		v := (u + 1 + rng.IntN(n-1)) % n
		p.Anchored = append(p.Anchored, Order{Edge: e, Steps: []Step{{Vertex: u}, {Vertex: v}}})
		if rng.IntN(2) == 0 {
			p.Anchored = append(p.Anchored, Order{Edge: e, Reversed: true, Steps: []Step{{Vertex: v}, {Vertex: u}}})
		}
	}
	return p
}

// TestAnchorsAgainstAll plays the index against a look at all anchors, while plans come and go.
func TestAnchorsAgainstAll(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 20 {
		var index Anchors[int]
		var plans []*Plan
		names := map[*Plan]int{}
		for range 30 {
			plans = slices.DeleteFunc(plans, func(*Plan) bool { return rng.IntN(4) == 0 })
			for range rng.IntN(6) {
				p := randomAnchors(rng)
				names[p] = len(names)
				plans = slices.Insert(plans, rng.IntN(len(plans)+1), p)
			}
			index.Set(plans, func(i, _ int) int { return names[plans[i]] })
			for range 40 {
				var k [3]dyngraph.LabelID
				for i := range k {
					k[i] = dyngraph.LabelID(rng.IntN(5)) // 4 is in no plan
				}
				var want []Fit[int]
				for _, p := range plans {
					for o := range p.Anchored {
						s := p.Anchored[o].Steps
						asks := [3]dyngraph.LabelID{p.VertexLabels[s[0].Vertex], p.EdgeLabels[p.Anchored[o].Edge], p.VertexLabels[s[1].Vertex]}
						fits := true
						for i := range k {
							fits = fits && (asks[i] == AnyLabel || asks[i] == k[i])
						}
						if fits {
							want = append(want, Fit[int]{p, o, names[p]})
						}
					}
				}
				if got := index.Of(k[0], k[1], k[2]); !slices.Equal(got.List, want) {
					t.Fatalf("labels %v: got %v, want %v", k, got.List, want)
				}
			}
		}
	}
}
