package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
)

const changesConfig = `
graph: {edge_identity: ends, retention: {"*": 1s}, properties: {edges: {T: {ts: timestamp}}}}
input: {file: {path: in.jsonl}}
output: {MODE, file: {path: out.jsonl, control: batches.jsonl}}
batch: {max_updates: 5, linger: 10s}
checkpoint: {dir: state}
admin: {listen: ""}
queries:
  - name: busy
    cypher: "MATCH (s)-[t:T]->(m) WITH m, count(*) AS n WHERE n >= 2 RETURN m, n"
    ON_CHANGE
`

// TestS24DaemonWritesChanges runs a daemon twice on a growing input: its records keep a table that the records of
// upsert mode keep, too, and a replay of the log and of the input write the same.
func TestS24DaemonWritesChanges(t *testing.T) {
	matchertest.NotUnderRace(t, "TestRunOnFiles has the goroutines of the daemon")
	t.Parallel()
	lines := timedLines(rand.New(rand.NewPCG(24, 2)), 160)
	all := strings.Join(lines, "\n") + "\n"
	config := strings.NewReplacer("MODE, ", "", "ON_CHANGE", "on_change: emit").Replace(changesConfig)
	dir := write(t, map[string]string{"in.jsonl": strings.Join(lines[:80], "\n") + "\n", "motifd.yaml": config})
	read := func(name string) string { return readFile(t, filepath.Join(dir, name)) }
	succeed(t, dir, "run", "-c", "motifd.yaml")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "in.jsonl"), []byte(all), 0o600))
	succeed(t, dir, "run", "-c", "motifd.yaml")
	succeed(t, dir, "checkpoint", "verify", "state")
	again := succeed(t, dir, "replay", "--batch-log", "state", "--control", "b2.jsonl")
	require.Equal(t, read("out.jsonl"), again.stdout)
	require.Equal(t, read("batches.jsonl"), read("b2.jsonl"))
	replayed := succeed(t, dir, "replay", "--updates=in.jsonl", "--query="+filepath.Join(write(t, map[string]string{
		"busy.cypher": "MATCH (s)-[t:T]->(m) WITH m, count(*) AS n WHERE n >= 2 RETURN m, n"}), "busy.cypher"),
		"--batch=5", "--retention=*=1s", "--edge-identity=ends", "--on-change=emit", "--summary", "summary.json")

	type record struct {
		Op, Match string
		Fields    struct{ N int }
	}
	table := func(text string) (now map[string]int, changed int) {
		now = map[string]int{}
		for line := range strings.Lines(text) {
			var r record
			require.NoError(t, json.Unmarshal([]byte(line), &r))
			_, there := now[r.Match]
			require.Equal(t, r.Op != "+", there, line)
			if now[r.Match] = r.Fields.N; r.Op == "-" {
				delete(now, r.Match)
			}
			if r.Op == "~" {
				changed++
			}
		}
		return now, changed
	}
	want, changed := table(read("out.jsonl"))
	require.Greater(t, changed, 10)
	require.NotEmpty(t, want)
	sum := 0
	for line := range strings.Lines(read("batches.jsonl")) {
		var batch struct{ Queries []struct{ Changed int } }
		require.NoError(t, json.Unmarshal([]byte(line), &batch))
		for _, q := range batch.Queries {
			sum += q.Changed
		}
	}
	require.Equal(t, changed, sum)
	_, changes := table(replayed.stdout)
	var summary struct{ Queries []struct{ Changed int } }
	require.NoError(t, json.Unmarshal([]byte(read("summary.json")), &summary))
	require.Equal(t, changes, summary.Queries[0].Changed)

	upsert := write(t, map[string]string{"in.jsonl": all,
		"motifd.yaml": strings.NewReplacer("MODE, ", "mode: upsert, ", "ON_CHANGE", "").Replace(changesConfig)})
	succeed(t, upsert, "run", "-c", "motifd.yaml")
	got := map[string]int{}
	for line := range strings.Lines(readFile(t, filepath.Join(upsert, "out.jsonl"))) {
		var r struct {
			Key   string
			Value *record
		}
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		if r.Value == nil {
			delete(got, r.Key)
		} else {
			got[r.Key] = r.Value.Fields.N
		}
	}
	require.True(t, maps.Equal(want, got), "%v, not %v", got, want)
}

// TestS24ListsInRecords holds the bytes of lists: edges as they are under edges, and values.
func TestS24ListsInRecords(t *testing.T) {
	t.Parallel()
	const payment = `{"op":"+","from":"%s","to":"m","label":"T","id":"%s","ts":%d,"props":{"amount":%s}}`
	dir := write(t, map[string]string{
		"in.jsonl": fmt.Sprintf(payment+"\n"+payment+"\n"+payment+"\n", "a", "x", 1, "1.5",
			"b", "y", 3, "2", "c", "z", 2, "3"),
		"q.cypher": "MATCH (s)-[t:T]->(m) WITH m, count(*) AS n, collect(t)[..2] AS l, collect(t.amount)[..5] AS a " +
			"WHERE n >= 3 RETURN l, a",
		"declared.yaml": "edges: {T: {ts: timestamp, amount: decimal(2)}}\n"})
	out := succeed(t, dir, "replay", "--updates=in.jsonl", "--query=q.cypher", "--properties=declared.yaml").stdout
	require.Contains(t, out, `"fields":{"l":[{"from":"b","to":"m","label":"T","id":"y","ts":3,`+
		`"props":{"amount":2.00}},{"from":"c","to":"m","label":"T","id":"z","ts":2,"props":{"amount":3.00}}],`+
		`"a":[2.00,3.00,1.50]}`)
}
