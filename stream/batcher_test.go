package stream_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/stream"
	"motifd/stream/streamtest"
)

func message(offset int64, updates, bytes int) stream.Decoded {
	return stream.Decoded{
		Record:  stream.Record{Offset: offset, Next: offset + 1, Value: make([]byte, bytes)},
		Updates: make([]dyngraph.Update, updates), Read: time.Unix(offset, 0),
	}
}

// cuts runs messages through a Batcher and returns the updates of each batch.
func cuts(opt stream.BatcherOptions, msgs ...stream.Decoded) (sizes []int, batches []*stream.RawBatch) {
	opt.EnsureDefaults()
	b := stream.NewBatcher(opt)
	add := func(raw *stream.RawBatch) {
		if raw != nil {
			sizes = append(sizes, raw.Updates)
			batches = append(batches, raw)
		}
	}
	for _, m := range msgs {
		add(b.Add(m))
		if b.Full() {
			add(b.Cut())
		}
	}
	add(b.Cut())
	return sizes, batches
}

func TestS2BatchesAreClosedByCount(t *testing.T) {
	opt := stream.BatcherOptions{MaxUpdates: 10}
	for _, c := range []struct{ in, want []int }{
		{[]int{1, 1, 1}, []int{3}},
		{[]int{5, 5, 5, 5}, []int{10, 10}},
		{[]int{4, 4, 4}, []int{8, 4}}, // a message is never split
		{[]int{3, 25, 3}, []int{3, 25, 3}},
		{[]int{25, 25}, []int{25, 25}},
		{[]int{10, 1}, []int{10, 1}},
		{[]int{0, 0, 2, 0, 9, 0}, []int{2, 9}},
	} {
		var msgs []stream.Decoded
		for i, n := range c.in {
			msgs = append(msgs, message(int64(i), n, 1))
		}
		got, batches := cuts(opt, msgs...)
		require.Equal(t, c.want, got, "%v", c.in)
		require.Equal(t, int64(len(c.in)), batches[len(batches)-1].Next[0])
	}
}

func TestS2BatchesAreClosedByBytes(t *testing.T) {
	opt := stream.BatcherOptions{MaxBytes: 1000}
	got, _ := cuts(opt, message(0, 1, 400), message(1, 1, 400), message(2, 1, 400), message(3, 1, 5000),
		message(4, 1, 1))
	require.Equal(t, []int{2, 1, 1, 1}, got)

	var bad []stream.Decoded // records without updates are bounded too
	for i := range 1000 {
		m := message(int64(i), 0, 0)
		m.Err = errors.New("bad")
		bad = append(bad, m)
	}
	_, batches := cuts(opt, bad...)
	require.Greater(t, len(batches), 50)
}

func TestS2BatchesAreClosedByTime(t *testing.T) {
	b := stream.NewBatcher(stream.BatcherOptions{MaxUpdates: 10, MaxBytes: 1 << 20, Linger: time.Minute})
	_, ok := b.Deadline()
	require.False(t, ok)
	b.Add(message(90, 0, 0)) // a blank line alone is no batch
	_, ok = b.Deadline()
	require.False(t, ok)
	require.Nil(t, b.Cut())
	b.Add(message(100, 1, 1))
	b.Add(message(130, 1, 1))
	at, ok := b.Deadline()
	require.True(t, ok)
	require.Equal(t, time.Unix(160, 0), at, "counted from the first message")
}

// TestS2Linger lets time pass around a whole pipeline.
func TestS2Linger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &streamtest.MemOutput{}
		w := newWorld(t, out)
		w.in = streamtest.NewInput(true)
		w.change = func(o *stream.PipelineOptions) {
			o.Batch = stream.BatcherOptions{MaxUpdates: 1000, Linger: 100 * time.Millisecond}
		}
		p := w.pipeline(nil)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- p.Run(ctx) }()
		synctest.Wait()
		edge := func(v string) {
			w.in.Add(stream.Record{Value: []byte(`{"op":"+","from":"a","to":"` + v + `"}`)})
		}
		edge("b")
		// The clock is synctest's: these sleeps take no time and are exact.
		time.Sleep(60 * time.Millisecond)
		edge("c")
		synctest.Wait()
		require.Zero(t, p.Status().Batch)
		time.Sleep(39 * time.Millisecond)
		synctest.Wait()
		require.Zero(t, p.Status().Batch)
		time.Sleep(time.Millisecond)
		synctest.Wait()
		require.Equal(t, uint64(1), p.Status().Batch)
		require.Equal(t, 2, p.Status().Edges)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, uint64(1), p.Status().Batch, "no batch without a message")
		edge("d")
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		require.Equal(t, uint64(2), p.Status().Batch)
		stop()
		require.NoError(t, <-done)
	})
}

// TestS2NoMessageIsSplit checks random streams: every message is in one batch, in order, within the bounds.
func TestS2NoMessageIsSplit(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		opt := stream.BatcherOptions{MaxUpdates: 1 + rng.IntN(20), MaxBytes: 100 + rng.IntN(2000)}
		var msgs []stream.Decoded
		for i := range 100 {
			msgs = append(msgs, message(int64(i), 1+rng.IntN(8), rng.IntN(300)))
		}
		_, batches := cuts(opt, msgs...)
		next := int64(0)
		for _, b := range batches {
			n, size := 0, 0
			for _, m := range b.Messages {
				require.Equal(t, next, m.Record.Offset)
				next++
				n += len(m.Updates)
				size += len(m.Record.Value) + 64
			}
			require.Equal(t, n, b.Updates)
			require.Equal(t, next, b.Next[0])
			if len(b.Messages) > 1 {
				require.LessOrEqual(t, n, opt.MaxUpdates, "seed %d", seed)
				require.LessOrEqual(t, size, opt.MaxBytes, "seed %d", seed)
			}
		}
		require.Equal(t, int64(100), next)
	}
}
