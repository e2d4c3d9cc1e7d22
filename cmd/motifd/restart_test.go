package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"motifd/cmd/motifd/internal/payments"
	"motifd/config"
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/reference"
	"motifd/stream"
	"motifd/stream/codec"
	"motifd/stream/kafka/embedded"
)

// TestP3KillAndRestart kills a real daemon on the embedded log again and again while payments are produced. In the end:
//
//   - the set of matches that its output adds up to is the oracle's, on the graph that the input topic adds up to;
//   - a record that was published again is the same record: (batch, index) names its bytes;
//   - the output, each record once, is what `motifd replay --batch-log` writes;
//   - `motifd audit` finds no difference.
func TestP3KillAndRestart(t *testing.T) {
	t.Parallel()
	const seed = 11
	kills := 6
	if matchertest.Quick(t) {
		kills = 3
	}
	dir, port := logDir(t)
	addQuery(t, dir, "oneway", onewayRing)
	ctx, stop := context.WithCancel(t.Context())
	produced := make(chan error, 1)
	p := start(t, dir)
	p.ready()
	go func() { produced <- produceForever(ctx, port, seed) }()
	rng := rand.New(rand.NewPCG(seed, 2))
	batch := uint64(0)
	for range kills {
		// At least one batch more than at the last kill, then at any moment.
		p.until("there was progress", func() bool { return p.status().Batch > batch+1 })
		batch = p.status().Batch
		// No wait for anything: the kill comes at a random moment, which is what is tested.
		time.Sleep(time.Duration(rng.IntN(100)) * time.Millisecond)
		p.kill()
		p = start(t, dir)
	}
	p.ready()
	p.until("there was progress", func() bool { return p.status().Batch > batch+1 })
	stop()
	require.NoError(t, <-produced)
	end := endOffset(t, port)
	p.until("all input was taken", func() bool { return p.status().Positions["0"] >= end })
	require.Contains(t, succeed(t, dir, "audit", "state").stdout, " 0 differ, 0 left out", "while it runs")
	p.stop()
	require.Contains(t, succeed(t, dir, "audit", "state").stdout, " 0 differ, 0 left out")

	log := openLog(t, dir, port)
	output := outputOf(t, log.Addr())
	require.NotEmpty(t, output)
	require.Equal(t, oracleIDs(t, log.Addr()), standing(t, output))
	require.Equal(t, strings.Join(output, ""), succeed(t, dir, "replay", "--batch-log", "state").stdout)
	require.Contains(t, succeed(t, dir, "checkpoint", "verify", "state").stdout, "intact")
}

// onewayRing has a negation, so that matches begin where edges go.
const onewayRing = "MATCH (a)-[:T]->(b)-[:T]->(c)-[:T]->(a) WHERE NOT (a)-[:T]->(c) AND NOT (b)-[:T]->(a)"

// addQuery appends a query to the configuration of logDir, which ends with queries.
func addQuery(t *testing.T, dir, name, cypher string) {
	t.Helper()
	file := filepath.Join(dir, "motifd.yaml")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	more := fmt.Sprintf("  - {name: %s, cypher: %q}\n", name, cypher)
	require.NoError(t, os.WriteFile(file, append(text, more...), 0o644))
}

// produceForever makes updates among few accounts, so that there are many rings, until ctx is done. A request that
// fails, because the daemon and with it the log was killed, is made again: whether the updates are then in the topic
// once, twice or not at all, the topic is what counts.
func produceForever(ctx context.Context, port int, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 3))
	for ctx.Err() == nil {
		var list []payments.Update
		for range 1 + rng.IntN(20) {
			a, b := rng.IntN(25), rng.IntN(25)
			if a == b {
				continue // refused, with the rest of the message
			}
			op := "+"
			if rng.IntN(2) == 0 {
				op = "-"
			}
			list = append(list, payments.Update{Op: op, From: strconv.Itoa(a), To: strconv.Itoa(b), Label: "T"})
		}
		value, err := json.Marshal(list)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			continue
		}
		// The end of the production waits for the answer: what is given up on its way may come in behind what is
		// thought the end.
		try, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		_ = produceOne(try, port, value) // again, with other updates
		cancel()
		select {
		case <-ctx.Done():
		case <-time.After(2 * time.Millisecond):
		}
	}
	return nil
}

func produceOne(ctx context.Context, port int, value []byte) error {
	transport := &kafkago.Transport{}
	defer transport.CloseIdleConnections()
	client := &kafkago.Client{Addr: kafkago.TCP(fmt.Sprintf("127.0.0.1:%d", port)), Transport: transport}
	resp, err := client.Produce(ctx, &kafkago.ProduceRequest{
		Topic: "payments", RequiredAcks: kafkago.RequireAll,
		Records: kafkago.NewRecordReader(kafkago.Record{Value: kafkago.NewBytes(value)}),
	})
	if err != nil {
		return err
	}
	return resp.Error
}

func endOffset(t *testing.T, port int) int64 {
	t.Helper()
	transport := &kafkago.Transport{}
	defer transport.CloseIdleConnections()
	return lastOffset(t, &kafkago.Client{Addr: kafkago.TCP(fmt.Sprintf("127.0.0.1:%d", port)), Transport: transport},
		"payments")
}

func lastOffset(t testing.TB, client *kafkago.Client, topic string) int64 {
	t.Helper()
	resp, err := client.ListOffsets(t.Context(), &kafkago.ListOffsetsRequest{
		Topics: map[string][]kafkago.OffsetRequest{topic: {kafkago.LastOffsetOf(0)}},
	})
	require.NoError(t, err)
	require.NoError(t, resp.Topics[topic][0].Error)
	return resp.Topics[topic][0].LastOffset
}

// openLog opens the embedded log of a daemon that was stopped, until the end of the test.
func openLog(t *testing.T, dir string, port int) *embedded.Log {
	t.Helper()
	log, err := embedded.Open(embedded.Options{Dir: filepath.Join(dir, "log"), Port: port})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, log.Close()) })
	return log
}

// outputOf returns the lines of the output topic, each record once, in the order of (batch, index).
func outputOf(t *testing.T, addr string) []string {
	t.Helper()
	type place struct{ batch, index uint64 }
	lines := make(map[place]string)
	for _, r := range committed(t, addr, "alerts") {
		var a struct{ Batch, Index uint64 }
		require.NoError(t, json.Unmarshal(r.Value, &a))
		at := place{a.Batch, a.Index}
		if before, ok := lines[at]; ok {
			require.Equal(t, before, string(r.Value)+"\n", "published again, it is the same record")
		}
		lines[at] = string(r.Value) + "\n"
	}
	places := slices.SortedFunc(maps.Keys(lines), func(a, b place) int {
		if a.batch != b.batch {
			return int(int64(a.batch) - int64(b.batch))
		}
		return int(int64(a.index) - int64(b.index))
	})
	out := make([]string, len(places))
	for i, at := range places {
		out[i] = lines[at]
	}
	return out
}

// standing returns the ids of the matches that were added and not cancelled.
func standing(t *testing.T, output []string) []string {
	t.Helper()
	ids := make(map[string]bool)
	for _, line := range output {
		var r struct{ Op, Match string }
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		require.Equal(t, r.Op == "-", ids[r.Match], "a match appears when it is not there, and disappears when it is")
		if r.Op == "-" {
			delete(ids, r.Match)
		} else {
			ids[r.Match] = true
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// oracleIDs returns the ids of the matches in the graph that the input topic adds up to, found by recomputation.
func oracleIDs(t *testing.T, addr string) []string {
	t.Helper()
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true})
	dec, err := codec.NewDecoder(codec.FormatJSON, codec.DecoderOptions{})
	require.NoError(t, err)
	for _, r := range committed(t, addr, "payments") {
		updates, err := dec.Decode(stream.Record{Value: r.Value, Offset: r.Offset}, nil)
		require.NoError(t, err)
		accepted, rejects := g.Accept([]dyngraph.Message{{Updates: updates}})
		require.Empty(t, rejects)
		_, err = g.Stage(accepted)
		require.NoError(t, err)
		g.Commit()
	}
	var ids []string
	for _, c := range []config.Query{
		{Name: "ring", Cypher: "MATCH (a)-[:T]->(b)-[:T]->(c)-[:T]->(a)", Emit: "deltas", Unit: "embeddings",
			Backfill: "none"},
		{Name: "pair", Cypher: "MATCH (a)-[:T]->(b)-[:T]->(a)", Emit: "deltas", Unit: "subgraphs", Backfill: "none"},
		{Name: "oneway", Cypher: onewayRing, Emit: "deltas", Unit: "embeddings", Backfill: "none"},
	} {
		q, err := c.Build(true, "", nil)
		require.NoError(t, err)
		q.Version = 1
		ids = append(ids, idsOf(t, g, q)...)
	}
	slices.Sort(ids)
	return ids
}

func idsOf(t *testing.T, g *dyngraph.Graph, q *matcher.Query) (ids []string) {
	t.Helper()
	view := g.View(dyngraph.New)
	for _, row := range reference.Matches(view, q) {
		id, err := codec.MatchID(q, view, row)
		require.NoError(t, err)
		ids = append(ids, fmt.Sprintf("%x", id[:]))
	}
	return ids
}

// TestSecondDaemon holds that a second daemon on the same checkpoint is refused, and the first is not disturbed.
func TestSecondDaemon(t *testing.T) {
	t.Parallel()
	dir, _ := logDir(t)
	p := start(t, dir)
	p.ready()
	r := motifd(t, dir, "run", "-c", "motifd.yaml", "--set", "admin.listen=", "--set",
		"embedded.port="+strconv.Itoa(freePort(t)), "--set", "embedded.dir=other")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.stderr, "in use by another process")
	p.stop()
}
