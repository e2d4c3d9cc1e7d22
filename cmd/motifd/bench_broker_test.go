//go:build kafka && unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"motifd/cmd/motifd/internal/payments"
	"motifd/stream/kafka"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/brokertest"
)

const brokerConfig = `
input: {kafka: {brokers: ["BROKER"], topic: "INPUT", group: "group-N"}}
output: {kafka: {topic: "out-N", control: "control-N", transactions: "MODE"}}
batch: {linger: LINGER, max_updates: 10000}
checkpoint: {dir: state}
queries:
  - {name: watched, cypher: "MATCH (a:Account)-[:WATCHED]->(b:Account)"}
  - {name: ring3, unit: subgraphs, cypher: "MATCH (a:Account)-[:TRANSFER]->(b:Account)
      -[:TRANSFER]->(c:Account)-[:TRANSFER]->(a)"}
  - {name: ring4, unit: subgraphs, cypher: "MATCH (a:Account)-[:TRANSFER]->(b:Account)
      -[:TRANSFER]->(c:Account)-[:TRANSFER]->(d:Account)-[:TRANSFER]->(a)"}
`

// brokerRuns numbers the runs on one broker, for the names of topics.
var brokerRuns int

// brokerRounds is how often a run with transactions and one without follow each other. Other work on the machine
// changes both; what is compared is the medians, and each run with its neighbour.
const brokerRounds = 5

// startBrokerRun starts a daemon with an output of its own. If the benchmark fails, what the daemon and the broker
// have to say is shown.
func startBrokerRun(b *testing.B, broker *brokertest.Broker, input, mode, linger string) (p *process, output string) {
	b.Helper()
	brokerRuns++
	id := fmt.Sprint("-", brokerRuns)
	output = "out" + id
	require.NoError(b, admin.EnsureTopics(b.Context(), kafka.ClientOptions{Brokers: []string{broker.Addr()}},
		admin.Topic{Name: output}, admin.Topic{Name: "control" + id}, admin.ProgressTopic(output+"-progress")))
	dir := b.TempDir()
	text := strings.NewReplacer("BROKER", broker.Addr(), "INPUT", input, "-N", id, "MODE", mode, "LINGER", linger).
		Replace(brokerConfig)
	require.NoError(b, os.WriteFile(filepath.Join(dir, "motifd.yaml"), []byte(text), 0o644))
	p = start(b, dir)
	b.Cleanup(func() {
		if b.Failed() {
			log, err := os.ReadFile(broker.LogFile())
			b.Logf("transactions %s: the daemon's state %+v, its log:\n%s\nthe broker's log (%v) ends with:\n%s", mode,
				p.status(), p.stderr.String(),
				err, log[max(0, len(log)-4000):])
		}
	})
	return p, output
}

// brokerInput creates an input topic and returns a client that produces to it.
func brokerInput(b *testing.B, broker *brokertest.Broker) (topic string, cl *kgo.Client) {
	b.Helper()
	brokerRuns++
	topic = fmt.Sprint("in-", brokerRuns)
	require.NoError(b, admin.EnsureTopics(b.Context(), kafka.ClientOptions{Brokers: []string{broker.Addr()}},
		admin.Topic{Name: topic}))
	cl, err := kgo.NewClient(kgo.SeedBrokers(broker.Addr()), kgo.DefaultProduceTopic(topic), kgo.ProducerLinger(0))
	require.NoError(b, err)
	return topic, cl
}

// demoMessages returns the next messages of a generator, stamped with the time. watched of their updates make a match
// by themselves, if they are insertions.
func demoMessages(b *testing.B, gen *payments.Generator, messages, updates, watched int) (out []*kgo.Record) {
	for range messages {
		list := make([]payments.Update, updates)
		now := time.Now().UnixMilli()
		for i := range list {
			e := gen.Next()
			list[i] = payments.NewUpdate(&e.Update)
			list[i].TS = now
			if i < watched {
				list[i].Label = "WATCHED"
			}
		}
		value, err := json.Marshal(list)
		require.NoError(b, err)
		out = append(out, &kgo.Record{Value: value})
	}
	return out
}

// BenchmarkBrokerThroughput: how fast a daemon takes what lies in its input topic, in batches of 10,000 updates, with
// transactions and without, in turn. on/off is the median of what the neighbours' speeds are to each other.
func BenchmarkBrokerThroughput(b *testing.B) {
	broker := brokertest.Start(b, nil)
	const messages, updates = 5000, 100
	for _, watched := range []int{1, updates} {
		b.Run(fmt.Sprintf("watched=%d%%", watched), func(b *testing.B) {
			topic, cl := brokerInput(b, broker)
			defer cl.Close()
			gen := payments.NewGenerator(payments.Options{Seed: 1, Accounts: 20_000})
			require.NoError(b, cl.ProduceSync(b.Context(),
				demoMessages(b, gen, messages, updates, watched)...).FirstErr())
			run := func(mode string) float64 {
				p, _ := startBrokerRun(b, broker, topic, mode, "1s")
				defer p.kill()
				var first, last testStatus
				p.until("it had read something", func() bool { first = p.status(); return first.Positions["0"] > 0 })
				begin := time.Now()
				p.until("it had read everything",
					func() bool { last = p.status(); return last.Positions["0"] >= messages })
				took := time.Since(begin)
				done := float64(last.Positions["0"]-first.Positions["0"]) * updates
				require.Greater(b, done/float64(last.Batch-first.Batch), 0.9*10_000, "updates in a batch")
				return done / took.Seconds()
			}
			for b.Loop() {
				speed, ratios := map[string][]float64{}, []float64{}
				inTurn(func(mode string) { speed[mode] = append(speed[mode], run(mode)) })
				for i := range brokerRounds {
					ratios = append(ratios, speed["on"][i]/speed["off"][i])
				}
				b.Logf("updates/s: off %.0f, on %.0f; on/off %.2f", speed["off"], speed["on"], ratios)
				b.ReportMetric(valueAt(speed["off"], 0.5), "off-updates/s")
				b.ReportMetric(valueAt(speed["on"], 0.5), "on-updates/s")
				b.ReportMetric(valueAt(ratios, 0.5), "on/off")
			}
		})
	}
}

// inTurn calls f without transactions and with them, brokerRounds times; which comes first alternates.
func inTurn(f func(mode string)) {
	modes := []string{"off", "on"}
	for range brokerRounds {
		for _, mode := range modes {
			f(mode)
		}
		slices.Reverse(modes)
	}
}

// valueAt returns the value that a share q of the values is below.
func valueAt(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// BenchmarkBrokerLatency: from the production of an update to the moment at which a consumer under read_committed has
// the match that it made, at 5,000 updates a second and a linger of 10 ms, with transactions and without, in turn.
// Every match of an update that was produced after the first two seconds of a run is a sample, however late it comes.
func BenchmarkBrokerLatency(b *testing.B) {
	broker := brokertest.Start(b, nil)
	for b.Loop() {
		all, p99 := map[string][]float64{}, map[string][]float64{}
		inTurn(func(mode string) {
			samples := brokerLatency(b, broker, mode)
			all[mode] = append(all[mode], samples...)
			p99[mode] = append(p99[mode], valueAt(samples, 0.99))
		})
		for mode, samples := range all {
			b.Logf("transactions %s: %d matches, p50 %.1f, p99 %.1f, p99.9 %.1f, max %.1f ms; p99 of each run %.1f",
				mode, len(samples),
				valueAt(samples, 0.5), valueAt(samples, 0.99), valueAt(samples, 0.999), slices.Max(samples), p99[mode])
			b.ReportMetric(valueAt(samples, 0.5), mode+"-p50-ms")
			b.ReportMetric(valueAt(samples, 0.99), mode+"-p99-ms")
			b.ReportMetric(valueAt(p99[mode], 0.5), mode+"-median-p99-ms")
		}
	}
}

// brokerLatency runs a daemon at 5,000 updates a second and returns the latencies of its matches in milliseconds.
func brokerLatency(b *testing.B, broker *brokertest.Broker, mode string) []float64 {
	topic, cl := brokerInput(b, broker)
	defer cl.Close()
	p, output := startBrokerRun(b, broker, topic, mode, "10ms")
	defer p.kill()
	p.ready()
	const warm, long, tick, updates = 2 * time.Second, 12 * time.Second, 4 * time.Millisecond, 20
	reader := newLatencyReader(b, broker.Addr(), output, time.Now().Add(warm))
	gen, sent := payments.NewGenerator(payments.Options{Seed: 1, Accounts: 2_000}), 0
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for begin := time.Now(); time.Since(begin) < long; {
		<-ticker.C
		for ; sent < int(time.Since(begin)/tick); sent++ {
			cl.Produce(b.Context(), demoMessages(b, gen, 1, updates, 1)[0], nil)
		}
	}
	require.NoError(b, cl.Flush(b.Context()))
	p.until("it had read everything", func() bool { return p.status().Positions["0"] >= int64(sent) })
	return reader.finish(b, cl)
}

// latencyReader reads an output under read_committed while it is written.
type latencyReader struct {
	cl      *kgo.Client
	topic   string
	from    time.Time // updates before do not count
	ends    chan int64
	samples chan []float64
}

func newLatencyReader(b *testing.B, addr, topic string, from time.Time) *latencyReader {
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.KeepControlRecords(),
		kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchMaxWait(100*time.Millisecond))
	require.NoError(b, err)
	r := &latencyReader{cl, topic, from, make(chan int64, 1), make(chan []float64, 1)}
	go r.run(b.Context())
	return r
}

// run reads until it has come to the end that finish names.
func (r *latencyReader) run(ctx context.Context) {
	var all []float64
	end, next := int64(-1), int64(0)
	for ctx.Err() == nil && (end < 0 || next < end) {
		// While nothing comes, look whether the end is known.
		poll, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		fetches := r.cl.PollFetches(poll)
		cancel()
		fetches.EachRecord(func(rec *kgo.Record) {
			next = rec.Offset + 1
			var d struct{ Anchor struct{ TS int64 } }
			if rec.Attrs.IsControl() || json.Unmarshal(rec.Value, &d) != nil {
				return
			}
			if at := time.UnixMilli(d.Anchor.TS); at.After(r.from) {
				all = append(all, float64(time.Since(at).Microseconds())/1000)
			}
		})
		select {
		case end = <-r.ends:
		default:
		}
	}
	r.samples <- all
}

// finish waits until everything that the topic holds is read.
func (r *latencyReader) finish(b *testing.B, asker *kgo.Client) []float64 {
	defer r.cl.Close()
	r.ends <- offsets(b, asker, r.topic, -1)[0]
	select {
	case all := <-r.samples:
		require.NotEmpty(b, all)
		return all
	case <-b.Context().Done():
		b.Fatal("the benchmark was stopped")
	}
	return nil
}
