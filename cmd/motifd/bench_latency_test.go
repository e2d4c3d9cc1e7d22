//go:build unix

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/cmd/motifd/internal/demo"
	"motifd/config"
	"motifd/stream"
)

var (
	e2eLong  = flag.Duration("e2e.duration", 20*time.Second, "how long BenchmarkEndToEndLatency produces")
	e2eTrace = flag.Int("e2e.trace", 0,
		"slowest matches of which BenchmarkEndToEndLatency tells where their time went, and as many of the middle")
)

// batchTrace holds the times that the pipeline reported of a batch.
type batchTrace struct {
	read      time.Time // its first message
	accepted  time.Time
	step      stream.StepStats // Batch and Summary are nil
	stepped   time.Time
	commit    stream.CommitStats
	committed time.Time
	updates   int
}

// tracer notes when each batch passed each stage.
type tracer struct {
	stream.Observer
	mu      sync.Mutex
	batches map[uint64]*batchTrace
}

func newTracer() *tracer { return &tracer{batches: make(map[uint64]*batchTrace)} }

// over makes o know all that the tracer is told.
func (t *tracer) over(o stream.Observer) stream.Observer {
	t.Observer = o
	return t
}

// Step implements stream.Observer.
func (t *tracer) Step(s stream.StepStats) {
	now := time.Now()
	t.Observer.Step(s)
	b := &batchTrace{step: s, stepped: now, updates: len(s.Batch.Updates)}
	b.accepted = now.Add(-s.Step - s.Intent - s.Slot)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.batches[s.Batch.Number] = b
	b.step.Batch, b.step.Summary = nil, nil
}

// Commit implements stream.Observer.
func (t *tracer) Commit(s stream.CommitStats) {
	now := time.Now()
	t.Observer.Commit(s)
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.batches[s.Batch]
	b.commit, b.committed, b.read = s, now, now.Add(-s.Latency)
}

// sum tells the mean times of the stages of the batches that hold updates.
func (t *tracer) sum() string {
	var n, updates int
	var step stream.StepStats
	var wait, publish, commit time.Duration
	for _, b := range t.batches {
		if b.updates == 0 {
			continue
		}
		n++
		updates += b.updates
		step.Accept += b.step.Accept
		step.Slot += b.step.Slot
		step.Intent += b.step.Intent
		step.Step += b.step.Step
		wait += b.commit.Intent
		publish += b.commit.Publish
		commit += b.commit.Commit
	}
	each := func(d time.Duration) time.Duration {
		return (d / time.Duration(max(n, 1))).Round(10 * time.Microsecond)
	}
	return fmt.Sprintf("%d batches of %d updates: accept %v, slot %v, intent %v, step %v; intent %v, publish %v, "+
		"commit %v", n, updates/max(n, 1),
		each(step.Accept), each(step.Slot), each(step.Intent), each(step.Step), each(wait), each(publish), each(commit))
}

// matchSample is a match: when the message that made it was due, acknowledged by the log, and when the match was there.
type matchSample struct {
	due, produced, there time.Time
	batch                uint64
	message              int64 // its offset
}

func (s *matchSample) latency() time.Duration { return s.there.Sub(s.due) }

// explain tells where the time of a match went, in ms: until its message was in the log, until the first message of
// its batch was read (negative when another one had been read before), until the batch was cut and accepted, stage by
// stage until it was published, and until the consumer had it.
func (t *tracer) explain(s *matchSample) string {
	ms := func(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d.Microseconds())/1000) }
	b := t.batches[s.batch]
	published := b.committed.Add(-b.commit.Commit)
	return fmt.Sprintf("%s = produce %s, read %s, cut %s (accept %s, %d updates), slot %s, intent %s, step %s, "+
		"publish %s (intent %s, sink %s), consume %s; commit %s",
		ms(s.latency()), ms(s.produced.Sub(s.due)), ms(b.read.Sub(s.produced)), ms(b.accepted.Sub(b.read)),
		ms(b.step.Accept), b.updates,
		ms(b.step.Slot), ms(b.step.Intent), ms(b.step.Step), ms(published.Sub(b.stepped)), ms(b.commit.Intent),
		ms(b.commit.Publish), ms(s.there.Sub(published)), ms(b.commit.Commit))
}

// BenchmarkEndToEndLatency measures from the production of a payment to the moment at which a consumer has the match
// that it completed: 20,000 payments a second, 100 to a message, batches of 5 ms, the graph and the patterns of
// BenchmarkEndToEnd. Every match of a payment that was due after the first three seconds is a sample, however late it
// comes, and its time begins when its message was due, even when the log or this process was late to take it.
func BenchmarkEndToEndLatency(b *testing.B) {
	const rate, warm = 20_000, 3 * time.Second
	long := *e2eLong
	for b.Loop() {
		e := newE2E(b)
		e.cfg.Batch.Linger = config.Duration(5 * time.Millisecond)
		trace := newTracer()
		s, stop := e.run(func(s *service) { s.observe = trace.over })
		e.produce(e.message(e2eMessage, time.Now().UnixMicro()))
		position(s, 1)
		ctx, cancel := context.WithCancel(b.Context())
		b.Log("measuring")
		begin, cpu := time.Now(), cpuTime(b)
		var all []matchSample
		var next atomic.Int64 // offset up to which the output has been read
		read := make(chan error, 1)
		go func() {
			read <- demo.Consume(ctx, e.log.Addr(), demo.OutputTopic, func(value []byte) error {
				var d struct {
					Op     string
					Batch  uint64
					Anchor struct{ TS, Offset int64 }
				}
				if err := json.Unmarshal(value, &d); err != nil {
					return err
				}
				if at := time.UnixMicro(d.Anchor.TS); d.Op == "+" && at.Sub(begin) > warm {
					all = append(all, matchSample{due: at, there: time.Now(), batch: d.Batch, message: d.Anchor.Offset})
				}
				next.Add(1)
				return nil
			})
		}()
		tick := time.NewTicker(time.Second * e2eMessage / rate)
		produced := []time.Time{begin} // by message
		for time.Since(begin) < long {
			<-tick.C
			for due := int(time.Since(begin).Seconds() * rate / e2eMessage); len(produced) <= due; {
				// Late messages carry the time at which they were due.
				at := begin.Add(time.Duration(len(produced)) * time.Second * e2eMessage / rate)
				e.produce(e.message(e2eMessage, at.UnixMicro()))
				produced = append(produced, time.Now())
			}
		}
		tick.Stop()
		sent := int64(len(produced))
		position(s, sent)
		cost := float64((cpuTime(b) - cpu).Nanoseconds()) / 1000 / float64((sent-1)*e2eMessage)
		for end := lastOffset(b, e.client, demo.OutputTopic); next.Load() < end; {
			require.Empty(b, read, "the consumer has ended")
			time.Sleep(time.Millisecond) // next is a counter without a signal: polled
		}
		cancel()
		require.NoError(b, <-read)
		stop()
		require.NotEmpty(b, all)
		slices.SortFunc(all, func(x, y matchSample) int { return cmp.Compare(x.latency(), y.latency()) })
		ms := func(q int) float64 { return float64(all[len(all)*q/1000].latency().Microseconds()) / 1000 }
		for i, n := 0, min(*e2eTrace, len(all)/2); i < 2*n; i++ {
			at := &all[len(all)/2-n+i]
			if i >= n {
				at = &all[len(all)-2*n+i]
			}
			at.produced = produced[at.message]
			b.Log(trace.explain(at))
		}
		b.ReportMetric(float64(sent*e2eMessage)/long.Seconds(), "updates/s")
		b.ReportMetric(float64(len(all)), "matches")
		b.ReportMetric(cost, "cpu-us/update") // making and reading them included
		b.ReportMetric(ms(500), "p50-ms")
		b.ReportMetric(ms(990), "p99-ms")
		b.ReportMetric(ms(999), "p99.9-ms")
	}
}
