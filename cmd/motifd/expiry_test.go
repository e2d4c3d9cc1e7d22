package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const expiryConfig = `
graph: {edge_identity: ends, retention: RETENTION, vertex_expiry: isolated}
time: {lateness: 20ms, late: report, max_expired: 3}
input: {file: {path: in.jsonl}}
output: {file: {path: out.jsonl, dead_letter: dead.jsonl, control: batches.jsonl}}
batch: {max_updates: 5, linger: 10s}
checkpoint: {dir: state}
admin: {listen: ""}
queries:
  - {name: path, cypher: "MATCH (a)-[:T]->(b)-[:T]->(c)"}
  - {name: count, cypher: "MATCH (a)-[:T]->(b)", emit: counts}
  - {name: any, cypher: "MATCH (a)-[:T]->(b)-[:T]->(a)", emit: exists}
`

// timedLines are updates among few accounts whose times rise, with disorder beyond the lateness; labels T and U.
func timedLines(rng *rand.Rand, n int) (lines []string) {
	now := 0
	for range n {
		now += rng.IntN(10)
		from := rng.IntN(6)
		lines = append(lines, fmt.Sprintf(`{"op":"+","from":"k%d","to":"k%d","label":%q,"ts":%d}`, from,
			(from+1+rng.IntN(5))%6, []string{"T", "T", "U"}[rng.IntN(3)], now-rng.IntN(2)*rng.IntN(150)))
	}
	return lines
}

// streamless removes the stream's id from an output.
func streamless(t *testing.T, text string) string {
	t.Helper()
	line, _, _ := strings.Cut(text, "\n")
	var r struct{ Stream string }
	require.NoError(t, json.Unmarshal([]byte(line), &r))
	return strings.ReplaceAll(text, r.Stream, "")
}

// TestS20DaemonReplayAndBatchLog: a daemon whose edges expire, a replay of its input with its settings, and a replay of
// its batch log without any write the same bytes; then the retention changes.
func TestS20DaemonReplayAndBatchLog(t *testing.T) {
	t.Parallel()
	lines := timedLines(rand.New(rand.NewPCG(20, 1)), 120)
	config := func(retention string) string { return strings.Replace(expiryConfig, "RETENTION", retention, 1) }
	dir := write(t, map[string]string{"in.jsonl": strings.Join(lines, "\n") + "\n",
		"motifd.yaml": config(`{T: 100ms, "*": 60ms}`),
		"path.cypher": "MATCH (a)-[:T]->(b)-[:T]->(c)"})
	run := func() result { return succeed(t, dir, "run", "-c", "motifd.yaml") }
	read := func(name string) string { return readFile(t, filepath.Join(dir, name)) }
	require.NotContains(t, run().stderr, "records were refused", "late updates are no refused records")
	out, dead, batches := read("out.jsonl"), read("dead.jsonl"), read("batches.jsonl")
	require.Contains(t, out, `"anchor":{"op":"expire","ts":`)
	require.Contains(t, dead, `"reason":"late"`)

	again := succeed(t, dir, "replay", "--batch-log", "state", "--dead-letter", "dead2.jsonl", "--control", "b2.jsonl")
	require.Equal(t, out, again.stdout)
	require.Equal(t, dead, read("dead2.jsonl"))
	require.Equal(t, batches, read("b2.jsonl"))

	// The replay of the input has one of the queries.
	one := write(t, map[string]string{"in.jsonl": read("in.jsonl"), "path.cypher": read("path.cypher"),
		"motifd.yaml": config(`{T: 100ms, "*": 60ms}`)})
	text := readFile(t, filepath.Join(one, "motifd.yaml"))
	text = text[:strings.Index(text, "  - {name: count")]
	require.NoError(t, os.WriteFile(filepath.Join(one, "motifd.yaml"), []byte(text), 0o600))
	succeed(t, one, "run", "-c", "motifd.yaml")
	replayed := succeed(t, one, "replay", "--updates=in.jsonl", "--query=path.cypher", "--batch=5",
		"--retention=T=100ms,*=60ms", "--lateness=20ms", "--max-expired=3", "--late=report", "--dead-letter=d.jsonl",
		"--control=b.jsonl", "--edge-identity=ends", "--vertex-expiry=isolated", "--summary=sum.json")
	require.Equal(t, streamless(t, readFile(t, filepath.Join(one, "out.jsonl"))), streamless(t, replayed.stdout))
	require.Equal(t, streamless(t, readFile(t, filepath.Join(one, "dead.jsonl"))),
		streamless(t, readFile(t, filepath.Join(one, "d.jsonl"))))
	require.Equal(t, streamless(t, readFile(t, filepath.Join(one, "batches.jsonl"))),
		streamless(t, readFile(t, filepath.Join(one, "b.jsonl"))))
	var sum struct{ Time replayTime }
	require.NoError(t, json.Unmarshal([]byte(readFile(t, filepath.Join(one, "sum.json"))), &sum))
	var counted replayTime
	for line := range strings.Lines(readFile(t, filepath.Join(one, "b.jsonl"))) {
		var batch struct{ Time replayTime }
		require.NoError(t, json.Unmarshal([]byte(line), &batch))
		counted.Expired, counted.Late = counted.Expired+batch.Time.Expired, counted.Late+batch.Time.Late
	}
	require.Equal(t, counted, sum.Time)
	require.True(t, sum.Time.Expired > 0 && sum.Time.Late > 0, "%+v", sum.Time)
	require.Contains(t, replayed.stderr, fmt.Sprintf("%d edges expired, %d updates late;", sum.Time.Expired,
		sum.Time.Late))

	// A shorter retention is a batch of its own, and expires in ticks.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "motifd.yaml"), []byte(config(`{"*": 1ms}`)), 0o600))
	run()
	added := strings.TrimPrefix(read("batches.jsonl"), batches)
	require.Contains(t, added, `"retention":{"*":1}}`)
	require.Greater(t, strings.Count(added, `"updates":0,"inserted":0,"deleted":3,`), 1)
	again = succeed(t, dir, "replay", "--batch-log", "state", "--control", "b3.jsonl")
	require.Equal(t, read("out.jsonl"), again.stdout)
	require.Equal(t, read("batches.jsonl"), read("b3.jsonl"))
	succeed(t, dir, "checkpoint", "verify", "state")
	info := succeed(t, dir, "checkpoint", "info", "state").stdout
	require.Regexp(t, `(?m)^retention +\*: 1ms, expired before \d+ \(\d{4}-.*Z\)$`, info)
	require.Regexp(t, `(?m)^watermark +\d+ \(\d{4}-.*Z\)$`, info)
}

// TestS20LateIsLoggedUpToABound: without a file for them, late updates are logged, the first ones only.
func TestS20LateIsLoggedUpToABound(t *testing.T) {
	t.Parallel()
	lines := []string{`{"op":"+","from":"a","to":"b","label":"T","ts":1000000}`}
	for i := range 100 {
		lines = append(lines, fmt.Sprintf(`{"op":"+","from":"a","to":"b%d","label":"T","ts":%d}`, i, i))
	}
	dir := write(t, map[string]string{"in.jsonl": strings.Join(lines, "\n") + "\n",
		"edge.cypher": "MATCH (a)-[:T]->(b)"})
	done := succeed(t, dir, "replay", "--updates=in.jsonl", "--query=edge.cypher", "--batch=1", "--retention=*=1ms",
		"--late=report")
	require.Equal(t, maxLogged, strings.Count(done.stderr, "lies before its horizon"))
}

// TestReplayWarnsOfARetentionWithoutEdges: a label that is misspelt in --retention keeps its edges, and is named.
func TestReplayWarnsOfARetentionWithoutEdges(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"in.jsonl": `{"op":"+","from":"a","to":"b","label":"PAY","ts":1}` + "\n",
		"edge.cypher": "MATCH (a)-[:PAY]->(b)"})
	const says = `"label":"PYA","message":"check --retention: no edge has had this label"`
	args := []string{"replay", "--updates=in.jsonl", "--query=edge.cypher", "--log-format=json"}
	stamp := regexp.MustCompile(`"time":"[^"]*",`)
	warned := succeed(t, dir, append(args, "--retention=PAY=1h,PYA=1h,*=2h")...).stderr
	require.Contains(t, stamp.ReplaceAllString(warned, ""), says)
	require.Equal(t, 1, strings.Count(warned, "check --retention"))
}

// TestLogOfRefusedRecords: a log that keeps batches of refused records alone is replayed without an error.
func TestLogOfRefusedRecords(t *testing.T) {
	t.Parallel()
	config := strings.Replace(expiryConfig, "RETENTION", "{T: 1h}", 1)
	config = strings.Replace(config, "state}", "state, retention: {batches: 1}}", 1)
	config = strings.Replace(config, "max_updates: 5", "max_updates: 1", 1)
	dir := write(t, map[string]string{"motifd.yaml": config,
		"in.jsonl": `{"op":"+","from":"a","to":"b","label":"T","ts":1}` + "\n"})
	succeed(t, dir, "run", "-c", "motifd.yaml")
	f, err := os.OpenFile(filepath.Join(dir, "in.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"op":"+","from":"a","to":"a"}` + "\n")
	require.NoError(t, errors.Join(err, f.Close()))
	succeed(t, dir, "run", "-c", "motifd.yaml")
	succeed(t, dir, "replay", "--batch-log=state", "--dead-letter=again.jsonl")
	require.Contains(t, readFile(t, filepath.Join(dir, "again.jsonl")), "self_loop")
}

// TestS20FirstRetention: a checkpoint that was made without a retention gets one beside the edge identity that it has.
func TestS20FirstRetention(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"in.jsonl": `{"op":"+","from":"a","to":"b","label":"T","ts":1}` + "\n"})
	run := func(graph string) result {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "motifd.yaml"), []byte("graph: {"+graph+"}\n"+
			"input: {file: {path: in.jsonl}}\noutput: {file: {path: out.jsonl}}\ncheckpoint: {dir: state}\n"+
			`admin: {listen: ""}`+"\n"), 0o600))
		return motifd(t, dir, "run", "-c", "motifd.yaml")
	}
	first := run("directed: true")
	require.Zero(t, first.code, first.stderr)
	refused := run(`retention: {"*": 1h}`)
	require.NotZero(t, refused.code)
	require.Contains(t, refused.stderr, "graph.edge_identity")
	kept := run(`edge_identity: ends, retention: {"*": 1h}`)
	require.Zero(t, kept.code, kept.stderr)
}
