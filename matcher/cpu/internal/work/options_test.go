package work

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUnlockedPassesPanicsOn: a panic without the lock reaches the caller's caller, and the lock is free then.
func TestUnlockedPassesPanicsOn(t *testing.T) {
	var mu sync.Mutex
	held := true
	require.PanicsWithValue(t, "cause", func() {
		mu.Lock()
		defer mu.Unlock()
		Unlocked(&mu, func() {
			if held = !mu.TryLock(); !held {
				mu.Unlock()
			}
			panic("cause")
		})
	})
	require.False(t, held)
	require.True(t, mu.TryLock())
}
