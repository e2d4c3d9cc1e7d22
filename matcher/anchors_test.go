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
						asks := [3]dyngraph.LabelID{p.VertexLabels[s[0].Vertex], p.EdgeLabels[p.Anchored[o].Edge],
							p.VertexLabels[s[1].Vertex]}
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

// wildcardCycle returns a plan of a cycle without labels, each edge in both directions, with nothing but what the
// index of anchors looks at. The vertices of named have labels.
func wildcardCycle(n int, named map[int]dyngraph.LabelID) *Plan {
	p := &Plan{}
	for u := range n {
		l, ok := named[u]
		if !ok {
			l = AnyLabel
		}
		p.VertexLabels, p.EdgeLabels = append(p.VertexLabels, l), append(p.EdgeLabels, AnyLabel)
		v := (u + 1) % n
		p.Anchored = append(p.Anchored, Order{Edge: u, Steps: []Step{{Vertex: u}, {Vertex: v}}},
			Order{Edge: u, Reversed: true, Steps: []Step{{Vertex: v}, {Vertex: u}}})
	}
	return p
}

// TestAnchorsShareFits holds that labels that no plan names cost no list each: all have that of the wildcard anchors.
func TestAnchorsShareFits(t *testing.T) {
	var index Anchors[int]
	plans := make([]*Plan, 200)
	for i := range plans {
		plans[i] = wildcardCycle(5, nil)
	}
	index.Set(plans, func(i, _ int) int { return i })
	first := index.Of(1, 2, 3)
	if len(first.List) != 2000 {
		t.Fatalf("got %d fits, want 2000", len(first.List))
	}
	for l := range dyngraph.LabelID(15_000) {
		if index.Of(4, l+4, l+5) != first {
			t.Fatalf("label %d has a list of its own", l+4)
		}
	}
	if index.kept != 2000 {
		t.Fatalf("the index keeps %d fits, want 2000", index.kept)
	}
}

// TestAnchorsForget holds that lists that label combinations do not share are bounded in all, and stay right.
func TestAnchorsForget(t *testing.T) {
	var index Anchors[int]
	var plans []*Plan
	const labels = 80
	for l := range dyngraph.LabelID(labels) {
		plans = append(plans, wildcardCycle(5, map[int]dyngraph.LabelID{0: l + 1}))
	}
	index.Set(plans, func(i, _ int) int { return i })
	most := 0
	for from := range dyngraph.LabelID(labels) {
		for to := range dyngraph.LabelID(labels) {
			// Each plan has 3 edges between wildcards; 2 more anchors start, and 2 end, at its own label.
			want := 6*labels + 4
			if got := len(index.Of(from+1, 0, to+1).List); got != want {
				t.Fatalf("labels %d and %d: got %d fits, want %d", from+1, to+1, got, want)
			}
			most = max(most, index.kept)
		}
	}
	if most > maxKept || most < maxKept/2 {
		t.Fatalf("the index kept up to %d fits, want at most %d and more than half of that", most, maxKept)
	}
}
