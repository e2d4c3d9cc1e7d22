package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestS21SeveralLabels: a daemon whose vertices have several labels, which come and go over restarts. A start with one
// label is refused, and a replay of the batch log writes the same bytes.
func TestS21SeveralLabels(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"in.jsonl": `{"op":"+v","key":"a","labels":["Account","Business"]}
{"op":"+","from":"a","to":"b","label":"T","from_label":"Account","to_labels":["Account"]}
`})
	input := func(line string) {
		f, err := os.OpenFile(filepath.Join(dir, "in.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteString(line + "\n")
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	config := func(labels, cypher string) {
		text := "graph: {vertex_labels: " + labels + `}
input: {file: {path: in.jsonl}}
output: {file: {path: out.jsonl, dead_letter: bad.jsonl}}
checkpoint: {dir: state}
admin: {listen: ""}
queries:
  - {name: business, cypher: "` + cypher + `"}
  - {name: many, cypher: "MATCH (a:Account)", emit: counts}
`
		require.NoError(t, os.WriteFile(filepath.Join(dir, "motifd.yaml"), []byte(text), 0o600))
	}
	run := func() result { return succeed(t, dir, "run", "-c", "motifd.yaml") }
	out := func() string { return readFile(t, filepath.Join(dir, "out.jsonl")) }
	const pattern = "MATCH (a:Account&Business&!Blocked)-[:T]->(b:Account)"

	config("several", pattern)
	run()
	require.Equal(t, 1, strings.Count(out(), `"query":"business"`))
	require.Contains(t, out(), `"vertices":{"a":{"key":"a","labels":["Account","Business"]},"b":{"key":"b",`+
		`"labels":["Account"]}}`)
	require.Contains(t, out(), `"op":"+","emit":"counts","count":2`)
	input(`{"op":"=v","key":"a","labels":["+Blocked"]}`)
	run()
	last := func() string { lines := strings.Split(strings.TrimSpace(out()), "\n"); return lines[len(lines)-1] }
	require.Contains(t, last(), `"op":"-"`)
	require.Contains(t, last(), `"labels":["Account","Business"]`, "as before the batch")
	require.Contains(t, last(), `"anchor":{"op":"=v"`)
	input(`{"op":"=v","key":"a","labels":["-Blocked","+Gone"]}`)
	input(`{"op":"=v","key":"a","labels":["Blocked"]}`)
	run()
	require.Contains(t, last(), `"op":"+"`)
	require.Contains(t, last(), `"labels":["Account","Business","Gone"]`)
	require.Contains(t, readFile(t, filepath.Join(dir, "bad.jsonl")), `of =v is no change`)

	bare := strings.ReplaceAll(readFile(t, filepath.Join(dir, "motifd.yaml")), "several", "one")
	bare = bare[:strings.Index(bare, "queries:")]
	require.NoError(t, os.WriteFile(filepath.Join(dir, "motifd.yaml"), []byte(bare), 0o600))
	r := motifd(t, dir, "run", "-c", "motifd.yaml")
	require.NotZero(t, r.code)
	require.Contains(t, r.stderr, "graph.vertex_labels is several there and one in the configuration")
	config("one", pattern)
	r = motifd(t, dir, "run", "-c", "motifd.yaml")
	require.Equal(t, exitRefused, r.code)
	require.Contains(t, r.stderr, "a vertex has one label, unless graph.vertex_labels is several")

	require.Regexp(t, `vertex labels +several\n`, succeed(t, dir, "checkpoint", "info", "state").stdout)
	require.Contains(t, succeed(t, dir, "checkpoint", "verify", "state").stdout, "intact")
	require.Equal(t, out(), succeed(t, dir, "replay", "--batch-log", "state").stdout)
}
