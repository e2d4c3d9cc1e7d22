//go:build cuda || emu

package cuda

import (
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/matcher/matchertest"
)

// TestDealerDealsEachTaskOnce has sides take chunks in random order, some of which they give back: each task is dealt
// once, one side gets all in their order, and the first chunks of several sides are equal and mixed.
func TestDealerDealsEachTaskOnce(t *testing.T) {
	matchertest.ForSeeds(t, 300, func(t *testing.T, rng *rand.Rand) {
		n, sides := rng.IntN(1<<rng.IntN(20)), 1+rng.IntN(8)
		most := 1 + rng.IntN(1<<rng.IntN(22))
		rate := float64(rng.IntN(3)) * float64(rng.IntN(1e4))
		d := newDealer(n, sides, most, rate)
		seen := make([]int, n)
		var order []int
		returned := 0
		for c, ok := d.take(); ok; c, ok = d.take() {
			if rng.IntN(5) == 0 && returned < 3 {
				returned++
				d.giveBack(c)
				continue
			}
			size := 0
			for _, r := range d.ranges(c) {
				size += r[1] - r[0]
				for i := r[0]; i < r[1]; i++ {
					seen[i]++
					order = append(order, i)
				}
			}
			if size > most || size == 0 {
				t.Fatalf("a chunk of %d tasks, of at most %d", size, most)
			}
			if rng.IntN(2) == 0 {
				d.took(c, rng.Int64N(1e7))
			}
		}
		if d.left() || slices.ContainsFunc(seen, func(times int) bool { return times != 1 }) {
			t.Fatalf("%d tasks for %d sides, %d at a time: dealt %v times", n, sides, most, seen)
		}
		if sides == 1 && returned == 0 && !slices.IsSorted(order) {
			t.Fatal("one side does not get the tasks in their order")
		}
	})
}

// TestDealerSpreadsHeavyTasks has the first tenth of the tasks take ten times as long as the others: the first chunks
// of four sides take about equally long.
func TestDealerSpreadsHeavyTasks(t *testing.T) {
	const n, sides = 1 << 20, 4
	d := newDealer(n, sides, 1<<24, 0)
	var took []int
	for range sides {
		c, _ := d.take()
		all := 0
		for _, r := range d.ranges(c) {
			for i := r[0]; i < r[1]; i++ {
				all++
				if i < n/10 {
					all += 9
				}
			}
		}
		took = append(took, all)
	}
	if least, most := slices.Min(took), slices.Max(took); least*102 < most*100 || least*sides < n {
		t.Errorf("the first chunks take %v", took)
	}
}

// TestDealerHasFewRounds counts the chunks of searches that take each of four sides 10 ms, 1 s, and an unknown time.
func TestDealerHasFewRounds(t *testing.T) {
	const n, sides = 1 << 20, 4
	for _, c := range []struct {
		each        float64 // milliseconds
		least, most int
	}{{10, sides, sides}, {1000, 2*sides + 1, 4 * sides}, {0, 4 * sides, 10 * sides}} {
		d := newDealer(n, sides, 1<<24, c.each*1e6*sides/n)
		chunks := 0
		for {
			if _, ok := d.take(); !ok {
				break
			}
			chunks++
		}
		if chunks < c.least || chunks > c.most {
			t.Errorf("%.0f ms a side: %d chunks, not %d to %d", c.each, chunks, c.least, c.most)
		}
	}
}

// TestTasksAsRuns compares runs of random ranges with the tasks one by one.
func TestTasksAsRuns(t *testing.T) {
	matchertest.ForSeeds(t, 300, func(t *testing.T, rng *rand.Rand) {
		type task struct{ program, group, net uint32 }
		var all []task
		of := &tasks{net: make([]uint32, 1+rng.IntN(50))}
		for i := range of.net {
			of.net[i] = rng.Uint32()
		}
		for range rng.IntN(6) {
			from := rng.IntN(len(of.net))
			to := from + rng.IntN(len(of.net)-from+1)
			program, group := rng.Uint32N(5), rng.Uint32N(5)
			of.add(program, group, from, to)
			for _, net := range of.net[from:to] {
				all = append(all, task{program, group, net})
			}
		}
		if of.n != len(all) {
			t.Fatalf("%d tasks, not %d", of.n, len(all))
		}
		var want, got []task
		var ranges [][2]int
		for at := 0; at < len(all); {
			to := at + 1 + rng.IntN(len(all)-at)
			if rng.IntN(2) == 0 {
				ranges = append(ranges, [2]int{at, to})
				want = append(want, all[at:to]...)
			}
			at = to
		}
		runs, n := of.runs(ranges)
		net := of.gather(runs, n)
		for i, r := range runs {
			end := n
			if i+1 < len(runs) {
				end = int(runs[i+1].First)
			}
			for k := range end - int(r.First) {
				got = append(got, task{r.Program, r.Group, net[int(r.Net)+k]})
			}
		}
		if n != len(want) || !slices.Equal(want, got) {
			t.Fatalf("want %v\n got %v", want, got)
		}
	})
}
