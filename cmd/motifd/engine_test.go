package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/reference"
)

// TestTimedBackendHidesNothing: the engine finds out what a backend can do beyond matcher.Backend, although it is timed.
func TestTimedBackendHidesNothing(t *testing.T) {
	for _, b := range []matcher.Backend{cpu.New(cpu.Options{Threads: 1}), reference.New()} {
		_, can := b.(matcher.Concerner)
		_, seen := (&timedBackend{Backend: b}).forEngine().(matcher.Concerner)
		require.Equal(t, can, seen, b.Name())
		_, is := b.(*cpu.Backend)
		require.Equal(t, is, can, b.Name())
		require.NoError(t, b.Close())
	}
}
