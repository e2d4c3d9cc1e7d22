package stream

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
)

// TestQueueIsASlice plays a queue against a slice: puts while there is room, takes, and puts that find none.
func TestQueueIsASlice(t *testing.T) {
	matchertest.NotUnderRace(t, "it has one goroutine")
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	type element struct{ n, cost int }
	full, cancel := context.WithCancel(context.Background())
	cancel()
	for range 50 {
		maxCount, maxCost := 1+rng.IntN(400), int64(1+rng.IntN(4000))
		q := newQueue[*element](maxCount, maxCost)
		var plain []*element
		cost := int64(0)
		rising := false
		for n := range 3000 {
			if rng.IntN(100) == 0 {
				rising = !rising
			}
			if put := rng.IntN(4) == 0; put != rising {
				e := &element{n, rng.IntN(40)}
				room := len(plain) == 0 || len(plain) < maxCount && cost+int64(e.cost) <= maxCost
				err := q.put(full, e, int64(e.cost))
				require.Equal(t, room, err == nil)
				if room {
					plain, cost = append(plain, e), cost+int64(e.cost)
				}
			} else {
				select {
				case <-q.room:
				default:
				}
				x, ok, over := q.take()
				require.Equal(t, len(plain) > 0, ok)
				require.False(t, over)
				if ok {
					require.Same(t, plain[0], x)
					plain, cost = plain[1:], cost-int64(x.cost)
					half := len(plain) <= maxCount/2 && cost <= maxCost/2
					require.Equal(t, half, len(q.room) == 1,
						"whoever waits for room is told when the queue is half empty")
				}
			}
			count, held := q.fill()
			require.Equal(t, len(plain), count)
			require.Equal(t, cost, held)
			require.LessOrEqual(t, len(q.parts), len(plain)/queuePart+2)
		}
		q.close()
		for _, want := range plain {
			x, ok, err := q.takeWait(context.Background())
			require.NoError(t, err)
			require.True(t, ok)
			require.Same(t, want, x)
		}
		_, ok, err := q.takeWait(context.Background())
		require.NoError(t, err)
		require.False(t, ok)
	}
}
