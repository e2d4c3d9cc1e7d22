package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
)

// TestS23DeclaredLater: a daemon whose configuration declares other properties at each start. Queries read what the
// edges brought before it was declared, and a replay of the batch log writes the same bytes.
func TestS23DeclaredLater(t *testing.T) {
	matchertest.NotUnderRace(t, "TestP3KillAndRestart has the goroutines of the daemon")
	t.Parallel()
	dir := write(t, map[string]string{"in.jsonl": `{"op":"+","from":"a","to":"b","label":"T","props":{"amount":12.5}}
{"op":"+","from":"b","to":"c","label":"T","props":{"amount":7.25,"note":"x"}}
`})
	input := func(lines string) {
		f, err := os.OpenFile(filepath.Join(dir, "in.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteString(lines)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	config := func(graph string, queries ...string) {
		text := "graph: {" + graph + "}\n" + `input: {file: {path: in.jsonl}}
output: {file: {path: out.jsonl, control: batches.jsonl}}
checkpoint: {dir: state}
admin: {listen: ""}
queries:
  - {name: any, cypher: "MATCH (a)-[:T]->(b)"}
` + strings.Join(queries, "")
		require.NoError(t, os.WriteFile(filepath.Join(dir, "motifd.yaml"), []byte(text), 0o600))
	}
	run := func() result { return succeed(t, dir, "run", "-c", "motifd.yaml") }
	out := func() string { return readFile(t, filepath.Join(dir, "out.jsonl")) }
	const large = "  - {name: large, cypher: \"MATCH (a)-[t:T]->(b) WHERE t.amount >= 10\", backfill: full}\n"

	config("")
	run()
	config("properties: {edges: {T: {amount: decimal(2)}}}", large)
	r := motifd(t, dir, "run", "-c", "motifd.yaml")
	require.NotZero(t, r.code)
	require.Contains(t, r.stderr, "graph.edge_identity is ends there and id in the configuration")
	require.Contains(t, r.stderr, "write graph.edge_identity: ends")

	config("edge_identity: ends, properties: {edges: {T: {amount: decimal(2)}}}", large)
	input(`{"op":"+","from":"c","to":"d","label":"T","props":{"amount":99}}` + "\n")
	require.Contains(t, run().stderr, "the declared properties change")
	require.Equal(t, 2, strings.Count(out(), `"query":"large"`))
	require.Contains(t, out(), `"snapshot":true,"vertices":{"a":{"key":"a"},"b":{"key":"b"}}`)
	require.Contains(t, out(), `"props":{"amount":12.50}`)
	batches := readFile(t, filepath.Join(dir, "batches.jsonl"))
	require.Contains(t, batches,
		`"properties":{"edges":{"T":{"amount":"decimal(2)"}},"vertices":{},"changed":2,"last":true}`)

	config("edge_identity: ends, properties: {edges: {T: {amount: float64}}}", large)
	r = motifd(t, dir, "run", "-c", "motifd.yaml")
	require.Equal(t, exitRefused, r.code)
	require.Contains(t, r.stderr, `it reads t.amount as decimal(2), which graph.properties declares as float64; remove`)

	config("edge_identity: ends, properties: {edges: {T: {note: string}}}")
	input(`{"op":"-","from":"a","to":"b","label":"T"}` + "\n")
	run()
	require.Contains(t, readFile(t, filepath.Join(dir, "batches.jsonl")), `"changed":3,"last":true`)
	info := succeed(t, dir, "checkpoint", "info", "state").stdout
	require.Regexp(t, `format +5\n`, info)
	require.Regexp(t, `properties +edges T: note string\n`, info)
	require.Contains(t, succeed(t, dir, "checkpoint", "verify", "state").stdout, "intact")
	again := succeed(t, dir, "replay", "--batch-log", "state", "--control", "again.jsonl")
	require.Equal(t, out(), again.stdout)
	require.Equal(t, readFile(t, filepath.Join(dir, "batches.jsonl")), readFile(t, filepath.Join(dir, "again.jsonl")))
}

// TestS23ARefusedStartChangesNothing: a query that was added while the daemon ran reads a property that the next
// configuration drops. The start is refused before any batch of it, and the old configuration goes on.
func TestS23ARefusedStartChangesNothing(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	dir := write(t, map[string]string{"hot.cypher": "MATCH (a)-[t:T]->(b) WHERE t.ch = 'web'"})
	config := func(types, cypher string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "motifd.yaml"), fmt.Appendf(nil, `
graph: {properties: {edges: {T: {%s}}}}
input: {kafka: {topic: payments, group: motifd}}
output: {file: {path: out.jsonl, control: batches.jsonl}}
batch: {linger: 5ms}
checkpoint: {dir: state}
embedded: {dir: log, port: %d, sync: false}
queries:
  - {name: any, cypher: "%s"}
`, types, port, cypher), 0o600))
	}
	produce := func(id string) {
		require.NoError(t, produceOne(t.Context(), port, fmt.Appendf(nil,
			`{"op":"+","id":%q,"from":"a","to":"b","label":"T","props":{"ch":"web","fee":3}}`, id)))
	}
	out := func() string { return readFile(t, filepath.Join(dir, "out.jsonl")) }
	batches := func() string { return readFile(t, filepath.Join(dir, "batches.jsonl")) }
	const before, any = "ch: string", "MATCH (a)-[:T]->(b)"

	config(before, any)
	p := start(t, dir)
	p.ready()
	succeed(t, dir, "query", "add", "hot.cypher", "--url", p.url)
	produce("1")
	p.until("both matches", func() bool { return strings.Count(out(), "\n") == 2 })
	p.stop()
	info := func() string {
		text := succeed(t, dir, "checkpoint", "info", "state").stdout
		return regexp.MustCompile(`on disk.*\n`).ReplaceAllString(text, "") // an opening tidies up
	}
	was, wrote, told := info(), out(), batches()

	config("fee: int64", "MATCH (a)-[t:T]->(b) WHERE t.fee > 1")
	p = start(t, dir)
	<-p.done
	require.Equal(t, exitRefused, p.cmd.ProcessState.ExitCode(), p.stderr.String())
	require.Contains(t, p.stderr.String(), `"hot": it reads t.ch as string, which graph.properties does not declare`)
	require.Equal(t, was, info())
	require.Equal(t, wrote, out())
	require.Equal(t, told, batches())

	config(before, any)
	p = start(t, dir)
	p.ready()
	produce("2")
	p.until("two more matches", func() bool { return strings.Count(out(), "\n") == 4 })
	p.stop()
	require.True(t, strings.HasPrefix(out(), wrote))
	require.True(t, strings.HasPrefix(batches(), told))
}
