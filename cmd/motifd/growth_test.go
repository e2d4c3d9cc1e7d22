package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// growth is a daemon over a file that grows between its starts. Some of its lines have values that are not of their
// type.
type growth struct {
	config  string // with out.jsonl, dead.jsonl and state, and the query in a file
	query   string
	cypher  string
	lines   func() (all, good []string) // the next ones, with and without the bad ones
	initial bool                        // the graph that the daemon begins with has lines, too
	values  bool                        // a cancellation shows what was announced
	flags   []string                    // of match and replay

	dir string
	run []string // the command line of the daemon
}

// play starts the daemon three times. Its output adds up to what `match` finds in the end, and to what a replay in
// other batches finds; the batch log replays to the same bytes; each bad line is a dead letter. It returns the output,
// and what `checkpoint info` prints.
func (g *growth) play(t *testing.T, seed uint64) (out, info string) {
	g.dir = write(t, map[string]string{"motifd.yaml": g.config, g.query + ".cypher": g.cypher})
	g.run = []string{"run", "-c", "motifd.yaml"}
	file := func(name string, lines []string) {
		text := strings.Join(lines, "\n") + "\n"
		require.NoError(t, os.WriteFile(filepath.Join(g.dir, name), []byte(text), 0o644))
	}
	var all, good []string
	if g.initial {
		_, good = g.lines()
		file("initial.jsonl", good)
		g.run = append(g.run, "--graph=initial.jsonl")
	}
	first := len(good)
	for range 3 {
		a, b := g.lines()
		all, good = append(all, a...), append(good, b...)
		file("in.jsonl", all)
		succeed(t, g.dir, g.run...)
	}
	out = readFile(t, filepath.Join(g.dir, "out.jsonl"))
	require.Contains(t, out, `"op":"-"`)
	require.NotContains(t, out, "memo", "it is not declared")
	dead := readFile(t, filepath.Join(g.dir, "dead.jsonl"))
	require.Equal(t, len(all)-(len(good)-first), strings.Count(dead, `"reason":"property"`))

	file("good.jsonl", good)
	play := func(command string, more ...string) map[string]string {
		args := append([]string{command, "--query=" + g.query + ".cypher"}, append(g.flags, more...)...)
		return g.standing(t, succeed(t, g.dir, args...).stdout)
	}
	want := play("match", "--graph=good.jsonl", "--out=-")
	require.NotEmpty(t, want, "seed %d", seed)
	require.Equal(t, want, g.standing(t, out), "seed %d", seed)
	require.Equal(t, want, play("replay", "--updates=good.jsonl", "--batch=3"), "seed %d: cut anew", seed)
	require.Equal(t, out, succeed(t, g.dir, "replay", "--batch-log=state").stdout, "seed %d", seed)
	require.Contains(t, succeed(t, g.dir, "checkpoint", "verify", "state").stdout, "intact")
	return out, succeed(t, g.dir, "checkpoint", "info", "state").stdout
}

// refuses starts the daemon with another configuration, which its checkpoint does not fit, or its queries.
func (g *growth) refuses(t *testing.T, from, to string, status int, says string) {
	other := strings.Replace(g.config, from, to, 1)
	require.NotEqual(t, g.config, other)
	require.NoError(t, os.WriteFile(filepath.Join(g.dir, "motifd.yaml"), []byte(other), 0o644))
	refused := motifd(t, g.dir, g.run...)
	require.Contains(t, refused.stderr, says)
	require.Equal(t, status, refused.code)
}

// standing reads the deltas of the query: what stands in the end, by match id, without what names the record.
func (g *growth) standing(t *testing.T, out string) map[string]string {
	standing := make(map[string]string)
	for line := range strings.Lines(out) {
		var r struct {
			Query, Op, Match        string
			Vertices, Edges, Fields json.RawMessage
		}
		require.NoError(t, json.Unmarshal([]byte(line), &r), line)
		if r.Query != g.query {
			continue
		}
		shows := "a match"
		if g.values {
			shows = fmt.Sprintf("%s %s %s", r.Vertices, r.Edges, r.Fields)
		}
		if r.Op == "-" {
			require.Equal(t, standing[r.Match], shows, line)
			delete(standing, r.Match)
			continue
		}
		require.Empty(t, standing[r.Match], "announced twice")
		standing[r.Match] = shows
	}
	return standing
}
