//go:build kafka && unix

package publish

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/stream"
	"motifd/stream/kafka"
	"motifd/stream/kafka/brokertest"
	"motifd/stream/kafka/internal/kafkatest"
)

// brokerDies: the broker is killed in the middle of transactions and comes back; the sink waits for it and goes on.
func brokerDies(t *testing.T, b *brokertest.Broker, e *kafkatest.Cluster) {
	const batches = 40
	r := newRun(t, e, 2, slices.Repeat([]int{25}, batches)...)
	r.opt.BatchBytes, r.opt.sendBytes = 400, 1
	var mu sync.Mutex
	done := make(chan uint64, batches)
	seen := map[string]int{}
	r.opt.Events.Retry = func(op, _ string, _ int32, _ int, _ error) {
		mu.Lock()
		defer mu.Unlock()
		seen[op]++
	}
	r.done = func(batch uint64) { done <- batch }
	var wg sync.WaitGroup
	var err error
	wg.Go(func() {
		defer close(done)
		err = r.goOn(t, t.Context(), batches, nil)
	})
	for n := range done {
		if n == batches/4 || n == batches/2 {
			b.Restart(t)
		}
	}
	wg.Wait()
	require.NoError(t, err)
	require.NotEmpty(t, seen)
	t.Logf("repeated: %v", seen)
	r.check(t, e, "")
}

// killedAtRandom: sinks die at random moments, and once the broker; sinks die after it, too. On a fast machine all
// that is there may be published by then: there is more.
func killedAtRandom(t *testing.T, b *brokertest.Broker, e *kafkatest.Cluster) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	r := newRun(t, e, 2)
	r.opt.BatchBytes, r.opt.sendBytes = 500, 1
	deaths := 0
	const shortest = 200 * time.Millisecond
	life := shortest // twice as long after one in which nothing was done, so that a slow machine gets there, too
	const fewest = 11
	for last := uint64(0); r.committed < last || deaths < fewest; {
		if r.committed == last {
			for range 200 {
				r.sizes = append(r.sizes, rng.IntN(60))
			}
			last = uint64(len(r.sizes))
		}
		before := r.committed
		ctx, cancel := context.WithCancelCause(t.Context())
		timer := time.AfterFunc(time.Duration(rng.Int64N(int64(life))), func() { cancel(errCut) })
		c := &cutter{dead: true}
		stop := context.AfterFunc(ctx, func() { // connections die with their process
			c.mu.Lock()
			defer c.mu.Unlock()
			c.isCut = true
		})
		err := r.goOn(t, ctx, last, c.install)
		timer.Stop()
		stop()
		cancel(nil)
		if err != nil {
			require.ErrorIs(t, err, errCut)
			deaths++
		}
		if r.committed == before {
			life *= 2
		} else {
			life = max(life/2, shortest)
		}
		if err != nil && deaths == fewest-1 {
			b.Restart(t)
		}
	}
	t.Logf("%d deaths, %d batches", deaths, r.committed)
	r.check(t, e, "")
}

// consoleConsumer: Java's consumer under read_committed sees what was published, and nothing else.
func consoleConsumer(t *testing.T, b *brokertest.Broker, e *kafkatest.Cluster) {
	r := newRun(t, e, 2, 30, 0, 12)
	r.opt.BatchBytes, r.opt.Compression = 300, "zstd"
	require.NoError(t, r.goOn(t, t.Context(), 2, nil))
	s, _ := kafkatest.OpenSink(t, NewTxnSink, r.opt, 2, r.mark, false)
	require.NoError(t, s.Begin(t.Context(), 3))
	require.NoError(t, s.Write(t.Context(), kafkatest.Deltas(3, 0, 9))) // an aborted transaction between committed ones
	require.NoError(t, s.dispatch(t.Context()))
	require.NoError(t, s.await(t.Context()))
	crash(t, s)
	require.NoError(t, r.goOn(t, t.Context(), 3, nil))
	want := map[string]brokertest.Record{}
	for batch := uint64(1); batch <= 3; batch++ {
		recs, _ := r.input(batch)
		for _, rec := range recs {
			want[string(rec.Value)] = brokertest.Record{
				Key:   string(rec.Key),
				Value: string(rec.Value),
				Headers: map[string]string{
					kafka.HeaderStream: "stream-1", kafka.HeaderBatch: fmt.Sprint(rec.Batch),
					kafka.HeaderIndex: fmt.Sprint(rec.Index),
					kafka.HeaderQuery: "ring", kafka.HeaderSign: "+"},
			}
		}
	}
	got := b.Consume(t, r.opt.Topic, func(recs []brokertest.Record) bool { return len(recs) >= len(want) })
	require.Len(t, got, len(want))
	for _, g := range got {
		w := want[g.Value]
		w.Partition, w.Offset = g.Partition, g.Offset
		require.Equal(t, w, g)
		delete(want, g.Value)
	}
	require.Empty(t, want)
}

// compacted: in upsert mode the compacted output holds the matches that are there, compaction running.
func compacted(t *testing.T, e *kafkatest.Cluster) {
	r := newRun(t, e, 1)
	r.opt.Topic = e.Topic(t, "upsert", 2, map[string]string{"cleanup.policy": "compact", "segment.ms": "100",
		"min.cleanable.dirty.ratio": "0.01", "delete.retention.ms": "100", "max.compaction.lag.ms": "200"})
	s, _ := kafkatest.OpenSink(t, NewTxnSink, r.opt, 0, nil, true)
	present := map[string]string{}
	published := 0
	batch := uint64(0)
	step := func() {
		batch++
		var recs []stream.OutRecord
		for i := range uint64(200) {
			rec := stream.OutRecord{
				Key:   fmt.Appendf(nil, "match-%d", (batch*31+i)%500),
				Batch: batch,
				Index: i,
				Query: "ring",
				Sign:  dyngraph.Deleted,
			}
			if i%2 == 0 {
				rec.Value, rec.Sign = fmt.Appendf(nil, "%d/%d", batch, i), dyngraph.Inserted
				present[string(rec.Key)] = string(rec.Value)
			} else {
				delete(present, string(rec.Key))
			}
			recs = append(recs, rec)
		}
		published += len(recs)
		_, err := kafkatest.PublishBatch(t.Context(), s, batch, recs, stream.Tail{})
		require.NoError(t, err)
	}
	held := func() (int, map[string]string) {
		recs := e.Committed(t, r.opt.Topic)
		last := map[string]string{}
		for _, rec := range recs {
			if rec.Value == nil {
				delete(last, string(rec.Key))
			} else {
				last[string(rec.Key)] = string(rec.Value)
			}
		}
		return len(recs), last
	}
	for {
		step()
		n, last := held()
		require.True(t, maps.Equal(present, last), "batch %d", batch)
		if n < published/2 {
			t.Logf("%d of %d records are left, %d matches", n, published, len(last))
			return
		}
	}
}
