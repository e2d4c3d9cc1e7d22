package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
)

const (
	triangle = "v 0 0\nv 1 0\nv 2 0\ne 0 1\ne 1 2\ne 2 0\n"
	wedge    = "MATCH (a:`0`)--(b), (b)--(c:`0`) RETURN a, b, c"
)

// randomStream is a seeded graph and a stream of updates over it, in the papers' text.
func randomStream(seed uint64, vertices, edges, updates int) (graph, stream string) {
	rng := rand.New(rand.NewPCG(seed, 1))
	var g, s strings.Builder
	for v := range vertices {
		fmt.Fprintf(&g, "v %d %s\n", v, []string{"0", "0", "1"}[rng.IntN(3)])
	}
	edge := func() (int, int) {
		for {
			if a, b := rng.IntN(vertices), rng.IntN(vertices); a != b {
				return a, b
			}
		}
	}
	for range edges {
		a, b := edge()
		fmt.Fprintf(&g, "e %d %d\n", a, b)
	}
	for range updates {
		a, b := edge()
		fmt.Fprintf(&s, "%s %d %d\n", []string{"e", "e", "-e"}[rng.IntN(3)], a, b)
	}
	return g.String(), s.String()
}

// TestReplay holds that a replay's output depends on the files and the batch size alone: neither on threads nor on the
// backend, and that its sums are those of the summary.
func TestReplay(t *testing.T) {
	matchertest.NotUnderRace(t, "it runs commands one after the other")
	t.Parallel()
	graph, updates := randomStream(3, 40, 150, 400)
	dir := write(t, map[string]string{"g.txt": graph, "u.txt": updates, "triangle.txt": triangle,
		"wedge.cypher": wedge})
	args := []string{"replay", "--graph", "g.txt", "--updates", "u.txt", "--query", "triangle.txt", "--query",
		"wedge.cypher", "--undirected", "--batch", "17"}
	first := succeed(t, dir, append(args, "--summary", "s.json", "--threads", "1")...)
	require.Equal(t, first.stdout, succeed(t, dir, append(args, "--threads", "4")...).stdout)
	require.Equal(t, first.stdout, succeed(t, dir, append(args, "--backend", "reference")...).stdout)
	// the same stream in two files of a directory
	half := len(updates)/2 + strings.Index(updates[len(updates)/2:], "\n") + 1
	parts := write(t, map[string]string{"1.txt": updates[:half], "2.graph": updates[half:], ".hidden": "x"})
	require.Equal(t, strings.Count(first.stdout, "\n"),
		strings.Count(succeed(t, dir, append(args, "--updates", parts)...).stdout, "\n"))
	mixed := write(t, map[string]string{"1.txt": "", "2.jsonl": ""})
	require.Contains(t, motifd(t, dir, append(args, "--updates", mixed)...).stderr,
		"files of the formats text and json")
	succeed(t, dir, append(args, "--out", "deltas.jsonl")...)
	require.Equal(t, first.stdout, readFile(t, filepath.Join(dir, "deltas.jsonl")))

	sums := map[string]int{}
	for line := range strings.Lines(first.stdout) {
		var r struct{ Query, Op, Stream string }
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		require.Equal(t, "replay", r.Stream)
		sums[r.Query+r.Op]++
	}
	s := summaryOf(t, dir)
	require.Equal(t, 400, int(s["updates"].(float64)))
	require.Equal(t, 24, int(s["batches"].(float64)))
	require.Equal(t, "cpu", s["backend"])
	require.Equal(t, 1, int(s["threads"].(float64)))
	require.Len(t, s["queries"], 2)
	for _, q := range s["queries"].([]any) {
		q := q.(map[string]any)
		require.Equal(t, sums[q["name"].(string)+"+"], int(q["positive"].(float64)))
		require.Equal(t, sums[q["name"].(string)+"-"], int(q["negative"].(float64)))
	}

	// Counts are the numbers of deltas, whatever is emitted.
	succeed(t, dir, append(args, "--emit", "counts", "--summary", "s.json", "--out", "none")...)
	require.Equal(t, counts(s), counts(summaryOf(t, dir)))
}

func counts(summary map[string]any) (out []string) {
	for _, q := range summary["queries"].([]any) {
		q := q.(map[string]any)
		out = append(out, fmt.Sprint(q["name"], q["positive"], q["negative"], q["matches"]))
	}
	return out
}

func summaryOf(t *testing.T, dir string) map[string]any {
	t.Helper()
	var s map[string]any
	readJSON(t, filepath.Join(dir, "s.json"), &s)
	return s
}

func keysOf(m map[string]any) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// TestSummarySchema holds the names of the fields of --summary.
func TestSummarySchema(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"g.txt": "v 0 0\nv 1 0\ne 0 1\n", "u.txt": "e 0 2\n",
		"edge.cypher": "MATCH (a)--(b)"})
	common := []string{"apply_s", "backend", "batches", "effective_updates", "load_s", "match_s", "peak_rss_mib",
		"queries", "threads", "updates", "wall_s"}
	succeed(t, dir, "replay", "--graph", "g.txt", "--updates", "u.txt", "--query", "edge.cypher", "--undirected",
		"--summary", "s.json")
	s := summaryOf(t, dir)
	require.Equal(t, common, keysOf(s))
	require.Equal(t, []string{"match_s", "name", "negative", "positive"},
		keysOf(s["queries"].([]any)[0].(map[string]any)))
	succeed(t, dir, "match", "--graph", "g.txt", "--query", "edge.cypher", "--undirected", "--summary", "s.json")
	s = summaryOf(t, dir)
	require.Equal(t, common, keysOf(s))
	require.Equal(t, []string{"filter_s", "match_s", "matches", "name", "order_s", "search_s"},
		keysOf(s["queries"].([]any)[0].(map[string]any)))
}

// TestMatch counts in a graph what the sum of a replay counts, and writes each match.
func TestMatch(t *testing.T) {
	t.Parallel()
	_, updates := randomStream(5, 30, 0, 300)
	inserts := strings.ReplaceAll(updates, "-e", "e")
	dir := write(t, map[string]string{"g.txt": inserts, "triangle.cypher": "MATCH (a)--(b)--(c)--(a)",
		"path.cypher": "MATCH (a)--(b)--(c)"})
	succeed(t, dir, "match", "--graph", "g.txt", "--query", "triangle.cypher", "--query", "path.cypher", "--undirected",
		"--summary", "s.json", "--out", "m.jsonl")
	matched := summaryOf(t, dir)
	succeed(t, dir, "replay", "--updates", "g.txt", "--query", "triangle.cypher", "--query", "path.cypher",
		"--undirected", "--summary", "s.json", "--out", "none")
	replayed := map[string]float64{}
	for _, q := range summaryOf(t, dir)["queries"].([]any) {
		q := q.(map[string]any)
		replayed[q["name"].(string)] = q["positive"].(float64)
	}
	lines := strings.Count(readFile(t, filepath.Join(dir, "m.jsonl")), "\n")
	total := 0
	for _, q := range matched["queries"].([]any) {
		q := q.(map[string]any)
		require.Equal(t, replayed[q["name"].(string)], q["matches"])
		total += int(q["matches"].(float64))
	}
	require.Equal(t, total, lines)
	require.Positive(t, lines)
}

// TestCountsBeyond64Bits counts a star of 14 leaves in one of 60: 60!/46! embeddings of it, about 10^24.
func TestCountsBeyond64Bits(t *testing.T) {
	t.Parallel()
	var g, q strings.Builder
	q.WriteString("v 0 1\n")
	g.WriteString("v 0 1\n")
	const n, k = 60, 14
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&g, "v %d 2\ne 0 %d\n", i, i)
	}
	for i := 1; i <= k; i++ {
		fmt.Fprintf(&q, "v %d 2\n", i)
	}
	for i := 1; i <= k; i++ {
		fmt.Fprintf(&q, "e 0 %d\n", i)
	}
	want := new(big.Int).MulRange(n-k+1, n)
	require.Greater(t, want.BitLen(), 64)
	dir := write(t, map[string]string{"g.txt": g.String(), "star.txt": q.String()})
	succeed(t, dir, "match", "--graph", "g.txt", "--query", "star.txt", "--undirected", "--summary", "s.json")
	require.Contains(t, readFile(t, filepath.Join(dir, "s.json")), `"matches":`+want.String()+",")
	// The last edge of the star completes every match that uses it: want * k / n.
	completed := new(big.Int).Mul(want, big.NewInt(k))
	completed.Div(completed, big.NewInt(n))
	lines := strings.SplitAfter(strings.TrimSuffix(g.String(), "\n"), "\n")
	dir = write(t, map[string]string{"g.txt": strings.Join(lines[:len(lines)-1], ""), "u.txt": lines[len(lines)-1],
		"star.txt": q.String()})
	r := succeed(t, dir, "replay", "--graph", "g.txt", "--updates", "u.txt", "--query", "star.txt", "--undirected",
		"--emit", "counts", "--summary", "s.json")
	require.Contains(t, readFile(t, filepath.Join(dir, "s.json")), `"positive":`+completed.String()+",")
	require.Contains(t, r.stdout, `"count":`+completed.String())
}

// TestReplayCSV reads CSV with a mapping, and JSON lines.
func TestReplayCSV(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"u.csv": "SRC,DST,AT\na,b,1\nb,c,2\nc,a,3\n",
		"u.jsonl": `{"op":"+","from":"a","to":"b","label":"T","ts":1}` + "\n" +
			`[{"op":"+","from":"b","to":"c","label":"T","ts":2},{"op":"+","from":"c","to":"a","label":"T","ts":3}]` +
			"\n",
		"ring.cypher": "MATCH (a)-[:T]->(b)-[:T]->(c)-[:T]->(a)",
	})
	fromCSV := succeed(t, dir, "replay", "--updates", "u.csv", "--csv", "from=SRC,to=DST,ts=AT,label='T'", "--query",
		"ring.cypher").stdout
	fromJSON := succeed(t, dir, "replay", "--updates", "u.jsonl", "--query", "ring.cypher").stdout
	for _, out := range []string{fromCSV, fromJSON} {
		require.Equal(t, 3, strings.Count(out, "\n"))
		require.Contains(t, out, `"a":{"key":"a"}`)
	}
	ids := func(out string) (ids []string) {
		for line := range strings.Lines(out) {
			var r struct{ Match string }
			require.NoError(t, json.Unmarshal([]byte(line), &r))
			ids = append(ids, r.Match)
		}
		slices.Sort(ids)
		return ids
	}
	require.Equal(t, ids(fromCSV), ids(fromJSON), "a match has one id whatever brought it")
}

// TestReplayTellsOfRefusedRecords holds that a bad record neither stops a replay nor goes unmentioned.
func TestReplayTellsOfRefusedRecords(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"u.txt": "e 0 1\ne 1 1\nnonsense\ne 1 2\n", "edge.cypher": "MATCH (a)-->(b)"})
	r := succeed(t, dir, "replay", "--updates", "u.txt", "--query", "edge.cypher", "--dead-letter", "dead.jsonl")
	require.Equal(t, 2, strings.Count(r.stdout, "\n"))
	require.Equal(t, 2, strings.Count(readFile(t, filepath.Join(dir, "dead.jsonl")), "\n"))
	r = succeed(t, dir, "replay", "--updates", "u.txt", "--query", "edge.cypher")
	require.Contains(t, r.stderr, "u.txt:2")
	require.Contains(t, r.stderr, "u.txt:3")
}

// TestReplayTellsWhenInputIsLost: a stream that could not be read, or not to its end, is no success.
func TestReplayTellsWhenInputIsLost(t *testing.T) {
	matchertest.NotUnderRace(t, "most of its time goes to the packing of its input")
	t.Parallel()
	dir := t.TempDir()
	query := filepath.Join(dir, "edge.cypher")
	require.NoError(t, os.WriteFile(query, []byte("MATCH (a)-->(b)"), 0o644))

	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for i := range 5000 {
		fmt.Fprintf(z, "{\"op\":\"+\",\"from\":\"a%d\",\"to\":\"b%d\"}\n", i*7919, i*104729)
	}
	require.NoError(t, z.Close())
	cut := filepath.Join(dir, "cut.jsonl.gz")
	require.NoError(t, os.WriteFile(cut, packed.Bytes()[:packed.Len()/2], 0o644))
	packed.Reset()
	z.Reset(&packed)
	for range 40_000 {
		fmt.Fprintf(z, "{\"op\":\"+\",\"from\":\"a\",\"to\":\"b\"}%s\n", strings.Repeat(" ", 500))
	}
	require.NoError(t, z.Close())
	whole := filepath.Join(dir, "whole.jsonl.gz") // 21 MB; beyond the first 16 MiB expansion counts
	require.NoError(t, os.WriteFile(whole, packed.Bytes(), 0o644))
	wrong := filepath.Join(dir, "wrong.csv")
	require.NoError(t, os.WriteFile(wrong, []byte("x,y\n1,2\n3,4\n"), 0o644))

	dead := filepath.Join(dir, "dead.jsonl")
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--updates", cut}, "--on-damage=skip leaves out"},
		{[]string{"--updates", cut, "--on-damage", "skip"}, "the rest of the file could not be read"},
		{[]string{"--updates", whole, "--graph", cut}, cut + " is damaged or truncated"},
		{[]string{"--updates", whole, "--max-expansion", "2"}, "expand to more than 2 times"},
		{[]string{"--updates", wrong, "--csv", "from=a,to=b"}, "every record was refused (2); the warnings say why"},
		{[]string{"--updates", wrong, "--csv", "from=a,to=b", "--dead-letter", dead}, "(2); " + dead + " says why"},
		{[]string{"--updates", cut, "--batch", "0"}, "at least 1"},
	} {
		out, err := exec.Command(binary, append([]string{"replay", "--query", query, "--out", "none"}, c.args...)...).
			CombinedOutput()
		require.Error(t, err, "%s", out)
		require.Contains(t, string(out), c.says)
	}
}
