package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"motifd/cmd/motifd/internal/admin"
	"motifd/matcher/matchertest"
)

// hubMessage is sixty payments to one account, in one message, and hubPattern ten senders to one: 7.5e10 matches, which
// no machine puts out.
func hubMessage() string {
	var all []string
	for i := range 60 {
		all = append(all, fmt.Sprintf(`{"op":"+","from":"s%d","to":"payroll","label":"TRANSFER"}`, i))
	}
	return "[" + strings.Join(all, ",") + "]\n"
}

func hubPattern() string {
	var senders []string
	for i := range 10 {
		senders = append(senders, fmt.Sprintf("(s%d)-[:TRANSFER]->(m)", i))
	}
	return "MATCH " + strings.Join(senders, ", ")
}

// unlimited takes all limits off.
const unlimited = "engine: {limits: {group_matches: 0, query_time: 0s, batch_time: 0s, spill_bytes: 0}}\n"

// suspended returns how many lines tell that an operator has suspended fan10, and checks that no other line of it comes
// behind one.
func suspended(t *testing.T, lines string) (n int) {
	for line := range strings.Lines(lines) {
		if !strings.Contains(line, `"query":"fan10"`) {
			continue
		}
		require.Zero(t, n, line)
		if strings.Contains(line, `"op":"!"`) {
			require.Contains(t, line, `"reason":"suspended"`)
			require.Contains(t, line, `"limit":"operator"`)
			n++
		}
	}
	return n
}

// TestS11TheWayOutOfABatchThatDoesNotEnd kills a daemon in the middle of a batch that would take for ever, without
// limits. The next start suspends the query, and goes on.
func TestS11TheWayOutOfABatchThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"motifd.yaml": `
input: {file: {path: in.jsonl}}
output: {file: {path: out.jsonl}}
batch: {max_updates: 60}
checkpoint: {dir: state}
queries:
  - {name: fan10, unit: subgraphs, cypher: "` + hubPattern() + `"}
  - {name: pay, cypher: "MATCH (a)-[:PAY]->(b)"}
` + unlimited, "in.jsonl": hubMessage() + `{"op":"+","from":"x","to":"y","label":"PAY"}` + "\n"})
	out := filepath.Join(dir, "out.jsonl")
	p := start(t, dir)
	p.until("the batch was under way", func() bool {
		info, err := os.Stat(out)
		return err == nil && info.Size() > 4<<20
	})
	r := motifd(t, dir, "checkpoint", "suspend", "state", "--query", "fan10")
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.stderr, "in use by another process")
	p.kill()

	r = motifd(t, dir, "checkpoint", "suspend", "state", "--query", "fan1")
	require.Equal(t, exitRefused, r.code)
	require.Contains(t, r.stderr, `no such query: "fan1"; it has "fan10", "pay"`)
	require.Contains(
		t,
		succeed(t, dir, "checkpoint", "suspend", "state", "--query", "fan10").stdout,
		"in batch 3, from the first record",
	)
	require.Contains(t, succeed(t, dir, "checkpoint", "info", "state").stdout,
		"active, to be suspended at the next start")
	succeed(t, dir, "run", "-c", "motifd.yaml", "--set", "admin.listen=")
	text := readFile(t, out)
	require.Equal(t, 1, suspended(t, text))
	require.Equal(t, 1, strings.Count(text, `"query":"pay"`))
	require.Contains(t, succeed(t, dir, "checkpoint", "info", "state").stdout, "suspended (operator)")
	require.Contains(t, succeed(t, dir, "checkpoint", "suspend", "state", "--query", "fan10").stdout,
		"suspended already")
	require.Equal(t, text, succeed(t, dir, "replay", "--batch-log", "state").stdout)

	// Without a batch in progress it is one of its own; a start that names a query that is suspended starts all the
	// same.
	require.Contains(t, succeed(t, dir, "checkpoint", "suspend", "state", "--query", "pay").stdout,
		"no batch is in progress")
	appendFile(t, filepath.Join(dir, "in.jsonl"), `{"op":"+","from":"y","to":"z","label":"PAY"}`+"\n")
	succeed(t, dir, "run", "-c", "motifd.yaml", "--set", "admin.listen=", "--suspend", "fan10")
	more := strings.TrimPrefix(readFile(t, out), text)
	require.Equal(t, 1, strings.Count(more, "\n"), more)
	require.Contains(t, more, `"query":"pay","version":1,"op":"!","reason":"suspended"`)
	require.Equal(t, text+more, succeed(t, dir, "replay", "--batch-log", "state").stdout)
	require.NotContains(t, succeed(t, dir, "checkpoint", "info", "state").stdout, "to be suspended")
}

// TestS11RunSuspends is the same on Kafka, by the start itself, where some of the batch is published: that stays, and a
// record behind it tells that there is no more.
func TestS11RunSuspends(t *testing.T) {
	t.Parallel()
	matchertest.NotUnderRace(t, "TestS11OneHubOnKafka kills the same goroutines")
	dir, port := logDir(t)
	text := strings.Replace(
		readFile(t, filepath.Join(dir, "motifd.yaml")),
		"control: batches",
		"control: batches, max_transaction_records: 1000",
		1,
	)
	text += "  - {name: fan10, unit: subgraphs, cypher: \"" + hubPattern() + "\"}\n" + unlimited
	require.NoError(t, os.WriteFile(filepath.Join(dir, "motifd.yaml"), []byte(text), 0o600))
	p := start(t, dir)
	p.ready()
	require.NoError(t, produceOne(t.Context(), port, []byte(hubMessage())))
	transport := &kafkago.Transport{}
	defer transport.CloseIdleConnections()
	client := &kafkago.Client{Addr: kafkago.TCP(fmt.Sprintf("127.0.0.1:%d", port)), Transport: transport}
	p.until("some of the batch was published", func() bool { return lastOffset(t, client, "alerts") > 5000 })
	p.kill()
	r := motifd(t, dir, "run", "-c", "motifd.yaml", "--set", "admin.listen=", "--suspend", "fan")
	require.Equal(t, exitRefused, r.code)
	require.Contains(t, r.stderr, `it has "fan10", "pair", "ring"`)
	p = start(t, dir, "--suspend", "fan10")
	p.ready()
	require.NoError(
		t,
		produceOne(
			t.Context(),
			port,
			[]byte(`[{"op":"+","from":"1","to":"2","label":"T"},{"op":"+","from":"2","to":"1","label":"T"}]`),
		),
	)
	end := endOffset(t, port)
	p.until("all input was taken", func() bool { return p.status().Positions["0"] >= end })
	var fan admin.QueryActivity
	for _, q := range p.fullStatus().Queries {
		if q.Name == "fan10" {
			fan = q
		}
	}
	require.True(t, fan.Suspended)
	require.Equal(t, "operator", fan.SuspendedBy)
	p.stop()

	log := openLog(t, dir, port)
	output := strings.Join(outputOf(t, log.Addr()), "")
	require.Equal(t, 1, suspended(t, output))
	require.Greater(t, strings.Count(output, `"query":"fan10"`), 4000)
	require.Equal(t, 1, strings.Count(output, `"query":"pair"`))
	require.Equal(t, output, succeed(t, dir, "replay", "--batch-log", "state").stdout)
	batches := ""
	for _, r := range committed(t, log.Addr(), "batches") {
		batches += string(r.Value)
	}
	require.Contains(t, batches, `"suspended":true,"limit":"operator"`)
}
