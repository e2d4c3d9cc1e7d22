package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
)

const onceConfig = `
graph: {edge_identity: ends, retention: {"*": 1s}}
input: {file: {path: in.jsonl}}
output: {file: {path: out.jsonl, control: batches.jsonl}}
batch: {max_updates: 5, linger: 10s}
checkpoint: {dir: state, retention: {batches: 7}}
admin: {listen: ""}
queries:
  - name: busy
    cypher: "MATCH (a)-[t:T]->(m)-[u:T]->(b)"
    once: {per: [m], for: 60ms, max_keys: 4}
  - name: path
    cypher: "MATCH (a)-[t:T*1..2]->(m)"
    once: {per: [m], for: 90ms}
    max_matches_per_batch: 3
`

// TestS27DaemonRestartsAndReplays runs a daemon twice on a growing input: what queries with once remember is in the
// checkpoint, so that the output is that of one run, and a replay of the log from its base, which is in the middle,
// writes the end of it. A replay of the input takes the option as flags.
func TestS27DaemonRestartsAndReplays(t *testing.T) {
	matchertest.NotUnderRace(t, "TestP3KillAndRestart has the goroutines of the daemon")
	t.Parallel()
	lines := timedLines(rand.New(rand.NewPCG(27, 1)), 160)
	all := strings.Join(lines, "\n") + "\n"
	config := strings.Replace(onceConfig, ", retention: {batches: 7}", "", 1)
	dir := write(t, map[string]string{"in.jsonl": strings.Join(lines[:80], "\n") + "\n", "motifd.yaml": config})
	read := func(name string) string { return readFile(t, filepath.Join(dir, name)) }
	succeed(t, dir, "run", "-c", "motifd.yaml")
	half := read("out.jsonl")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "in.jsonl"), []byte(all), 0o600))
	succeed(t, dir, "run", "-c", "motifd.yaml")
	out := read("out.jsonl")
	require.True(t, strings.HasPrefix(out, half) && len(out) > len(half))
	require.NotContains(t, out, `"op":"-"`)

	whole := write(t, map[string]string{"in.jsonl": all, "motifd.yaml": config})
	succeed(t, whole, "run", "-c", "motifd.yaml")
	require.Equal(t, streamless(t, readFile(t, filepath.Join(whole, "out.jsonl"))), streamless(t, out))

	succeed(t, dir, "checkpoint", "verify", "state")
	again := succeed(t, dir, "replay", "--batch-log", "state", "--control", "b2.jsonl")
	require.Equal(t, out, again.stdout)
	require.Equal(t, read("batches.jsonl"), read("b2.jsonl"))
	dropped := 0
	for line := range strings.Lines(read("b2.jsonl")) {
		var batch struct {
			Queries []struct{ Once, Negative int }
		}
		require.NoError(t, json.Unmarshal([]byte(line), &batch))
		for _, q := range batch.Queries {
			dropped += q.Once
			require.Zero(t, q.Negative)
		}
	}
	require.Greater(t, dropped, 20)

	short := write(t, map[string]string{"in.jsonl": all, "motifd.yaml": onceConfig})
	succeed(t, short, "run", "-c", "motifd.yaml")
	end := succeed(t, short, "replay", "--batch-log", "state").stdout
	require.NotEmpty(t, end)
	require.True(t, strings.HasSuffix(readFile(t, filepath.Join(short, "out.jsonl")), end))

	one := write(t, map[string]string{"in.jsonl": all, "busy.cypher": "MATCH (a)-[t:T]->(m)-[u:T]->(b)",
		"motifd.yaml": config[:strings.Index(config, "  - name: path")]})
	succeed(t, one, "run", "-c", "motifd.yaml")
	replayed := succeed(t, one, "replay", "--updates=in.jsonl", "--query=busy.cypher", "--batch=5", "--retention=*=1s",
		"--edge-identity=ends", "--once-per=m", "--once-for=60ms", "--once-max-keys=4")
	require.Equal(t, streamless(t, readFile(t, filepath.Join(one, "out.jsonl"))), streamless(t, replayed.stdout))
}
