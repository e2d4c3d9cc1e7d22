package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/cmd/motifd/internal/command"
	"motifd/matcher"
)

// TestAStoredNameStays: names that are not allowed any more are refused for new queries of the configuration, not for
// stored ones.
func TestAStoredNameStays(t *testing.T) {
	q := &matcher.Query{Name: "x/y", Version: 3, Origin: "config"}
	again := &matcher.Query{Name: "x/y", Emit: matcher.EmitCounts}
	for _, stored := range [][]matcher.QueryState{{{Query: q}}, {{Query: q, Suspended: true}}} {
		require.NoError(t, newNames(startup(stored, []*matcher.Query{again})))
		require.NoError(t, newNames(startup(stored, nil)))
	}
	for _, stored := range [][]matcher.QueryState{nil, {{Query: q, Removed: true}}} {
		err := newNames(startup(stored, []*matcher.Query{again}))
		require.ErrorIs(t, err, matcher.ErrQuery)
		var bad command.Refused
		require.ErrorAs(t, err, &bad)
	}
}

// TestEndsAreOpenedBeforeRecovery: an input or output that cannot be opened is told before a recovery that may be long,
// and the next start works.
func TestEndsAreOpenedBeforeRecovery(t *testing.T) {
	dir := write(t, map[string]string{"in.jsonl": `{"op":"+","from":"a","to":"b","label":"T"}` + "\n", "c.yaml": `
input: {file: {path: in.jsonl}}
output: {file: {path: out.jsonl}}
admin: {listen: ""}
checkpoint: {dir: state}
queries: [{name: q, cypher: "MATCH (a)-[:T]->(b)"}]
`})
	t.Chdir(dir)
	succeed(t, dir, "run", "--config=c.yaml")
	for file, want := range map[string]string{"in.jsonl": "no such file", "out.jsonl": "is a directory"} {
		require.NoError(t, os.Rename(file, "elsewhere"))
		if file == "out.jsonl" {
			require.NoError(t, os.Mkdir(file, 0o755))
		}
		r := motifd(t, dir, "run", "--config=c.yaml")
		require.NotZero(t, r.code)
		require.Contains(t, r.stderr, file+": "+want)
		require.NotContains(t, r.stderr, `"message":"recovered"`)
		require.NoError(t, os.RemoveAll(file))
		require.NoError(t, os.Rename("elsewhere", file))
	}
	require.Contains(t, succeed(t, dir, "run", "--config=c.yaml").stderr, `"message":"recovered"`)
	require.Equal(t, 1, strings.Count(readFile(t, "out.jsonl"), "\n"))
}
