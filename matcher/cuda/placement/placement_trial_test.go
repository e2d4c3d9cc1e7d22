package placement_test

import (
	"math/rand/v2"
	"testing"

	"motifd/matcher"
	"motifd/matcher/cuda/placement"
	"motifd/matcher/matchertest"
)

// TestPlacementOfAGPUThatNeverEnds: every trial is in vain, and the next one gets at least twice as much for a unit of
// work, since less would be in vain, too. But for the first, which may have taken long for what is done once.
func TestPlacementOfAGPUThatNeverEnds(t *testing.T) {
	matchertest.ForSeeds(t, 100, func(t *testing.T, rng *rand.Rand) {
		each, size := logUniform(rng, 1e3, 1e5), uint64(1)<<(8+2*rng.IntN(3))
		var trials []float64 // nanoseconds for a unit of work
		p := placement.New(placement.Options{})
		for range 4000 {
			w := placement.Work{Want: matcher.WantCount, Size: size + rng.Uint64N(size)}
			cost := each * float64(w.Size)
			err := p.Run(w, func(s placement.Side, limit int64) (placement.Cost, bool, error) {
				if s == placement.CPU {
					return placement.Cost{Search: int64(cost)}, true, nil
				} else if limit == 0 {
					t.Fatal("the GPU searches for as long as it likes")
				}
				trials = append(trials, float64(limit)/float64(w.Size))
				return placement.Cost{Search: limit}, false, nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if len(trials) < 3 {
			t.Fatalf("CPU %.0f ns: trials of %.0f ns for a unit of work", each, trials)
		}
		for i := 2; i < len(trials); i++ {
			if trials[i] < min(1.99*trials[i-1], each) {
				t.Fatalf("CPU %.0f ns: trials of %.0f ns for a unit of work", each, trials)
			}
		}
	})
}

// TestPlacementFirstSearchTeachesNothing: the GPU's first search does not end, all others take no time. Batches that
// are larger than the first one are tried as soon as what that has lost is earned.
func TestPlacementFirstSearchTeachesNothing(t *testing.T) {
	const least = 2 * 4 * 50e3 // of a trial: twice four round trips
	matchertest.ForSeeds(t, 100, func(t *testing.T, rng *rand.Rand) {
		each, times := logUniform(rng, 1e4, 1e6), uint64(1)<<rng.IntN(8)
		lost, useful := 0.0, 0.0
		p := placement.New(placement.Options{})
		for searched := 0; searched < 2; {
			w := placement.Work{Want: matcher.WantCount, Size: 500 + rng.Uint64N(500)}
			if searched > 0 {
				w.Size *= times
			}
			cost := each * float64(w.Size)
			err := p.Run(w, func(s placement.Side, limit int64) (placement.Cost, bool, error) {
				if s == placement.CPU {
					useful += cost
					return placement.Cost{Search: int64(cost)}, true, nil
				}
				if searched++; searched == 1 {
					lost = float64(limit)
					return placement.Cost{Search: limit}, false, nil
				}
				return placement.Cost{Search: 1}, true, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			// The latest batch has earned its share only now.
			if searched == 1 && explore*(useful-cost) > lost+least {
				t.Fatalf("CPU %.0f ns, then %d times as large: %.1f ms lost, %.1f ms earned, and no trial", each, times,
					lost/1e6, explore*useful/1e6)
			}
		}
	})
}
