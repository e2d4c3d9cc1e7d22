package matcher_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"weak"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
)

// randomAnchors returns a plan with nothing but what the index of anchors looks at. kinds of labels it has are 5 for
// single ones, 6 for any label, too, and 8 for alternatives.
func randomAnchors(rng *rand.Rand, kinds int) *matcher.Plan {
	label := func() dyngraph.LabelID {
		return []dyngraph.LabelID{0, 1, 2, 3, matcher.UnknownLabel, matcher.AnyLabel, matcher.LabelSet(0, 1),
			matcher.LabelSet(1, 2, 4)}[rng.IntN(kinds)]
	}
	p := &matcher.Plan{}
	n := 2 + rng.IntN(4)
	for range n {
		p.VertexLabels = append(p.VertexLabels, label())
	}
	for e := range 1 + rng.IntN(6) {
		p.EdgeLabels = append(p.EdgeLabels, label())
		u := rng.IntN(n)
		v := (u + 1 + rng.IntN(n-1)) % n
		forth, back := []matcher.Step{{Vertex: u}, {Vertex: v}}, []matcher.Step{{Vertex: v}, {Vertex: u}}
		p.Anchored = append(p.Anchored, matcher.Order{Edge: e, Steps: forth})
		if rng.IntN(2) == 0 {
			p.Anchored = append(p.Anchored, matcher.Order{Edge: e, Reversed: true, Steps: back})
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
		var index matcher.Anchors[int]
		var plans []*matcher.Plan
		names := map[*matcher.Plan]int{}
		kinds := []int{5, 6, 8}[rng.IntN(3)]
		for range 30 {
			plans = slices.DeleteFunc(plans, func(*matcher.Plan) bool { return rng.IntN(4) == 0 })
			for range rng.IntN(6) {
				p := randomAnchors(rng, kinds)
				names[p] = len(names)
				plans = slices.Insert(plans, rng.IntN(len(plans)+1), p)
			}
			index.Set(plans, func(i, _ int) int { return names[plans[i]] })
			for range 40 {
				var k [3]dyngraph.LabelID
				for i := range k {
					k[i] = dyngraph.LabelID(rng.IntN(5)) // 4 is in no plan
				}
				var want []matcher.Fit[int]
				for _, p := range plans {
					for o := range p.Anchored {
						s := p.Anchored[o].Steps
						asks := [3]dyngraph.LabelID{p.VertexLabels[s[0].Vertex], p.EdgeLabels[p.Anchored[o].Edge],
							p.VertexLabels[s[1].Vertex]}
						fits := true
						for i := range k {
							fits = fits && matcher.LabelFits(asks[i], k[i])
						}
						if fits {
							want = append(want, matcher.Fit[int]{Plan: p, Order: o, Of: names[p]})
						}
					}
				}
				if got := index.Of(k[0], k[1], k[2]); !slices.Equal(got.List, want) {
					t.Fatalf("labels %v: got %v, want %v", k, got.List, want)
				}
				if len(want) > 0 && !index.Joins().May(k[0], k[2]) {
					t.Fatalf("labels %v: the pair of ends is not known", k)
				}
			}
		}
	}
}

// wildcardCycle returns a plan of a cycle without labels, each edge in both directions, with nothing but what the
// index of anchors looks at. The vertices of named have labels.
func wildcardCycle(n int, named map[int]dyngraph.LabelID) *matcher.Plan {
	p := &matcher.Plan{}
	for u := range n {
		l, ok := named[u]
		if !ok {
			l = matcher.AnyLabel
		}
		p.VertexLabels, p.EdgeLabels = append(p.VertexLabels, l), append(p.EdgeLabels, matcher.AnyLabel)
		v := (u + 1) % n
		p.Anchored = append(p.Anchored, matcher.Order{Edge: u, Steps: []matcher.Step{{Vertex: u}, {Vertex: v}}},
			matcher.Order{Edge: u, Reversed: true, Steps: []matcher.Step{{Vertex: v}, {Vertex: u}}})
	}
	return p
}

// TestAnchorsShareFits holds that labels that no plan names cost no list each: all have that of the wildcard anchors.
func TestAnchorsShareFits(t *testing.T) {
	var index matcher.Anchors[int]
	plans := make([]*matcher.Plan, 200)
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
}

// TestAnchorsForget holds that lists that label combinations do not share are bounded in all, and stay right.
func TestAnchorsForget(t *testing.T) {
	matchertest.NotUnderRace(t, "it has one goroutine")
	var index matcher.Anchors[int]
	var plans []*matcher.Plan
	const labels = 80
	for l := range dyngraph.LabelID(labels) {
		plans = append(plans, wildcardCycle(5, map[int]dyngraph.LabelID{0: l + 1}))
	}
	index.Set(plans, func(i, _ int) int { return i })
	const limit = 1 << 20                                     // fits that the index keeps
	lists := map[weak.Pointer[matcher.AnchorEntry[int]]]int{} // fits, of those that are in memory
	most := 0
	for from := range dyngraph.LabelID(labels) {
		for to := range dyngraph.LabelID(labels) {
			// Each plan has 3 edges between wildcards; 2 more anchors start, and 2 end, at its own label.
			want := 6*labels + 4
			entry := index.Of(from+1, 0, to+1)
			if got := len(entry.List); got != want {
				t.Fatalf("labels %d and %d: got %d fits, want %d", from+1, to+1, got, want)
			}
			lists[weak.Make(entry)] = len(entry.List)
		}
		if from%8 < 7 {
			continue
		}
		runtime.GC()
		kept := 0
		for list, n := range lists {
			if list.Value() == nil {
				delete(lists, list)
			} else {
				kept += n
			}
		}
		most = max(most, kept)
	}
	if most > limit || most < limit/2 {
		t.Fatalf("the index kept up to %d fits, want at most %d and more than half of that", most, limit)
	}
}
