package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDemo holds that the demo ends by itself with status 0, finds what it planted, tells a case from the alert to its
// withdrawal, and writes its summary.
func TestDemo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := succeed(t, dir, "demo", "--duration", "4s", "--rate", "5000", "--seed", "5", "--summary", "s.json")
	require.Contains(t, r.stdout, "One case.")
	require.Contains(t, r.stdout, `"amount":`)
	require.Contains(t, r.stdout, " is cancelled. The withdrawal has the same match id:")
	s := summaryOf(t, dir)
	require.Equal(t, []string{
		"found", "latency_p50_ms", "latency_p99_ms", "missed", "negative", "planted", "positive", "unexpected",
		"updates",
		"updates_per_s", "wrong",
	}, keysOf(s))
	require.Positive(t, s["planted"])
	require.Equal(t, s["planted"], s["found"])
	require.Zero(t, s["missed"])
	require.Zero(t, s["wrong"])
	require.Positive(t, s["latency_p99_ms"])
}
