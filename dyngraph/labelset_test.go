package dyngraph

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestA7LabelSetAgainstSlice plays a set of labels against a sorted slice, and a vertex's head with it.
func TestA7LabelSetAgainstSlice(t *testing.T) {
	for seed := range uint64(2000) {
		rnd := rand.New(rand.NewPCG(seed, 21))
		labels := []LabelID{0, 1, 2, 7, 252, 253, 254, 300}[:4+rnd.IntN(5)]
		var s labelSet
		var want []LabelID
		var h head
		count := map[LabelID]int{}
		many := false
		for range 30 {
			l := labels[rnd.IntN(len(labels))]
			if rnd.IntN(3) > 0 {
				s = s.with(l)
				if !slices.Contains(want, l) {
					want = append(want, l)
					slices.Sort(want)
				}
				many = many || l >= 254 || len(want) > 4
				h.add(In, l)
				count[l]++
			} else {
				if s = s.without(l); !many {
					want = slices.DeleteFunc(want, func(x LabelID) bool { return x == l })
				}
				if count[l] > 0 {
					count[l]--
					h.drop(In, l, count[l] == 0 && rnd.IntN(2) == 0)
				}
			}
			if many != (s == manyLabels) {
				t.Fatalf("seed %d: %x of %v", seed, s, want)
			}
			present := 0
			for _, l := range labels {
				if !many && s.rank(l) != slices.Index(want, l) {
					t.Fatalf("seed %d: the rank of %d in %x is %d; the labels are %v", seed, l, s, s.rank(l), want)
				}
				if count[l] > 0 {
					present++
					if h.lacks(In, l) {
						t.Fatalf("seed %d: label %d is missing in %+v, of %v", seed, l, h, count)
					}
				}
			}
			if !many && s.len() != len(want) {
				t.Fatalf("seed %d: %x has %d of %v", seed, s, s.len(), want)
			}
			if present > 1 && h.mixed != 1<<In || present == 0 && h.mixed != 0 {
				t.Fatalf("seed %d: mixed is %b with %v", seed, h.mixed, count)
			}
		}
	}
}
