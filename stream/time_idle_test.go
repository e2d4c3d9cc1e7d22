package stream_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/stream"
	"motifd/stream/eventtime"
	"motifd/stream/streamtest"
)

// partitions is a source of several partitions that knows its ends.
type partitions struct {
	stream.Source
	n    int32
	lags func(at stream.Positions) map[int32]int64
}

func (s partitions) Positions() stream.Positions {
	at := stream.Positions{}
	for p := range s.n {
		at[p] = 0
	}
	return at
}

func (s partitions) Lag(at stream.Positions) map[int32]int64 { return s.lags(at) }

// TestS20IdlePartitions: a partition holds the watermark back until its first record, or until it is idle; then a tick
// expires what is due, although nothing comes. A replay of the log, which takes no time, does the same (trap 11).
func TestS20IdlePartitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &streamtest.MemOutput{}
		w := newWorld(t, out)
		w.in.Endless = true
		var lag atomic.Int64 // of partition 1
		lag.Store(1)
		w.change = func(o *stream.PipelineOptions) {
			o.Source = partitions{Source: o.Source, n: 2, lags: func(at stream.Positions) map[int32]int64 {
				return map[int32]int64{0: 0, 1: lag.Load()}
			}}
			o.Batch.Linger = time.Second
			o.Time = stream.TimeOptions{Retention: eventtime.Retention{{Label: "*", For: 10}}, Idle: time.Minute}
			o.Startup = startup(queries(t)...)
		}
		p := w.pipeline(nil)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- p.Run(ctx) }()
		add := func(partition int32, ts int) {
			w.in.Add(stream.Record{Partition: partition, Value: fmt.Appendf(nil,
				`{"op":"+","from":"a%d","to":"b","label":"T","ts":%d}`, ts, ts)})
		}
		settle := func(d time.Duration) (last stream.Batch, edges int) {
			time.Sleep(d) // by the bubble's clock
			synctest.Wait()
			all := w.store.Committed()
			return all[len(all)-1], p.Status().Edges
		}
		add(0, 100)
		settle(2 * time.Second)
		add(0, 200)
		last, edges := settle(time.Hour)
		require.False(t, last.Time.Watermark.Known, "partition 1 is not read to its end")
		require.Equal(t, 2, edges)
		lag.Store(0)
		last, edges = settle(2 * time.Second) // nothing has come for an hour, nor from partition 0
		require.Equal(t, eventtime.Watermark{Known: true, TS: 200}, last.Time.Watermark)
		require.Empty(t, last.Updates)
		require.Equal(t, 1, edges)
		add(0, 300)
		add(1, 250)
		settle(2 * time.Second)
		add(0, 400)
		last, edges = settle(2 * time.Second)
		require.Equal(t, eventtime.Watermark{Known: true, TS: 250}, last.Time.Watermark, "partition 1 is the later one")
		require.Equal(t, 3, edges, "200 has expired")
		n := len(w.store.Committed())
		settle(50 * time.Second)
		require.Len(t, w.store.Committed(), n, "neither is idle yet")
		last, edges = settle(time.Minute)
		require.Equal(t, eventtime.Watermark{Known: true, TS: 400}, last.Time.Watermark)
		require.Equal(t, 1, edges)
		stop()
		require.NoError(t, <-done)

		p = w.pipeline(nil)
		ctx, stop = context.WithCancel(t.Context())
		go func() { done <- p.Run(ctx) }()
		n = len(w.store.Committed())
		settle(time.Second)
		require.Len(t, w.store.Committed(), n)
		require.NotNil(t, p.Status().Time, "the status has event time before the first batch after a start")
		require.Equal(t, int64(400), *p.Status().Time.Watermark)
		stop()
		require.NoError(t, <-done)

		var decided []eventtime.Watermark
		for _, b := range w.store.Committed() {
			if b.Time != nil {
				decided = append(decided, b.Time.Watermark)
			}
		}
		require.Contains(t, decided, eventtime.Watermark{Known: true, TS: 200})
		require.Equal(t, text(out.Visible(), false), text(replayed(t, w.store.Committed()).Visible(), false))
	})
}

// TestS20StatusOfAQuietInput: a partition becomes idle in the status without a batch, since nothing is due to expire.
// The status lists labels of the retention that the graph has never had.
func TestS20StatusOfAQuietInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &streamtest.MemOutput{})
		w.in.Endless = true
		w.change = func(o *stream.PipelineOptions) {
			o.Source = partitions{Source: o.Source, n: 3, lags: func(stream.Positions) map[int32]int64 {
				return map[int32]int64{0: 0, 1: 0, 2: 1}
			}}
			o.Batch.Linger = time.Second
			o.Time = stream.TimeOptions{Retention: eventtime.Retention{{Label: "*", For: 1000}, {Label: "T", For: 1000},
				{Label: "t", For: 1000}}, Idle: time.Minute}
		}
		p := w.pipeline(nil)
		stop := start(t, p)
		synctest.Wait()
		require.Empty(t, p.Status().Time.Unseen, "the graph is empty")
		for partition := range int32(2) {
			w.in.Add(stream.Record{Partition: partition, Value: fmt.Appendf(nil,
				`{"op":"+","from":"a","to":"b","label":"T","ts":%d}`, 100+partition)})
		}
		states := func(wait time.Duration) (s [3]stream.PartitionState) {
			time.Sleep(wait) // by the bubble's clock
			synctest.Wait()
			for id, at := range p.Status().Time.Partitions {
				s[id] = at.State
			}
			return s
		}
		require.Equal(t, [3]stream.PartitionState{stream.PartitionCounts, stream.PartitionCounts,
			stream.PartitionHolds}, states(50*time.Second))
		require.Equal(t, []string{"t"}, p.Status().Time.Unseen)
		n := len(w.store.Committed())
		require.Equal(t, [3]stream.PartitionState{stream.PartitionIdle, stream.PartitionIdle, stream.PartitionHolds},
			states(20*time.Second), "partition 2 has lag")
		require.Len(t, w.store.Committed(), n, "no batch came")
		require.NoError(t, stop())
	})
}

// TestS20PausedInput: expiry goes on while graph.max_edges pauses the input, and ends the pause (trap 13).
func TestS20PausedInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &streamtest.MemOutput{}
		w := newWorld(t, out)
		w.in.Endless = true
		paused := 0
		w.change = func(o *stream.PipelineOptions) {
			o.Batch = stream.BatcherOptions{MaxUpdates: 1, Linger: time.Second}
			o.Time = stream.TimeOptions{Retention: eventtime.Retention{{Label: "*", For: 5}}}
			o.MaxEdges = 3
			o.Paused = func(reason string) {
				require.Contains(t, reason, "a higher limit, or a shorter graph.retention,")
				paused++
			}
		}
		for i := range 20 {
			w.in.Add(stream.Record{Value: fmt.Appendf(nil, `{"op":"+","from":"a%d","to":"b","label":"T","ts":%d}`, i,
				4*i)})
		}
		p := w.pipeline(nil)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- p.Run(ctx) }()
		time.Sleep(10 * time.Minute) // by the bubble's clock
		synctest.Wait()
		require.Equal(t, 20, updatesIn(w.store.Committed()), "all input is taken")
		require.Positive(t, paused)
		require.LessOrEqual(t, p.Status().Edges, 3)
		stop()
		require.NoError(t, <-done)
	})
}

func updatesIn(log []stream.Batch) (n int) {
	for i := range log {
		n += len(log[i].Updates)
	}
	return n
}
