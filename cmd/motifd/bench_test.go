//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"motifd/cmd/motifd/internal/command"
	"motifd/cmd/motifd/internal/demo"
	"motifd/cmd/motifd/internal/payments"
	"motifd/config"
	"motifd/stream/kafka/embedded"
)

// e2eEdges is the size of the payments graph that the daemon holds while it is measured.
const e2eEdges = 1_000_000

// e2eMessage is the number of payments in a message.
const e2eMessage = 100

// e2ePatterns are the patterns of the measurements: 20 that few updates complete.
func e2ePatterns() []config.Query {
	var out []config.Query
	add := func(name, cypher string) {
		out = append(out, config.Query{Name: name, Cypher: cypher, Emit: "deltas", Unit: "subgraphs", Backfill: "none"})
	}
	for _, q := range payments.Queries() { // ring3 to ring6, fan-in, fan-out
		add(q.Name, q.Text)
	}
	short := strings.NewReplacer("-T>", "-[:TRANSFER]->", "<T-", "<-[:TRANSFER]-", "-U>", "-[:TOP_UP]->", "<U-",
		"<-[:TOP_UP]-",
		"-W>", "-[:WITHDRAWAL]->", "<W-", "<-[:WITHDRAWAL]-")
	for i, text := range []string{
		"(a:Account)-T>(b:Account)-T>(a)",
		"(a:Account)-U>(w:Wallet)-W>(a)",
		"(a:Account)-U>(w:Wallet)-W>(b:Account)-T>(a)",
		"(a:Account)-U>(w:Wallet)-W>(b:Account)-T>(c:Account)-T>(a)",
		"(a:Account)-U>(w:Wallet)-W>(b:Account)-T>(c:Account)-T>(d:Account)-T>(a)",
		"(a:Account)-U>(w:Wallet)-W>(b:Account), (a)-T>(b)",
		"(a:Account)-U>(w:Wallet)<U-(b:Account)-T>(a)",
		"(a:Account)<W-(w:Wallet)-W>(b:Account)-T>(a)",
		"(a:Account)-U>(w:Wallet)-W>(b:Account)-U>(x:Wallet)-W>(a)",
		"(a:Account)-T>(b:Account)-T>(d:Account)<T-(c:Account)<T-(a)",
		"(a:Account)-T>(b:Account)-T>(e:Account), (a)-T>(c:Account)-T>(e), (a)-T>(d:Account)-T>(e)",
		"(a:Account)-T>(b:Account)-T>(c:Account)-T>(a), (a)-T>(c)",
		"(a:Account)-T>(b:Account)-T>(c:Account)-T>(d:Account)-T>(a), (a)-T>(c)",
		"(a:Account)-T>(b:Account)-T>(c:Account)-T>(a), (w:Wallet)-W>(a)-U>(x:Wallet)",
	} {
		add(fmt.Sprintf("shape%d", i+1), "MATCH "+short.Replace(text))
	}
	return out
}

// e2e is a daemon on the embedded log that holds the payments graph, and the generator of what comes next.
type e2e struct {
	b      *testing.B
	gen    *payments.Generator
	log    *embedded.Log
	client *kafkago.Client
	cfg    *config.Config
}

// newE2E generates the graph and lays it where the daemon loads it from.
func newE2E(b *testing.B) *e2e {
	b.Helper()
	e := &e2e{b: b, gen: payments.NewGenerator(payments.Options{Seed: 1, Accounts: e2eEdges * 8 / 5})}
	dir := b.TempDir()
	path := filepath.Join(dir, "payments.jsonl")
	f, err := os.Create(path)
	require.NoError(b, err)
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	for range e2eEdges {
		ev := e.gen.Next()
		require.NoError(b, enc.Encode(payments.NewUpdate(&ev.Update)))
	}
	require.NoError(b, w.Flush())
	require.NoError(b, f.Close())
	e.log, err = embedded.Open(embedded.Options{Topics: demo.Topics()})
	require.NoError(b, err)
	b.Cleanup(func() { _ = e.log.Close() })
	transport := &kafkago.Transport{}
	b.Cleanup(transport.CloseIdleConnections)
	e.client = &kafkago.Client{Addr: kafkago.TCP(e.log.Addr()), Transport: transport}
	e.cfg = demo.Config(e.log.Addr(), filepath.Join(dir, "state"))
	e.cfg.Engine.Backend = "cpu"
	e.cfg.Graph.Bootstrap, e.cfg.Graph.BootstrapFormat = path, "json"
	e.cfg.Queries = e2ePatterns()
	return e
}

// run starts the daemon, once prepare has seen it; stop ends it and tells how.
func (e *e2e) run(prepare ...func(s *service)) (s *service, stop func()) {
	ctx, cancel := context.WithCancel(e.b.Context())
	s = newService(&app{ctx: ctx, stderr: e.b.Output()}, e.cfg, command.NewLogger(e.b.Output(), "error", "json"))
	for _, f := range prepare {
		f(s)
	}
	done := make(chan error, 1)
	go func() { done <- s.run(ctx) }()
	return s, func() {
		cancel()
		require.NoError(e.b, <-done)
	}
}

// message makes the next n payments. stamp is their time; 0 leaves the generator's.
func (e *e2e) message(n int, stamp int64) []byte {
	list := make([]payments.Update, n)
	for i := range list {
		ev := e.gen.Next()
		list[i] = payments.NewUpdate(&ev.Update)
		if stamp != 0 {
			list[i].TS = stamp
		}
	}
	value, err := json.Marshal(list)
	require.NoError(e.b, err)
	return value
}

func (e *e2e) produce(values ...[]byte) {
	var records []kafkago.Record
	for _, v := range values {
		records = append(records, kafkago.Record{Value: kafkago.NewBytes(v)})
	}
	resp, err := e.client.Produce(e.b.Context(), &kafkago.ProduceRequest{
		Topic: demo.InputTopic, RequiredAcks: kafkago.RequireAll, Records: kafkago.NewRecordReader(records...),
	})
	require.NoError(e.b, err)
	require.NoError(e.b, resp.Error)
}

// position waits until the daemon has committed n messages, and tells how many it has.
func position(s *service, n int64) int64 {
	for {
		if p := s.pipeline.Load(); p != nil {
			if at := p.Status().Positions[0]; at >= n {
				return at
			}
		}
		time.Sleep(time.Millisecond) // Status is polled, as by a user: a commit has no signal
	}
}

// cpuTime returns the processor time of all goroutines so far: unlike wall time it tells something on a busy machine.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkEndToEnd measures the daemon through the embedded log: updates that lie in the input topic, 100 to a
// message, are decoded, searched for 20 selective patterns in a graph of 1,000,000 payments, and their deltas
// published and committed to a checkpoint on disk. It begins with the first committed batch; making the updates is
// not measured.
func BenchmarkEndToEnd(b *testing.B) {
	const messages = 10_000
	var rates, costs []float64
	for b.Loop() {
		b.StopTimer()
		e := newE2E(b)
		e.cfg.Batch.MaxUpdates = 10_000
		for i := 0; i < messages; i += 50 {
			var values [][]byte
			for range 50 {
				values = append(values, e.message(e2eMessage, 0))
			}
			e.produce(values...)
		}
		trace := newTracer()
		s, stop := e.run(func(s *service) { s.observe = trace.over })
		first := position(s, 1)
		b.Log("measuring")
		begin, cpu := time.Now(), cpuTime(b)
		b.StartTimer()
		position(s, messages)
		updates := float64((messages - first) * e2eMessage)
		rates = append(rates, updates/time.Since(begin).Seconds())
		costs = append(costs, float64((cpuTime(b)-cpu).Nanoseconds())/1000/updates)
		b.StopTimer()
		stop()
		b.Log(trace.sum())
		b.StartTimer()
	}
	slices.Sort(rates)
	b.ReportMetric(rates[len(rates)/2], "updates/s")
	b.ReportMetric(rates[0], "least-updates/s")
	slices.Sort(costs)
	b.ReportMetric(costs[len(costs)/2], "cpu-us/update")
}
