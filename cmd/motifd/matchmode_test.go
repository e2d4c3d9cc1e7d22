package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
)

// TestMatchModes holds what --match-mode does in each command: the counts of `match` on a path and one more edge, what
// `explain` says, and what is refused. TestReplayWithADaemonsSettings has the daemon and `replay`.
func TestMatchModes(t *testing.T) {
	matchertest.NotUnderRace(t, "it runs commands one after the other")
	t.Parallel()
	dir := write(t, map[string]string{
		"graph.txt":   "v 0\nv 1\nv 2\nv 3\ne 0 1\ne 1 2\ne 2 3\n",
		"path.txt":    "v 0\nv 1\nv 2\nv 3\ne 0 1\ne 1 2\ne 2 3\n",
		"path.cypher": "MATCH (a)-[:T]->(b)-[:T]->(c)",
		"far.cypher":  "MATCH (a)-[:T*1..2]->(b)",
		"none.cypher": "MATCH (a)-[:T]->(b) WHERE NOT (b)-[:T]->(a)",
		"motifd.yaml": "input: {file: {path: in.jsonl}}\noutput: {file: {path: out.jsonl}}\n" +
			"checkpoint: {dir: state}\nqueries:\n  - {name: q, file: path.cypher, match_mode: walk}\n",
	})
	for mode, matches := range map[string]string{"isomorphism": "2", "trail": "2", "homomorphism": "16"} {
		r := succeed(t, dir, "match", "--graph=graph.txt", "--query=path.txt", "--undirected", "--match-mode="+mode)
		require.Regexp(t, `path\s+`+matches+`\s`, r.stdout, mode)
	}
	require.Contains(t, succeed(t, dir, "explain", "path.cypher", "--match-mode=trail").stdout, "match mode trail")
	require.NotContains(t, succeed(t, dir, "explain", "path.cypher").stdout, "match mode")
	for _, x := range []struct {
		says string
		args []string
	}{
		{"write a query for each length", []string{"explain", "far.cypher", "--match-mode=trail"}},
		{"NOT and NOT EXISTS", []string{"query", "validate", "none.cypher", "--match-mode=homomorphism"}},
		{"write unit: embeddings", []string{"query", "validate", "path.cypher", "--match-mode=trail",
			"--unit=subgraphs"}},
		{"write unit: embeddings", []string{"match", "--graph=graph.txt", "--query=path.txt", "--undirected",
			"--match-mode=trail", "--unit=subgraphs"}},
		{"does not go with --config", []string{"query", "validate", "-c", "motifd.yaml", "--match-mode=trail"}},
		{"match_mode", []string{"run", "-c", "motifd.yaml", "--check"}},
	} {
		r := motifd(t, dir, x.args...)
		require.Equal(t, exitRefused, r.code, "%v: %s", x.args, r.stderr)
		require.Contains(t, r.stderr, x.says, "%v", x.args)
	}
}
