package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/cmd/motifd/internal/estimate"
	"motifd/matcher/matchertest"
)

// estimated are patterns of each kind, over generated payments.
var estimated = map[string]string{
	"busy.cypher": "MATCH (:Account)-[o:TRANSFER]->(m:Account) MATCH (s:Account)-[t:TRANSFER]->(m) " +
		"WHERE 0 <= o.ts - t.ts <= $day WITH m, o, count(DISTINCT s) AS n WHERE n >= 20 RETURN m, o, n",
	"heavy.cypher": "MATCH (:Account)-[t:TRANSFER]->(m:Account) WITH m, count(*) AS n WHERE n >= 30 RETURN m, n",
	"chain.cypher": "MATCH (a:Account)-[t:TRANSFER*1..3]->(b:Account) WHERE motifd.increasing(t) AND " +
		"motifd.span(t) <= $day AND all(e IN t WHERE e.amount > 9000)",
	"once_only.cypher": "MATCH (a:Account)-[t:TRANSFER]->(b:Account) WHERE t.amount > 9000 AND " +
		"NOT EXISTS { (b)-[u:TRANSFER]->(a) WHERE u.ts < t.ts }",
	"absent.cypher": "MATCH (a:Account)-[t:WIRE]->(b:Account)",
}

// estimateOf runs the command and returns its report.
func estimateOf(t *testing.T, dir string, args ...string) (r estimate.Report, byName map[string]estimate.Query) {
	t.Helper()
	out := succeed(t, dir, append([]string{"query", "validate", "--json"}, args...)...)
	d := json.NewDecoder(strings.NewReader(out.stdout))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&r))
	byName = map[string]estimate.Query{}
	for _, q := range r.Queries {
		byName[q.Name] = q
	}
	return r, byName
}

// TestQueryValidateEstimates plays the end of generated payments and holds that the estimate has the matches of a
// replay of that end behind the rest, the updates that concern a query, and what hubs keep; from the flags and from a
// configuration alike.
func TestQueryValidateEstimates(t *testing.T) {
	matchertest.NotUnderRace(t, "it plays some thousand payments eight times")
	t.Parallel()
	dir := write(t, estimated)
	succeed(t, dir, "synth", "aml", "--payments=2000", "--accounts=64", "--cases=16")
	payments := readFile(t, filepath.Join(dir, "aml", "payments.jsonl"))
	lines := strings.SplitAfter(strings.TrimSuffix(payments, "\n"), "\n")
	const last = 700
	cut := len(lines) - last
	files := map[string]string{"head.jsonl": strings.Join(lines[:cut], ""), "tail.jsonl": strings.Join(lines[cut:], "")}
	more := write(t, files)
	head, tail := filepath.Join(more, "head.jsonl"), filepath.Join(more, "tail.jsonl")
	common := []string{"--properties=aml/properties.yaml", "--param=day=24h", "--threads=1", "--on-change=emit"}
	var patterns, queries []string
	for name := range estimated {
		patterns, queries = append(patterns, name), append(queries, "--query="+name)
	}
	summary := filepath.Join(more, "summary.json")
	succeed(t, dir, append(append([]string{"replay", "--graph=" + head, "--updates=" + tail, "--out=none",
		"--batch=100", "--summary=" + summary}, common...), queries...)...)
	var want struct {
		Queries []struct {
			Name               string
			Positive, Negative float64
		}
	}
	require.NoError(t, json.Unmarshal([]byte(readFile(t, summary)), &want))

	whole := append([]string{"--updates=aml/payments.jsonl", fmt.Sprintf("--last=%d", last), "--batch=100"}, common...)
	report, got := estimateOf(t, dir, append(whole, patterns...)...)
	require.Equal(t, estimate.Sample{Updates: last, Batch: 100, Vertices: report.Sample.Vertices, Edges: len(lines)},
		report.Sample)
	matched := 0
	for _, q := range want.Queries {
		require.InDelta(t, q.Positive*1000/last, got[q.Name].Positive, 1e-6, q.Name)
		require.InDelta(t, q.Negative*1000/last, got[q.Name].Negative, 1e-6, q.Name)
		if q.Positive > 0 {
			matched++
		}
	}
	require.Equal(t, 4, matched)
	require.Positive(t, got["heavy"].Changed)
	require.Zero(t, got["absent"].Concerned)
	require.Contains(t, got["absent"].Warnings[0], "WIRE")
	large := uint64(0) // payments that the conditions on one edge let pass
	for _, line := range lines[cut:] {
		var u struct{ Props struct{ Amount float64 } }
		require.NoError(t, json.Unmarshal([]byte(line), &u))
		if u.Props.Amount > 9000 {
			large++
		}
	}
	require.Equal(t, large, got["chain"].Concerned)
	require.Less(t, large, uint64(last))
	require.Equal(t, uint64(last), got["busy"].Concerned)
	require.Positive(t, got["busy"].Hubs)
	require.Greater(t, got["busy"].Bytes, uint64(1000))
	require.Positive(t, got["once_only"].Worst.Steps)

	// The same with the graph apart, and played from a configuration with limits that are met.
	_, apart := estimateOf(t, dir, append(append([]string{"--graph=" + head, "--updates=" + tail, "--batch=100"},
		common...), patterns...)...)
	for name, q := range apart {
		require.Equal(t, got[name].Update.Steps, q.Update.Steps, name)
		require.Equal(t, got[name].Thousand.Steps, q.Thousand.Steps, name)
	}
	config := write(t, map[string]string{"motifd.yaml": `
graph: {properties: {edges: {TRANSFER: {amount: decimal(2), ts: timestamp}}}, retention: {TRANSFER: 48h}}
input: {format: json, file: {path: "-"}}
output: {file: {path: out.jsonl}}
batch: {max_updates: 100}
checkpoint: {dir: state}
engine: {threads: 1, limits: {group_matches: 1}}
queries:
  - {name: fan, cypher: "MATCH (a)-[t:TRANSFER]->(m), (b)-[u:TRANSFER]->(m)", backfill: full}
  - {name: tight, cypher: "MATCH (a)-[t:TRANSFER]->(m), (b)-[u:TRANSFER]->(m)", work_budget: 1, over_budget: suspend}
`})
	expiring, limited := estimateOf(t, dir, append(whole[:2:2], "-c", filepath.Join(config, "motifd.yaml"))...)
	require.Equal(t, "group_matches", limited["fan"].Limits[0].Name)
	require.Positive(t, limited["fan"].Limits[0].Groups)
	require.True(t, limited["tight"].Limits[len(limited["tight"].Limits)-1].Suspended)
	require.Less(t, expiring.Sample.Edges, len(lines)/2, "edges expire, before the sample and in it")

	text := succeed(t, dir, append(append([]string{"query", "validate"}, whole...), patterns...)...).stdout
	for _, says := range []string{"an update that concerns the query", "1,000 updates", "costliest vertex: ", "state: ",
		"warning: "} {
		require.Contains(t, text, says)
	}
}

// TestQueryValidateTellsSizes holds the numbers of vertices, edges and paths, as one or several.
func TestQueryValidateTellsSizes(t *testing.T) {
	matchertest.NotUnderRace(t, "its commands end before they start a thread")
	t.Parallel()
	dir := write(t, map[string]string{
		"edge.cypher": "MATCH (a)-->(b)", "fixed.cypher": "MATCH (a)-[t*2]->(b)-->(c)",
		"ring.cypher": "MATCH (a)-[t*3..5]->(a)",
	})
	require.Equal(t, "edge: 2 vertices, 1 edge\nfixed: 3 vertices, 1 edge, a path t of 2 edges\n"+
		"ring: 1 vertex, a path t of 3 to 5 edges\n", succeed(t, dir, "query", "validate", ".").stdout)
}

// TestQueryValidateRefuses holds that flags that exclude each other, or are out of range, are refused by name.
func TestQueryValidateRefuses(t *testing.T) {
	matchertest.NotUnderRace(t, "it runs commands one after the other")
	t.Parallel()
	dir := write(t, map[string]string{"a.cypher": "MATCH (a)-[t:T]->(b)", "u.jsonl": "{\n", "c.yaml": `
input: {format: json, file: {path: "-"}}
output: {file: {path: out.jsonl}}
checkpoint: {dir: state}
queries: [{name: edge, cypher: "MATCH (a)-[t:T]->(b)"}]
`})
	for says, args := range map[string]string{
		"there is nothing to check":             "",
		"do not go with --config":               "-c c.yaml a.cypher",
		"--within does not go with --config":    "-c c.yaml --within=1h",
		"--retention does not go with --config": "-c c.yaml --retention=T=1h",
		"flags of queries":                      "-c c.yaml --emit=counts",
		"--last: 0 is out of range":             "a.cypher --updates=u.jsonl --last=0",
		"--batch: -1 is out of range":           "a.cypher --updates=u.jsonl --batch=-1",
		"standard input comes once":             "a.cypher --updates=-",
		"go with --updates, the stream that is": "a.cypher --last=5",
		"--lateness, --late":                    "a.cypher --updates=u.jsonl --lateness=1h",
	} {
		r := motifd(t, dir, append([]string{"query", "validate"}, strings.Fields(args)...)...)
		require.Equal(t, exitRefused, r.code, args)
		require.Contains(t, r.stderr, says)
	}
	report, _ := estimateOf(t, dir, "a.cypher", "--updates=u.jsonl")
	require.Equal(t, uint64(1), report.Sample.Refused)
	for _, args := range []string{"-c c.yaml", "a.cypher"} {
		out := succeed(t, dir, append([]string{"query", "validate", "--json"}, strings.Fields(args)...)...).stdout
		require.Contains(t, out, `"warnings": []`)
	}
}
