package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// hubQueries ask for ten senders that pay one account, in each way, and for a payment that has nothing to do with it.
// The limits are such that the tests end soon.
const hubQueries = `  - {name: any10, unit: subgraphs, emit: exists, BACKFILL, cypher: "FAN"}
  - {name: count10, unit: subgraphs, emit: counts, BACKFILL, cypher: "FAN"}
  - {name: fan10, unit: subgraphs, BACKFILL, cypher: "FAN"}
  - {name: first10, unit: subgraphs, max_matches_per_batch: 10, BACKFILL, cypher: "FAN"}
  - {name: pay, BACKFILL, cypher: "MATCH (a)-[:PAY]->(b)"}
engine: {limits: {group_matches: 20000, query_time: 2s}}
`

func hubText(text, backfill string) string {
	return strings.NewReplacer("FAN", hubPattern(), "BACKFILL", "backfill: "+backfill).Replace(text)
}

const payment = `{"op":"+","from":"x","to":"y","label":"PAY"}` + "\n"

// requireHub holds what the output says of a hub of sixty payments, once: a part of the 7.5e10 matches of fan10 and
// that it is a part, the exact number, that there is one, ten of them where ten are wanted, and the other payment.
func requireHub(t *testing.T, out string) {
	t.Helper()
	count := func(parts ...string) int { return countLines(out, parts...) }
	require.Equal(t, 1, count(`"query":"count10"`, `"op":"+"`, `"count":75394027566`))
	require.Equal(t, 1, count(`"query":"any10"`, `"op":"+"`))
	require.Equal(t, 10, count(`"query":"first10"`, `"op":"+","match":`))
	require.Equal(t, 1, count(`"query":"first10"`, `"op":"!"`, `"reason":"truncated"`))
	require.Positive(t, count(`"query":"fan10"`, `"op":"!"`, `"reason":"skipped"`))
	require.Less(t, count(`"query":"fan10"`, `"op":"+","match":`), 60*60_000)
	require.Equal(t, 1, count(`"query":"pay"`, `"op":"+"`))
}

// TestS11OneHubInTheBootstrap has the hub in the graph that the daemon begins with, and queries that are registered
// over it.
func TestS11OneHubInTheBootstrap(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"graph.jsonl": hubMessage(), "in.jsonl": payment, "motifd.yaml": hubText(`
input: {file: {path: in.jsonl}}
output: {file: {path: out.jsonl}}
graph: {bootstrap: graph.jsonl}
checkpoint: {dir: state}
admin: {listen: ""}
queries:
`+hubQueries, "full")})
	succeed(t, dir, "run", "-c", "motifd.yaml")
	out := readFile(t, filepath.Join(dir, "out.jsonl"))
	requireHub(t, out)
	require.Equal(t, out, succeed(t, dir, "replay", "--batch-log", "state").stdout)
}

// TestS11OneHubOnKafka sends the hub to a daemon that reads a topic. While the batch is searched the API answers
// within a second. The daemon is killed in the middle, and the next one finishes the batch.
func TestS11OneHubOnKafka(t *testing.T) {
	t.Parallel()
	dir, port := logDir(t)
	text, _, _ := strings.Cut(readFile(t, filepath.Join(dir, "motifd.yaml")), "queries:")
	text = strings.Replace(text, "control: batches", "control: batches, max_transaction_records: 20000", 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "motifd.yaml"), []byte(text+"queries:\n"+
		hubText(hubQueries, "none")), 0o600))
	larger := []string{"--set", "engine.limits.group_matches=60000"} // 92,378 matches, so that the batch takes a while
	p := start(t, dir, larger...)
	p.ready()
	require.NoError(t, produceOne(t.Context(), port, []byte(strings.TrimSuffix(strings.TrimSpace(hubMessage()), "]")+
		","+strings.TrimSpace(payment)+"]")))
	client := &http.Client{Timeout: time.Second}
	p.until("records of the batch are out", func() bool {
		resp, err := client.Get(p.url + "/api/v1/status")
		require.NoError(t, err)
		defer resp.Body.Close()
		var s struct {
			Batch uint64
			Step  *struct{ Batch, Records uint64 }
		}
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&s))
		return s.Batch == 6 || s.Step != nil && s.Step.Batch == 6 && s.Step.Records > 30_000
	})
	end := endOffset(t, port)
	p.kill()
	p = start(t, dir, larger...)
	p.until("the batch is done", func() bool { return p.status().Positions["0"] >= end })
	p.stop()
	log := openLog(t, dir, port)
	output := strings.Join(outputOf(t, log.Addr()), "")
	requireHub(t, output)
	require.Equal(t, output, succeed(t, dir, "replay", "--batch-log", "state").stdout)
}

// TestMatchStopsInAFlood stops match while it searches 7.5e10 matches, of which it would write the first once it
// has them all. The test ends because the search does.
func TestMatchStopsInAFlood(t *testing.T) {
	dir := write(t, map[string]string{"graph.jsonl": hubMessage(), "fan10.cypher": hubPattern()})
	ctx, cancel := context.WithCancel(t.Context())
	defer time.AfterFunc(300*time.Millisecond, cancel).Stop() // most probably in the middle of the search
	var stderr locked
	code := execute(ctx, []string{
		"match", "--graph=" + filepath.Join(dir, "graph.jsonl"), "--query=" + filepath.Join(dir, "fan10.cypher"),
		"--unit=subgraphs", "--backend=cpu", "--out=-",
	}, strings.NewReader(""), io.Discard, &stderr, nil)
	require.Equal(t, exitFailed, code, stderr.String())
	require.Contains(t, stderr.String(), "stopped by a signal before all matches were found")
}

// TestShadowQueries: a query that is tried on the live stream has numbers and cost in status, metrics and batch
// records, and no record in the output; once it is live, it has.
func TestShadowQueries(t *testing.T) {
	t.Parallel()
	const edges, pattern = `{"op":"+","from":"a","to":"b","label":"T"}` + "\n" +
		`{"op":"+","from":"b","to":"c","label":"T"}` + "\n" + `{"op":"+","from":"b","to":"d","label":"T"}` + "\n",
		"MATCH (x)-[:T]->(y)-[:T]->(z)"
	dir, port := logDir(t)
	p := start(t, dir)
	p.ready()
	file := write(t, map[string]string{"path.cypher": pattern})
	succeed(t, file, "query", "add", "path.cypher", "--mode", "shadow", "--url", p.url)
	require.NoError(t, produceOne(t.Context(), port, []byte("["+strings.ReplaceAll(strings.TrimSpace(edges), "\n", ",")+
		"]")))
	type activity struct {
		Name              string
		Positive, Records uint64
		Seconds           float64 `json:"search_seconds"`
	}
	find := func() activity { // zero until the status has it: a registration is answered before
		var s struct{ Queries []activity }
		require.NoError(t, json.Unmarshal([]byte(p.ask("GET", "/api/v1/status", "").body), &s))
		if i := slices.IndexFunc(s.Queries, func(q activity) bool { return q.Name == "path" }); i >= 0 {
			return s.Queries[i]
		}
		return activity{}
	}
	p.until("the matches are counted", func() bool { return find().Positive == 2 })
	require.Zero(t, find().Records)
	require.Positive(t, find().Seconds)
	metrics := p.ask("GET", "/metrics", "").body
	require.Regexp(t, `motifd_matches_total\{query="path",sign="\+"\} 2`, metrics)
	require.Regexp(t, `motifd_query_search_steps_total\{query="path"\} [1-9]`, metrics)
	require.Contains(t, succeed(t, file, "query", "list", "--url", p.url).stdout, "shadow")
	succeed(t, file, "query", "add", "path.cypher", "--url", p.url) // live, a new version
	require.NoError(t, produceOne(t.Context(), port, []byte(`{"op":"+","from":"b","to":"e","label":"T"}`)))
	end := endOffset(t, port)
	p.until("all input was taken", func() bool { return p.status().Positions["0"] >= end })
	p.stop()
	log := openLog(t, dir, port)
	output := strings.Join(outputOf(t, log.Addr()), "")
	require.Equal(t, 1, strings.Count(output, `"query":"path"`), output)
	require.Contains(t, output, `"query":"path","version":2,"op":"+"`)
	var batches bytes.Buffer
	for _, r := range committed(t, log.Addr(), "batches") {
		batches.Write(r.Value)
	}
	require.Contains(t, batches.String(), `{"query":"path","version":1,"positive":2,"negative":0}`)
	require.Equal(t, output, succeed(t, dir, "replay", "--batch-log", "state").stdout)
}

// TestS11MaxEdgesRejects: with graph.on_max_edges: reject new edges become dead letters, the input goes on, and what is
// deleted makes room.
func TestS11MaxEdgesRejects(t *testing.T) {
	t.Parallel()
	var in strings.Builder
	for i := range 5 {
		in.WriteString(edgeJSON("+", "a", strconv.Itoa(i)))
	}
	in.WriteString(edgeJSON("-", "a", "0") + edgeJSON("+", "a", "new"))
	dir := write(t, map[string]string{"motifd.yaml": fileConfig, "in.jsonl": in.String()})
	r := succeed(t, dir, "run", "-c", "motifd.yaml", "--set", "admin.listen=", "--set", "batch.max_updates=1",
		"--set", "graph.max_edges=3", "--set", "graph.on_max_edges=reject")
	require.NotContains(t, r.stderr, "paused")
	dead := readFile(t, filepath.Join(dir, "dead.jsonl"))
	require.Equal(t, 2, strings.Count(dead, `"reason":"graph_full"`), dead)
	require.Equal(t, 2, strings.Count(dead, "\n"), dead)
	require.Contains(t, succeed(t, dir, "checkpoint", "info", "state").stdout, "3 edges")
}
