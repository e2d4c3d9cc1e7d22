//go:build kafka && unix

package main

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"motifd/stream/kafka"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/brokertest"
)

// TestBrokerFits: a daemon, its configuration and a real broker that do not fit together, or only just.
func TestBrokerFits(t *testing.T) {
	b := brokertest.StartSecured(t, nil)
	t.Run("TopicsCreate", func(t *testing.T) { topicsCreated(t, b.Addr()) })
	t.Run("TopicsCheck", func(t *testing.T) { topicsChecked(t, b.Addr()) })
	t.Run("TopicsNotes", func(t *testing.T) { topicsNotes(t, b.Addr()) })
	t.Run("Fenced", func(t *testing.T) { fenced(t, newFitAt(t, b.Addr(), "fenced-")) })
	t.Run("Output", func(t *testing.T) { outputDoesNotFit(t, newFitAt(t, b.Addr(), "output-")) })
	t.Run("InputGone", func(t *testing.T) { inputGone(t, newFitAt(t, b.Addr(), "gone-")) })
	t.Run("Input", func(t *testing.T) { mixedInput(t, b.Addr()) })
	t.Run("Secrets", func(t *testing.T) { secrets(t, b) })
	t.Run("Permissions", func(t *testing.T) { permissions(t, b) })
}

const mixedConfig = `
input:
  kafka: {brokers: ["ADDR"], topic: mixed-in, group: mixed-group}
  limits: {max_message_bytes: 1MiB, max_expanded_bytes: 3MiB, max_dead_letter_bytes: 100}
output: {kafka: {topic: mixed-out, dead_letter: mixed-dead, control: mixed-control}}
batch: {linger: 1ms, max_updates: 20}
checkpoint: {dir: state}
queries: [{name: edge, cypher: "MATCH (a)-[:T]->(b)"}]
`

// mixedInput: a daemon takes from several partitions what a topic can hold: every codec, tombstones, headers, aborted
// transactions, and records that it refuses, each of which is a dead letter. The batch log knows the order in which
// it took them: the replay writes what it wrote.
func mixedInput(t *testing.T, addr string) {
	client := kafka.ClientOptions{Brokers: []string{addr}}
	require.NoError(t, admin.EnsureTopics(t.Context(), client,
		admin.Topic{Name: "mixed-in", Partitions: 3,
			Config: map[string]string{"max.message.bytes": "9000000", "segment.bytes": "20000000"}},
		admin.Topic{Name: "mixed-out", Partitions: 2},
		admin.Topic{Name: "mixed-dead"}, admin.Topic{Name: "mixed-control"}, admin.ProgressTopic("mixed-out-progress")))
	dir := write(t, map[string]string{"motifd.yaml": strings.Replace(mixedConfig, "ADDR", addr, 1)})
	n, edges := 0, 0
	ends := map[int32]int64{}
	edge := func() *kgo.Record {
		n, edges = n+1, edges+1
		return &kgo.Record{Partition: int32(n % 3),
			Value:   []byte(strings.TrimSpace(edgeJSON("+", "a", fmt.Sprint("b", n)))),
			Headers: []kgo.RecordHeader{{Key: "trace", Value: []byte{0xff}}, {Key: "trace"}}}
	}
	produce := func(cl *kgo.Client, recs ...*kgo.Record) {
		t.Helper()
		results := cl.ProduceSync(t.Context(), recs...)
		require.NoError(t, results.FirstErr())
		for _, r := range results {
			ends[r.Record.Partition] = max(ends[r.Record.Partition], r.Record.Offset+1)
		}
	}
	open := func(opts ...kgo.Opt) *kgo.Client {
		cl, err := brokertest.NewClient(addr,
			append(opts, kgo.DefaultProduceTopic("mixed-in"), kgo.ProducerBatchMaxBytes(8<<20),
				kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(5*time.Millisecond))...)
		require.NoError(t, err)
		t.Cleanup(cl.Close)
		return cl
	}
	refused := map[string]int{}
	bad := func(reason string, p int32, value []byte) *kgo.Record {
		refused[reason]++
		return &kgo.Record{Partition: p, Value: value}
	}
	p := start(t, dir)
	p.ready()
	for _, codec := range []kgo.CompressionCodec{kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(),
		kgo.Lz4Compression(), kgo.ZstdCompression()} {
		cl := open(kgo.ProducerBatchCompression(codec))
		for range 10 {
			produce(cl, edge(), edge(), edge(), &kgo.Record{Partition: 1, Key: []byte("gone")}, edge())
		}
		produce(cl, edge(), bad("size", 0, bytes.Repeat([]byte(" "), 1<<20+1)), bad("syntax", 2, []byte("{")), edge())
	}
	zstd := open(kgo.ProducerBatchCompression(kgo.ZstdCompression()))
	produce(zstd, bad("compression", 1, bytes.Repeat([]byte(" "), 4<<20)))
	for _, commit := range []bool{false, true} {
		tx := open(kgo.TransactionalID(fmt.Sprint("mixed-", commit)))
		require.NoError(t, tx.BeginTransaction())
		before := edges
		produce(tx, edge(), edge(), edge())
		require.NoError(t, brokertest.EndTransaction(t.Context(), tx, kgo.TransactionEndTry(commit), "mixed-in"))
		if !commit {
			edges = before
		}
	}
	produce(zstd, edge(), edge(), edge()) // behind the markers
	p.until("all was taken", func() bool {
		at := p.status().Positions
		return at["0"] >= ends[0] && at["1"] >= ends[1] && at["2"] >= ends[2]
	})
	got := map[string]int{}
	for line := range strings.Lines(p.ask("GET", "/metrics", "").body) {
		var reason string
		var n int
		if _, err := fmt.Sscanf(line, "motifd_dead_letters_total{reason=%q} %d", &reason, &n); err == nil && n > 0 {
			got[reason] = n
		}
	}
	require.Equal(t, refused, got)
	p.stop()

	text := func(topic string) string {
		recs := committed(t, addr, topic)
		lines := map[[2]uint64]string{}
		for _, r := range recs {
			var name [2]uint64
			for _, h := range r.Headers {
				for i, key := range []string{kafka.HeaderBatch, kafka.HeaderIndex} {
					if h.Key == key {
						_, err := fmt.Sscan(string(h.Value), &name[i])
						require.NoError(t, err)
					}
				}
			}
			lines[name] = string(r.Value) + "\n"
		}
		require.Len(t, lines, len(recs), topic)
		var out strings.Builder
		for _, name := range slices.SortedFunc(maps.Keys(lines),
			func(a, b [2]uint64) int { return slices.Compare(a[:], b[:]) }) {
			out.WriteString(lines[name])
		}
		return out.String()
	}
	require.Equal(t, edges, strings.Count(text("mixed-out"), "\n"))
	replayed := succeed(t, dir, "replay", "--batch-log", "state", "--dead-letter", "dead.jsonl", "--control",
		"control.jsonl").stdout
	require.Equal(t, replayed, text("mixed-out"))
	require.Equal(t, readFile(t, filepath.Join(dir, "dead.jsonl")), text("mixed-dead"))
	require.Equal(t, readFile(t, filepath.Join(dir, "control.jsonl")), text("mixed-control"))
}
