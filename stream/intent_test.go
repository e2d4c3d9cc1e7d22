package stream_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/stream"
	"motifd/stream/streamtest"
)

// slowStore logs batches when it is told to: each intent that was started waits for one answer.
type slowStore struct {
	stream.Store
	answers chan error
}

func (s slowStore) StartIntent(ctx context.Context, b *stream.Batch) (logged func() error) {
	wait := s.Store.(stream.IntentStarter).StartIntent(ctx, b)
	return func() error {
		if err := <-s.answers; err != nil {
			return err
		}
		return wait()
	}
}

// steps tells of each batch of updates that was searched.
type steps struct{ stepped chan uint64 }

func (steps) Read(stream.ReadStats)     {}
func (steps) Commit(stream.CommitStats) {}
func (steps) Span(stream.Span)          {}
func (s steps) Step(x stream.StepStats) {
	if x.Batch.Change == nil {
		s.stepped <- x.Batch.Number
	}
}

// begun tells of each batch that begins at the sink.
type begun struct {
	stream.Sink
	batches chan uint64
}

func (s begun) Begin(ctx context.Context, batch uint64) error {
	s.batches <- batch
	return s.Sink.Begin(ctx, batch)
}

// TestP3NothingIsPublishedBeforeTheIntent searches batches whose intents are not durable yet: the sink hears of each
// only when its intent is, and of none whose intent failed.
func TestP3NothingIsPublishedBeforeTheIntent(t *testing.T) {
	out := &streamtest.MemOutput{}
	w := newWorld(t, out)
	w.in.Add(updates(rand.New(rand.NewPCG(8, 9)), 60)...)
	qs := queries(t)
	answers, batches := make(chan error), make(chan uint64, 100)
	s := steps{make(chan uint64, 100)}
	w.change = func(o *stream.PipelineOptions) {
		o.Startup = startup(qs...)
		o.Store, o.Sink, o.Observer = slowStore{o.Store, answers}, begun{o.Sink, batches}, s
	}
	done := make(chan error, 1)
	p := w.pipeline(nil)
	go func() { done <- p.Run(t.Context()) }()
	for range qs {
		<-batches // the changes, which are logged at once
	}
	first := <-s.stepped
	require.Equal(t, uint64(len(qs))+1, first)
	for n := first; n < first+2; n++ {
		require.Empty(t, batches, "batch %d began before it was logged", n)
		answers <- nil
		require.Equal(t, n, <-batches)
		require.Equal(t, n+1, <-s.stepped)
	}
	answers <- errBroken
	require.ErrorContains(t, <-done, "store: intent of batch")
	require.Empty(t, batches)
	for _, r := range out.Visible().Main {
		require.Less(t, r.Batch, first+2)
	}
	require.Len(t, w.store.Committed(), int(first)+1)
}
