package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher"
	"motifd/matcher/matchertest"
)

// matchPatterns are searched in graphs of randomStream.
var matchPatterns = map[string]string{
	"wedge.cypher":    wedge,
	"triangle.cypher": "MATCH (a:`0`)--(b), (b)--(c), (c)--(a)",
	"path.cypher":     "MATCH (a:`1`)-[*1..2]-(b)",
	"open.cypher":     "MATCH (a:`1`)--(b)--(c) WHERE NOT (a)--(c)",
	"none.cypher":     "MATCH (a:`2`)--(b)",
}

// foundByMatch runs match and returns what the summary has, by query.
func foundByMatch(t *testing.T, dir string, args ...string) (found map[string]map[string]any, stdout string) {
	t.Helper()
	r := succeed(t, dir, append([]string{"match", "--graph=g.txt", "--undirected", "--query=queries",
		"--summary=s.json"}, args...)...)
	found = map[string]map[string]any{}
	for _, q := range summaryOf(t, dir)["queries"].([]any) {
		q := q.(map[string]any)
		found[q["name"].(string)] = q
	}
	return found, r.stdout
}

// TestMatchAnswers holds, on random graphs, that counts are the numbers of rows, that --limit writes the first rows of
// each query and says whether there are more, that --exists tells which counts are not 0, and that the reference
// backend answers the same.
func TestMatchAnswers(t *testing.T) {
	var more, none int
	seen := func() bool { return more > 0 && none > 0 }
	matchertest.ForSeedsUntil(t, 8, seen, func(t *testing.T, rng *rand.Rand) {
		graph, _ := randomStream(rng.Uint64(), 12, 10+rng.IntN(20), 0)
		files := map[string]string{"g.txt": graph}
		for name, text := range matchPatterns {
			files[filepath.Join("queries", name)] = text
		}
		dir := write(t, files)
		counted, table := foundByMatch(t, dir)
		require.Contains(t, table, "filter s")
		_, all := foundByMatch(t, dir, "--out=-")
		rows := map[string][]string{}
		for line := range strings.Lines(all) {
			name := strings.Split(strings.SplitAfter(line, `"query":"`)[1], `"`)[0]
			rows[name] = append(rows[name], line)
		}
		limit := 1 + rng.IntN(8)
		limited, first := foundByMatch(t, dir, "--out=-", fmt.Sprint("--limit=", limit))
		exists, _ := foundByMatch(t, dir, "--exists")
		var prefixes strings.Builder
		for name := range matchPatterns {
			name := strings.TrimSuffix(name, ".cypher")
			n := len(rows[name])
			if n > limit {
				more++
			} else if n == 0 {
				none++
			}
			require.EqualValues(t, n, counted[name]["matches"], name)
			require.EqualValues(t, min(n, limit), limited[name]["matches"], name)
			require.Equal(t, n > limit, limited[name]["more"] == true, name)
			require.Equal(t, n > 0, exists[name]["exists"], name)
			require.NotContains(t, exists[name], "matches")
		}
		for _, q := range summaryOf(t, dir)["queries"].([]any) {
			name := q.(map[string]any)["name"].(string)
			for _, row := range rows[name][:min(limit, len(rows[name]))] {
				prefixes.WriteString(row)
			}
		}
		require.Equal(t, prefixes.String(), first)
		reference, other := foundByMatch(t, dir, "--out=-", "--backend=reference")
		require.Equal(t, all, other)
		for name := range reference {
			require.Equal(t, counted[name]["matches"], reference[name]["matches"], name)
		}
	})
}

// TestMatchCountsEqualQueriesOnce: queries that differ in names and RETURN alone are counted once, others are not.
func TestMatchCountsEqualQueriesOnce(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"g.txt":            triangle,
		"queries/a.cypher": "MATCH (x)-[t]-(y)-[u]-(z) RETURN x, z",
		"queries/b.cypher": "MATCH (m)-[p]-(n)-[q]-(o)",
		"queries/c.cypher": "MATCH (m)-[p]-(n)-[q]-(o) WHERE NOT (m)--(o)",
	})
	found, table := foundByMatch(t, dir)
	require.EqualValues(t, 6, found["a"]["matches"])
	require.EqualValues(t, 6, found["b"]["matches"])
	require.Equal(t, "a", found["b"]["same_as"])
	require.EqualValues(t, 0, found["c"]["matches"])
	require.NotContains(t, found["c"], "same_as")
	require.Contains(t, table, "as a\n")
	_, rows := foundByMatch(t, dir, "--out=-")
	require.Equal(t, 6, strings.Count(rows, `"query":"b"`), "rows show names, so that each query writes its own")
}

// TestDefinition holds that whatever changes a count tells definitions apart.
func TestDefinition(t *testing.T) {
	t.Parallel()
	base := matcher.Query{Name: "q", Vertices: []matcher.QueryVertex{{Name: "a"}, {Name: "b", Label: "L"}},
		Edges: []matcher.QueryEdge{{Name: "e", From: 0, To: 1}}}
	of := func(change func(q *matcher.Query)) string {
		q := base
		q.Vertices = append([]matcher.QueryVertex(nil), base.Vertices...)
		q.Edges = append([]matcher.QueryEdge(nil), base.Edges...)
		change(&q)
		text, err := definition(&q)
		require.NoError(t, err)
		return text
	}
	same := of(func(*matcher.Query) {})
	require.Equal(t, same, of(func(q *matcher.Query) { q.Name, q.Vertices[0].Name, q.Edges[0].Name = "r", "x", "y" }))
	for i, change := range []func(q *matcher.Query){
		func(q *matcher.Query) { q.Vertices[0].Label = "L" },
		func(q *matcher.Query) { q.Edges[0].Label = "T" },
		func(q *matcher.Query) { q.Edges[0].From, q.Edges[0].To = 1, 0 },
		func(q *matcher.Query) { q.Within = 5 },
		func(q *matcher.Query) { q.Unit = matcher.Subgraphs },
		func(q *matcher.Query) { q.Edges[0].Hops = &matcher.Hops{Least: 1, Most: 2} },
	} {
		require.NotEqual(t, same, of(change), i)
	}
	require.Equal(t, "a", base.Vertices[0].Name, "the query itself keeps its names")
}

// TestMatchFlags: flags that do not go together are refused before the graph is read.
func TestMatchFlags(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"g.txt": "nonsense\n", "q.cypher": wedge})
	for flags, says := range map[string]string{
		"--limit=3":            "--limit bounds the matches that are written: it goes with --out",
		"--limit=3 --out=none": "it goes with --out",
		"--exists --out=-":     "--exists writes no matches",
		"--exists --limit=1":   "leave --limit out",
	} {
		r := motifd(t, dir, append([]string{"match", "--graph=g.txt", "--query=q.cypher"}, strings.Fields(flags)...)...)
		require.Equal(t, exitRefused, r.code, flags)
		require.Contains(t, r.stderr, says, flags)
	}
}
