//go:build emu && !cuda

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// backfillConfig has a graph whose matches are emitted at registration, of every kind, and a stream after it.
const backfillConfig = `
graph: {directed: false, bootstrap: graph.txt}
input: {file: {path: updates.txt}}
output: {file: {path: OUT}}
checkpoint: {dir: OUT.state}
batch: {max_updates: 40}
queries:
  - {name: paths, file: path.txt, backfill: full}
  - {name: some paths, file: path.txt, unit: subgraphs, max_matches_per_batch: 7, exact_total: true, backfill: full}
  - {name: rings, file: ring.txt, emit: counts, backfill: full}
  - {name: ring, file: ring.txt, emit: exists, backfill: full}
`

// daemon runs the daemon with backfillConfig to the end of its input, on its state of that name if there is one, and
// returns all that it has written.
func (e *emulated) daemon(t *testing.T, name, emulator string, set ...string) (records string, r result) {
	t.Helper()
	out := name + ".jsonl"
	config := filepath.Join(e.dir, name+".yaml")
	require.NoError(t, os.WriteFile(config, []byte(strings.ReplaceAll(backfillConfig, "OUT", out)), 0o600))
	args := []string{"run", "-c", config, "--set", "admin.listen="}
	for _, s := range set {
		args = append(args, "--set", s)
	}
	r = e.motifd(t, emulator, args...)
	text, err := os.ReadFile(filepath.Join(e.dir, out))
	if !errors.Is(err, os.ErrNotExist) { // it may not have come so far
		require.NoError(t, err)
	}
	return withoutStream(string(text)), r
}

// gpuBackfill has queries registered over a graph: their snapshots, and what comes after, are the same bytes whatever
// searches.
func gpuBackfill(t *testing.T, e *emulated) {
	want, r := e.daemon(t, "backfill-cpu", "", "engine.backend=cpu")
	require.Equal(t, exitOK, r.code, r.stderr)
	for _, query := range []string{"paths", "some paths", "rings", "ring"} {
		require.Positive(t, len(regexp.MustCompile(`"query":"`+query+`",.*"snapshot":true`).FindAllString(want, -1)),
			query)
	}
	for _, backend := range []string{"cuda", "auto"} {
		got, r := e.daemon(t, "backfill-"+backend, e.emulator, "engine.backend="+backend, "engine.placement.fill=1")
		require.Equal(t, exitOK, r.code, r.stderr)
		require.Contains(t, r.stderr, "searching on a GPU")
		require.Equal(t, want, got)
	}
}

// gpuMatch has matches of a graph written, or only counted: the same bytes and numbers whatever searches.
func gpuMatch(t *testing.T, e *emulated) {
	counts := regexp.MustCompile(`"(name|matches)": *[^,]*`)
	for _, unit := range []string{"embeddings", "subgraphs"} {
		for _, out := range []string{"matches.jsonl", "none"} {
			match := func(emulator, backend string) (matches, counted string) {
				r := e.motifd(t, emulator, "match", "--graph", "graph.txt", "--query", "path.txt", "--query",
					"ring.txt", "--undirected", "--unit", unit,
					"--out", out, "--summary", "summary.json", "--backend", backend)
				require.Equal(t, exitOK, r.code, r.stderr)
				require.Equal(t, emulator != "", strings.Contains(r.stderr, "searching on a GPU"), r.stderr)
				if out != "none" {
					matches = readFile(t, filepath.Join(e.dir, out))
				}
				return matches, strings.Join(counts.FindAllString(readFile(t, filepath.Join(e.dir, "summary.json")),
					-1), " ")
			}
			want, counted := match("", "cpu")
			for _, query := range []string{"path", "ring"} {
				require.Regexp(t, `"name": *"`+query+`" "matches": *[1-9]`, counted)
				require.Equal(t, out != "none", strings.Contains(want, `"query":"`+query+`"`))
			}
			for _, backend := range []string{"cuda", "auto"} {
				got, sum := match(e.emulator, backend)
				require.Equal(t, want, got)
				require.Equal(t, counted, sum)
			}
		}
	}
}

// gpuRestart runs the daemon on a GPU, asked for by name, that fails on the way: it ends with an error and whole
// batches. Started again on one that does not fail, it does the failed batch again, and what was written in the end
// is what the CPU writes undisturbed.
func gpuRestart(t *testing.T, e *emulated) {
	want, r := e.daemon(t, "restart-cpu", "", "engine.backend=cpu")
	require.Equal(t, exitOK, r.code, r.stderr)
	require.NoError(t, os.WriteFile(filepath.Join(e.dir, "nothing.txt"), nil, 0o600))
	begun, before := e.asked(t, "restart-begun", "input.file.path=nothing.txt")
	got, all := e.asked(t, "restart-whole")
	require.Equal(t, want, got)
	after := func(percent int) int { return before + (all-before)*percent/100 } // of the stream
	// tries of which whole ones were written
	batches := 0
	for i, bytes := range []int{before / 2, after(10), after(30), after(50), after(70), after(90)} {
		name := fmt.Sprint("restart", i)
		got, r := e.daemon(t, name, e.dying(t, bytes), "engine.backend=cuda")
		require.Equal(t, exitFailed, r.code, r.stderr)
		require.Contains(t, r.stderr, "the GPU failed in ")
		require.True(t, strings.HasPrefix(want, got), "whole batches, and then the error")
		require.Less(t, len(got), len(want))
		if len(got) > len(begun) {
			batches++
		}
		got, r = e.daemon(t, name, e.emulator, "engine.backend=cuda")
		require.Equal(t, exitOK, r.code, r.stderr)
		require.Equal(t, want, got, "batches are done again")
	}
	require.Positive(t, batches)
}

// asked runs the daemon on a GPU and returns what it wrote and how many bytes the GPU was sent.
func (e *emulated) asked(t *testing.T, name string, set ...string) (records string, bytes int) {
	t.Helper()
	path := filepath.Join(e.dir, name+".counting")
	script := fmt.Sprintf("#!/bin/sh\ntee '%s.bytes' | '%s'\n", path, e.emulator)
	require.NoError(t, os.WriteFile(path, []byte(script), 0o700))
	records, r := e.daemon(t, name, path, append(set, "engine.backend=cuda")...)
	require.Equal(t, exitOK, r.code, r.stderr)
	info, err := os.Stat(path + ".bytes")
	require.NoError(t, err)
	return records, int(info.Size())
}
