package dyngraph

import (
	"fmt"
	"testing"
)

func TestS3TwinHistories(t *testing.T) {
	for seed := range uint64(400) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			play(t, seeded(seed), 12, 12, 4+int(seed%7))
		})
	}
}

func TestS3TwinLongBatches(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			play(t, seeded(seed), 6, 120, 12)
		})
	}
}

// TestS3TwinPlainBatches has long batches in which hardly any vertex is deleted or declared, so that most updates are
// plain.
func TestS3TwinPlainBatches(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			pick := seeded(seed)
			play(t, func(n int) int {
				if n == 20 && pick(200) > 0 { // an update's kind: one of an edge
					return pick(16)
				}
				return pick(n)
			}, 5, 400, 20)
		})
	}
}

func FuzzGraph(f *testing.F) {
	f.Add([]byte{0, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 2000 {
			b = b[:2000]
		}
		play(t, fromBytes(b), 8, 10, 5)
	})
}
