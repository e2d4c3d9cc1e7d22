package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestConfigDefaults runs with the printed defaults. They lack the required fields alone, and the refusal names these.
func TestConfigDefaults(t *testing.T) {
	t.Parallel()
	text := succeed(t, t.TempDir(), "config", "defaults").stdout
	require.Contains(t, text, "\n    query_output: 1GiB\n")
	dir := write(t, map[string]string{"motifd.yaml": text})
	r := motifd(t, dir, "run", "-c", "motifd.yaml", "--check")
	require.Equal(t, exitRefused, r.code)
	require.Contains(t, r.stderr, "checkpoint.dir")
	succeed(t, dir, "run", "-c", "motifd.yaml", "--check", "--set", "input.file.path=-", "--set", "input.format=json",
		"--set", "output.file.path=-", "--set", "checkpoint.dir=state")
}
