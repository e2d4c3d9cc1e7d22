package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
)

// TestMigrateToEdgeIDs: a daemon of edge_identity: ends stops, its checkpoint is migrated, and one of edge_identity: id
// goes on in the input where the former one was.
func TestMigrateToEdgeIDs(t *testing.T) {
	matchertest.NotUnderRace(t, "it runs commands one after the other")
	t.Parallel()
	const config = `graph: {edge_identity: IDENTITY}
input: {file: {path: in.jsonl}}
output: {file: {path: OUTPUT}}
checkpoint: {dir: STATE}
admin: {listen: ""}
queries:
  - {name: pair, cypher: "MATCH (a)-[:T]->(b)-[:U]->(a)", backfill: full}
`
	of := func(identity, output, state string) string {
		return strings.NewReplacer("IDENTITY", identity, "OUTPUT", output, "STATE", state).Replace(config)
	}
	dir := write(t, map[string]string{
		"in.jsonl": `{"op":"+","from":"a","to":"b","label":"T","id":"1"}` + "\n" +
			`{"op":"+","from":"b","to":"a","label":"U"}` + "\n",
		"ends.yaml": of("ends", "ends.jsonl", "ends"), "id.yaml": of("id", "id.jsonl", "id"),
		"same.yaml": of("id", "id.jsonl", "ends"), "back.yaml": of("ends", "back.jsonl", "back")})
	succeed(t, dir, "run", "-c", "ends.yaml")
	r := motifd(t, dir, "checkpoint", "migrate", "ends", "-c", "same.yaml")
	require.Equal(t, exitRefused, r.code)
	require.Contains(t, r.stderr, "ends is there already")
	got := succeed(t, dir, "checkpoint", "migrate", "ends", "-c", "id.yaml").stdout
	require.Regexp(t, `^id: 2 labels, 2 vertices, 2 edges, verified; stream [0-9a-f]{32}\n$`, got)

	f, err := os.OpenFile(filepath.Join(dir, "in.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"op":"+","from":"a","to":"b","label":"T","id":"2"}` + "\n" +
		`{"op":"-","from":"a","to":"b","label":"T","id":"1"}` + "\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	succeed(t, dir, "run", "-c", "id.yaml", "--set", "batch.max_updates=1")
	out := readFile(t, filepath.Join(dir, "id.jsonl"))
	require.Equal(t, 3, strings.Count(out, "\n"), "the snapshot, the parallel edge, the deletion of the first one")
	require.Contains(t, out, `"batch":1,"index":0,"query":"pair","version":1,"op":"+"`)
	require.Contains(t, succeed(t, dir, "checkpoint", "info", "id").stdout, "2 vertices, 2 edges")
	succeed(t, dir, "replay", "--batch-log", "id")
	r = motifd(t, dir, "checkpoint", "migrate", "id", "-c", "back.yaml")
	require.Equal(t, exitRefused, r.code)
	require.Contains(t, r.stderr, "graph.edge_identity is id there and ends in the configuration")
}
