package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
)

// TestWhatCanNeverMatchIsSaidEverywhere has a pattern with a label that is spelt otherwise in the data: validate,
// match, replay, query add, the list of queries and the status say so, until data has it. Edges that compete for one
// edge of the graph can never match, whatever data comes: they are refused.
func TestWhatCanNeverMatchIsSaidEverywhere(t *testing.T) {
	matchertest.NotUnderRace(t, "TestRunOnFiles and TestAPI have the goroutines of the daemon")
	t.Parallel()
	const said = `no vertex in the graph has the label "account"; did you mean "Account"?`
	edge := `{"op":"+","from":"a","to":"b","label":"PAY","from_label":"Account","to_label":"Account"}`
	files := write(t, map[string]string{
		"g.jsonl": edge + "\n", "pay.cypher": "MATCH (a:account)-[:PAY]->(b)",
		"twice.cypher": "MATCH (a)-[:PAY]->(b), (a)-[:PAY]->(b)",
		"good.cypher":  "MATCH (a:Account)-[:PAY]->(b)",
	})
	twice := `twice.cypher:1:27: the edges "_e0", "_e1" between "a" and "b" cannot match together`
	for _, args := range [][]string{{"query", "validate", "twice.cypher"},
		{"match", "--graph", "g.jsonl", "--query", "twice.cypher"},
		{"replay", "--updates", "g.jsonl", "--query", "twice.cypher"}} {
		r := motifd(t, files, args...)
		require.NotZero(t, r.code)
		require.Contains(t, r.stderr, twice)
	}
	out := succeed(t, files, "query", "validate", "pay.cypher", "good.cypher").stdout
	require.NotContains(t, out, said)
	out = succeed(t, files, "query", "validate", "--graph", "g.jsonl", "pay.cypher", "good.cypher").stdout
	require.Equal(t, 1, strings.Count(out, "warning: "))
	require.Contains(t, out, "pay: 2 vertices, 1 edge\n  warning: "+said)
	told := func(stderr, query, text string) bool {
		for line := range strings.Lines(stderr) {
			var l struct{ Query, Message string }
			if json.Unmarshal([]byte(line), &l) == nil && l.Query == query && strings.Contains(l.Message, text) {
				return true
			}
		}
		return false
	}
	for _, args := range [][]string{{"match", "--graph", "g.jsonl"}, {"replay", "--updates", "g.jsonl"}} {
		args = append(args, "--query", "pay.cypher", "--query", "good.cypher", "--log-format", "json")
		r := succeed(t, files, args...)
		require.True(t, told(r.stderr, "pay", said), r.stderr)
		require.False(t, told(r.stderr, "good", ""), r.stderr)
	}

	dir, port := logDir(t)
	p := start(t, dir)
	p.ready()
	require.NoError(t, produceOne(t.Context(), port, []byte(edge)))
	p.until("the edge is there", func() bool { return p.status().Edges == 1 })
	for _, more := range [][]string{{"--dry-run"}, nil} {
		r := succeed(t, dir, append([]string{"query", "add", filepath.Join(files, "pay.cypher"), "--url", p.url},
			more...)...)
		require.Contains(t, r.stdout, "\nwarning: "+said)
	}
	warnings := func() (of []string) {
		for _, path := range []string{"/api/v1/status", "/api/v1/queries"} {
			var answer struct {
				Queries []struct {
					Name     string
					Warnings []string
				}
			}
			require.NoError(t, json.Unmarshal([]byte(p.ask("GET", path, "").body), &answer))
			for _, q := range answer.Queries {
				if q.Name == "pay" {
					of = append(of, q.Warnings...)
				}
			}
		}
		return of
	}
	// The answer comes when the change is logged, which is before its batch is stepped.
	p.until("both tell the warning", func() bool { return len(warnings()) == 2 })
	require.Equal(t, []string{said, said}, warnings())
	require.NoError(
		t,
		produceOne(t.Context(), port, []byte(`{"op":"+","from":"c","to":"d","label":"PAY","from_label":"account"}`)),
	)
	p.until("the warning is gone", func() bool { return len(warnings()) == 0 })
	p.stop()
}

// TestAQueryThatMatchedIsNotWarnedOf: at the end of a stream that takes everything back the graph has no label.
func TestAQueryThatMatchedIsNotWarnedOf(t *testing.T) {
	t.Parallel()
	const edge = `"from":"a","to":"b","label":"PAY"}` + "\n"
	dir := write(t, map[string]string{
		"u.jsonl": `{"op":"+",` + edge + `{"op":"-",` + edge, "pay.cypher": "MATCH (a)-[:PAY]->(b)",
		"buy.cypher": "MATCH (a)-[:BUY]->(b)",
	})
	r := succeed(t, dir, "replay", "--updates", "u.jsonl", "--query", "pay.cypher", "--query", "buy.cypher", "--batch",
		"1")
	require.Equal(t, 1, strings.Count(r.stderr, "check the pattern: "), r.stderr)
	require.Contains(t, r.stderr, "BUY")
}
