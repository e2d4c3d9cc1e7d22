//go:build cuda || emu

package cuda

import (
	"math/rand/v2"
	"testing"

	"motifd/matcher/matchertest"
)

// TestTasksAreDealtOnce deals tasks to sides: each to one side, in ascending ranges, and about equally many to each.
func TestTasksAreDealtOnce(t *testing.T) {
	matchertest.ForSeeds(t, 300, func(t *testing.T, rng *rand.Rand) {
		from, n, sides := rng.IntN(1000), 1+rng.IntN(1<<rng.IntN(20)), 1+rng.IntN(8)
		all := dealt(from, from+n, sides)
		if len(all) != sides {
			t.Fatalf("%d shares for %d sides", len(all), sides)
		}
		seen := make([]int, n)
		least, most := n, 0
		for _, ranges := range all {
			size, after := 0, 0
			for _, r := range ranges {
				if r[0] < after || r[1] <= r[0] {
					t.Fatalf("ranges %v", ranges)
				}
				after = r[1]
				size += r[1] - r[0]
				for i := r[0]; i < r[1]; i++ {
					seen[i-from]++
				}
			}
			least, most = min(least, size), max(most, size)
		}
		for i, times := range seen {
			if times != 1 {
				t.Fatalf("task %d of %d for %d sides is dealt %d times", i, n, sides, times)
			}
		}
		if block := max(leastBlock, n/(sides*mostBlocks)); most-least > 2*block {
			t.Errorf("shares of %d to %d tasks, in blocks of %d", least, most, block)
		}
	})
}

// TestHeavyTasksAreDealtEvenly has the first tenth of the tasks take ten times as long as the others: the shares of
// four sides take about equally long.
func TestHeavyTasksAreDealtEvenly(t *testing.T) {
	const n, sides = 1 << 20, 4
	var took []int
	for _, ranges := range dealt(0, n, sides) {
		sum := 0
		for _, r := range ranges {
			for i := r[0]; i < r[1]; i++ {
				if sum++; i < n/10 {
					sum += 9
				}
			}
		}
		took = append(took, sum)
	}
	for _, x := range took {
		if float64(x) > 1.02*float64(took[0]) || float64(x) < 0.98*float64(took[0]) {
			t.Errorf("shares take %v", took)
		}
	}
}
