//go:build kafka && unix

package main

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/stream/kafka"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/brokertest"
)

// trouble is a daemon, with transactions, at work while its brokers get into trouble. In the end, a reader under
// read_committed holds what the replay of the batch log writes, byte by byte, and the oracle's matches.
type trouble struct {
	*torture
	stop     context.CancelFunc // ends the production; nil when there is none
	produced chan error
}

// The time-outs are short, so that a trouble longer than any of them is short as well.
const troubleConfig = `
input: {kafka: {brokers: [INPUT], topic: NAME-in, group: NAME-group, request_timeout: 2s}}
output:
  kafka: {brokers: [OUTPUT], topic: NAME-out, dead_letter: NAME-dead, control: NAME-control, transactions: "on",
    max_transaction_records: 50, transaction_timeout: 4s, compression: lz4}
batch: {linger: 20ms, max_updates: 200}
checkpoint: {dir: state, retention: {batches: 1000000000, bytes: 0}}
log: {format: json}
queries:
  - {name: ring, cypher: "MATCH (a)-[:T]->(b)-[:T]->(c)-[:T]->(a)", backfill: full}
  - {name: path, cypher: "MATCH (a:A)-[:T]->(b:B)-[:U]->(c:A)", backfill: full}
`

// newTrouble makes topics, a configuration and a source of updates. replicas is the replication of the topics. The
// daemon reaches the brokers of its input and its output by the given addresses, "" for the broker's own.
func newTrouble(t *testing.T, b *brokertest.Broker, name string, replicas int, input, output string) *trouble {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	x := &trouble{torture: &torture{
		t: t, b: b, mode: name, rng: rand.New(rand.NewPCG(seed, 2)), input: newTortureInput(seed, 2),
	}}
	x.read = x.readCommitted
	var topics []admin.Topic
	for topic, partitions := range map[string]int{"in": 2, "out": 3, "dead": 1, "control": 1} {
		topics = append(topics, admin.Topic{Name: x.topic(topic), Partitions: partitions, Replication: replicas})
	}
	progress := admin.ProgressTopic(x.topic("out-progress"))
	progress.Replication = replicas
	require.NoError(t, admin.EnsureTopics(t.Context(), kafka.ClientOptions{Brokers: []string{b.Addr()}},
		append(topics, progress)...))
	for _, addr := range []*string{&input, &output} {
		if *addr == "" {
			*addr = b.Addr()
		}
	}
	x.dir = write(t, map[string]string{
		"motifd.yaml": strings.NewReplacer("INPUT", input, "OUTPUT", output, "NAME", name).Replace(troubleConfig),
	})
	return x
}

// produce starts the production of updates.
func (x *trouble) produce(interval time.Duration) {
	x.begin = time.Now()
	ctx, stop := context.WithCancel(x.t.Context())
	x.stop, x.produced = stop, make(chan error, 1)
	go func() { x.produced <- x.input.produce(ctx, x.b.Addr(), x.topic("in"), interval) }()
}

// halt ends the production, if it goes on.
func (x *trouble) halt() {
	x.t.Helper()
	if x.stop != nil {
		x.stop()
		x.stop = nil
		require.NoError(x.t, <-x.produced)
	}
}

// end stops the production and the daemon, and checks what they left.
func (x *trouble) end() {
	x.halt()
	x.p.ready()
	x.finish()
	x.check()
}

// progresses waits until the daemon has committed some batches more.
func (x *trouble) progresses(batches uint64) {
	x.t.Helper()
	from := x.p.status().Batch
	x.p.until("there was progress", func() bool { return x.p.status().Batch >= from+batches })
}

// unready waits until the daemon says that it is not ready, with why, and that it tries again.
func (x *trouble) unready(why ...string) {
	x.t.Helper()
	x.p.until("it said that it waits: "+strings.Join(why, ", "), func() bool {
		a, ok := x.readiness()
		if !ok || a.code != http.StatusServiceUnavailable {
			return false
		}
		for _, text := range why {
			if !strings.Contains(a.body, text) {
				return false
			}
		}
		return true
	})
	require.Contains(x.t, x.p.ask("GET", "/metrics", "").body, "motifd_ready 0\n")
}

// readiness asks /readyz; ok is false while nobody answers.
func (x *trouble) readiness() (a answer, ok bool) {
	resp, err := http.Get(x.p.url + "/livez")
	if err != nil {
		return a, false
	}
	resp.Body.Close()
	return x.p.ask("GET", "/readyz", ""), true
}

// metric sums the series of a metric, 0 when there is none.
func (x *trouble) metric(name string) (sum float64) {
	x.t.Helper()
	for line := range strings.Lines(x.p.ask("GET", "/metrics", "").body) {
		series, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, _, _ := strings.Cut(series, "{"); n == name {
			v, err := strconv.ParseFloat(value, 64)
			require.NoError(x.t, err)
			sum += v
		}
	}
	return sum
}

// logged counts the lines of the daemon's log with a message.
func (x *trouble) logged(message string) (n int) {
	for line := range strings.Lines(x.p.stderr.String()) {
		var r struct{ Message string }
		if json.Unmarshal([]byte(line), &r) == nil && r.Message == message {
			n++
		}
	}
	return n
}

// readCommitted reads a topic with franz-go.
func (x *trouble) readCommitted(_ testing.TB, topic string) (out []brokertest.Record) {
	text := func(b []byte) string {
		if b == nil {
			return brokertest.Null
		}
		return string(b)
	}
	for _, r := range committed(x.t, x.b.Addr(), topic) {
		n := brokertest.Record{Partition: int(r.Partition), Offset: r.Offset, Key: text(r.Key), Value: text(r.Value),
			Headers: map[string]string{}}
		for _, h := range r.Headers {
			n.Headers[h.Key] = string(h.Value)
		}
		out = append(out, n)
	}
	return out
}
