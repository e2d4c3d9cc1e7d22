package dyngraph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestColumnsGrow plays columns that grow into memory made beforehand against plain slices.
func TestColumnsGrow(t *testing.T) {
	var seen growth
	for _, seed := range moveSeeds(t, 20) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 5))
			growColumn(t, rnd, &seen, func() uint64 { return rnd.Uint64() })
			growColumn(t, rnd, &seen, func() string { return fmt.Sprint(rnd.Uint32()) })
		})
	}
	if seen.foreseen == 0 || seen.used == 0 {
		t.Errorf("memory was made beforehand %d times, and used %d times", seen.foreseen, seen.used)
	}
}

// beside is a background for tests.
func beside(work func()) { go work() }

// growth is how often memory was made beforehand, and how often it was asked for then.
type growth struct{ foreseen, used int }

func growColumn[T comparable](t *testing.T, rnd *rand.Rand, seen *growth, draw func() T) {
	t.Helper()
	var s spare[T]
	var got, want []T
	for len(want) < 300_000 {
		n := len(want) + 1 + rnd.IntN(2000)
		if rnd.IntN(60) == 0 {
			n += rnd.IntN(100_000) // beyond what is made
		}
		if rnd.IntN(10) == 0 {
			n = max(1, rnd.IntN(len(want)+1)) // a column does not shrink
		}
		before, ready := cap(got), s.made != nil
		got = s.grown(beside, got, n)
		from := len(want) // what is there need be looked at when it was moved, and now and then
		if cap(got) != before || rnd.IntN(10) == 0 {
			from = 0
		}
		if n > len(want) {
			want = append(want, make([]T, n-len(want))...)
		}
		if len(got) != len(want) || !slices.Equal(got[from:], want[from:]) {
			t.Fatalf("%d elements, want %d, or others", len(got), len(want))
		}
		if c := cap(got); c > before && c > max(n, larger(before)) {
			t.Fatalf("room for %d elements, where %d outgrew %d", c, n, before)
		}
		if ready && s.made == nil {
			seen.used++
		}
		if !ready && s.made != nil {
			seen.foreseen++
		}
		for range 50 {
			i := rnd.IntN(len(want))
			want[i] = draw()
			got[i] = want[i]
		}
	}
}

// TestSpareIsAsLargeAsAskedFor: memory that was made for a column of another size is not used.
func TestSpareIsAsLargeAsAskedFor(t *testing.T) {
	for _, made := range []int{300_000, 400_000, 700_000} {
		var s spare[uint64]
		s.prepare(beside, made)
		if s.made == nil {
			t.Fatal("nothing was made")
		}
		x := s.take(350_000, 390_000)
		want := 390_000
		if made == 400_000 {
			want = made
		}
		if len(x) != 350_000 || cap(x) < want || cap(x) > want+want/20 || s.made != nil {
			t.Fatalf("%d made: %d elements, room for %d, want %d", made, len(x), cap(x), want)
		}
		if slices.ContainsFunc(x, func(v uint64) bool { return v != 0 }) {
			t.Fatal("elements are not zero")
		}
	}
}
