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

	"motifd/stream/kafka"
	"motifd/stream/kafka/brokertest"
)

const brokerBench = `
input: {kafka: {brokers: ["BROKER"], topic: in-N, group: group-N}}
output: {kafka: {topic: out-N, control: control-N, transactions: "MODE"}}
batch: {linger: LINGER, max_updates: 10000}
checkpoint: {dir: state}
queries:
  - {name: watched, cypher: "MATCH (a:Account)-[:WATCHED]->(b:Account)"}
  - {name: ring3, unit: subgraphs, cypher: "MATCH (a:Account)-[:TRANSFER]->(b:Account)-[:TRANSFER]->(c:Account)-[:TRANSFER]->(a)"}
  - {name: ring4, unit: subgraphs, cypher: "MATCH (a:Account)-[:TRANSFER]->(b:Account)-[:TRANSFER]->(c:Account)-[:TRANSFER]->(d:Account)-[:TRANSFER]->(a)"}
`

// brokerDaemon prepares topics and a configuration on a real broker.
func brokerDaemon(b *testing.B, addr, mode, linger string, n int) (dir string, cl *kgo.Client) {
	b.Helper()
	id := fmt.Sprint(n)
	require.NoError(b, kafka.EnsureTopics(b.Context(), kafka.Client{Brokers: []string{addr}},
		kafka.Topic{Name: "in-" + id}, kafka.Topic{Name: "out-" + id}, kafka.Topic{Name: "control-" + id}, kafka.ProgressTopic("out-"+id+"-progress")))
	dir = b.TempDir()
	text := strings.NewReplacer("BROKER", addr, "-N", "-"+id, "MODE", mode, "LINGER", linger).Replace(brokerBench)
	require.NoError(b, os.WriteFile(filepath.Join(dir, "motifd.yaml"), []byte(text), 0o644))
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.DefaultProduceTopic("in-"+id), kgo.ProducerLinger(0))
	require.NoError(b, err)
	return dir, cl
}

// demoMessages returns the next messages of a generator, stamped with the time.
func demoMessages(b *testing.B, gen *demoGen, messages, updates int) (out []*kgo.Record) {
	for range messages {
		list := make([]demoUpdate, updates)
		now := time.Now().UnixMilli()
		for i := range list {
			e := gen.next()
			list[i] = newDemoUpdate(&e.Update)
			list[i].TS = now
		}
		list[0].Label = "WATCHED" // so that some updates make a match by themselves
		value, err := json.Marshal(list)
		require.NoError(b, err)
		out = append(out, &kgo.Record{Value: value})
	}
	return out
}

// BenchmarkBrokerThroughput: how fast a daemon takes what lies in its input topic, in batches of 10,000 updates, with
// transactions and without.
func BenchmarkBrokerThroughput(b *testing.B) {
	broker := brokertest.Start(b, nil)
	const messages, updates = 4000, 100
	n := 0
	for round := range 3 {
		for _, mode := range []string{"off", "on"} {
			b.Run(fmt.Sprintf("transactions=%s/round=%d", mode, round), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					n++
					dir, cl := brokerDaemon(b, broker.Addr(), mode, "10ms", n)
					require.NoError(b, cl.ProduceSync(b.Context(), demoMessages(b, newDemoGen(1, 20_000), messages, updates)...).FirstErr())
					cl.Close()
					b.StartTimer()
					p := start(b, dir)
					waitFor(b, p, func(s testStatus) bool { return s.Positions["0"] > 0 })
					first, at := p.status().Positions["0"], time.Now()
					waitFor(b, p, func(s testStatus) bool { return s.Positions["0"] >= messages })
					b.ReportMetric(float64((messages-first)*updates)/time.Since(at).Seconds(), "updates/s")
					p.kill()
				}
			})
		}
	}
}

// BenchmarkBrokerLatency: from the production of an update to the moment at which a consumer under read_committed has
// the match that it made, at 5,000 updates a second and a linger of 10 ms.
func BenchmarkBrokerLatency(b *testing.B) {
	broker := brokertest.Start(b, nil)
	for n, mode := range []string{"off", "on"} {
		b.Run("transactions="+mode, func(b *testing.B) {
			dir, cl := brokerDaemon(b, broker.Addr(), mode, "10ms", 100*b.N+n)
			defer cl.Close()
			p := start(b, dir)
			waitFor(b, p, func(s testStatus) bool { return s.Ready })
			reader, err := kgo.NewClient(kgo.SeedBrokers(broker.Addr()), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
				kgo.ConsumeTopics(fmt.Sprintf("out-%d", 100*b.N+n)), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(100*time.Millisecond))
			require.NoError(b, err)
			defer reader.Close()
			ctx, stop := context.WithCancel(b.Context())
			defer stop()
			read := make(chan []time.Duration, 1)
			begin := time.Now()
			const warm, long = 5 * time.Second, 25 * time.Second
			go func() {
				var all []time.Duration
				for ctx.Err() == nil {
					reader.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
						var d struct{ Anchor struct{ TS int64 } }
						if json.Unmarshal(r.Value, &d) == nil && time.Since(begin) > warm {
							all = append(all, time.Since(time.UnixMilli(d.Anchor.TS)))
						}
					})
				}
				read <- all
			}()
			gen := newDemoGen(1, 2_000)
			tick := time.NewTicker(4 * time.Millisecond) // 20 updates each
			defer tick.Stop()
			sent := 0
			for time.Since(begin) < long {
				<-tick.C
				for ; sent < int(time.Since(begin)/(4*time.Millisecond)); sent++ {
					cl.Produce(ctx, demoMessages(b, gen, 1, 20)[0], nil)
				}
			}
			require.NoError(b, cl.Flush(ctx))
			// Deltas still on their way arrive; one later than a second is not among the samples.
			time.Sleep(time.Second)
			stop()
			all := <-read
			require.NotEmpty(b, all)
			slices.Sort(all)
			ms := func(q int) float64 { return float64(all[len(all)*q/1000].Microseconds()) / 1000 }
			b.ReportMetric(float64(sent*20)/long.Seconds(), "updates/s")
			b.ReportMetric(float64(len(all)), "matches")
			b.ReportMetric(ms(500), "p50-ms")
			b.ReportMetric(ms(990), "p99-ms")
			b.ReportMetric(ms(999), "p99.9-ms")
			p.kill()
		})
	}
}

func waitFor(b *testing.B, p *process, ok func(testStatus) bool) {
	b.Helper()
	for !ok(p.status()) {
		select {
		case <-p.done:
			b.Fatal(p.stderr.String())
		case <-time.After(2 * time.Millisecond):
		}
	}
}
