package work_test

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher"
	"motifd/matcher/cpu/internal/work"
	"motifd/matcher/matchertest"
)

// TestAllowancePauses lets workers search in turns: after each they wait, and have made about the steps that they were
// allowed. In the end those of a random number of them are done, and the others are refused more.
func TestAllowancePauses(t *testing.T) {
	matchertest.ForSeeds(t, 50, func(t *testing.T, rng *rand.Rand) {
		var a work.Allowance
		a.Pause()
		var stop atomic.Bool
		var meter matcher.Meter
		var usedUp atomic.Int64
		workers := 1 + rng.IntN(3)
		var all sync.WaitGroup
		var made atomic.Uint64
		for range workers {
			w := &work.Worker{Options: &work.Options{}, Stop: &stop, Allowance: &a,
				Matches: func() uint64 { return 0 }, UsedUp: func() { usedUp.Add(1) }}
			w.Measure(&meter)
			all.Go(func() {
				for w.Step() {
				}
				made.Add(w.Steps)
			})
		}
		total := uint64(0)
		for range 1 + rng.IntN(5) {
			total += rng.Uint64N(20 * work.PollEvery)
			a.Allow(total)
			<-a.Used()
			require.Greater(t, a.Spent(), total)
			require.LessOrEqual(t, a.Spent(), total+uint64(workers+1)*work.PollEvery)
			require.False(t, a.Over())
		}
		a.Refuse()
		all.Wait()
		require.True(t, a.Over())
		require.Equal(t, a.Spent(), made.Load())
		require.GreaterOrEqual(t, usedUp.Load(), int64(1))
	})
}
