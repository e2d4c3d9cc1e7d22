package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDemo holds that the demo ends by itself with status 0, finds what it planted and writes its summary.
func TestDemo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := succeed(t, dir, "demo", "--duration", "2s", "--rate", "3000", "--seed", "5", "--summary", "s.json")
	require.Contains(t, r.stdout, "ring")
	s := summaryOf(t, dir)
	require.Equal(t, []string{
		"found", "latency_p50_ms", "latency_p99_ms", "missed", "negative", "planted", "positive", "unexpected",
		"updates",
		"updates_per_s", "wrong",
	}, keysOf(s))
	var d demoSummary
	readJSON(t, filepath.Join(dir, "s.json"), &d)
	require.Positive(t, d.Planted)
	require.Equal(t, d.Planted, d.Found)
	require.Zero(t, d.Missed)
	require.Zero(t, d.Wrong)
	require.Positive(t, d.LatencyP99MS)
}
