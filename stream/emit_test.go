package stream

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream/internal/encode"
)

// TestEmitEndsWithItsContext: a flood whose records find room at once, or are dropped, has to end all the same.
func TestEmitEndsWithItsContext(t *testing.T) {
	for _, threads := range []int{1, 2} {
		ctx, cancel := context.WithCancelCause(t.Context())
		p := &Pipeline{opt: PipelineOptions{EncodeThreads: threads}}
		p.encoding = encode.New(encode.Options[OutRecord]{Threads: threads})
		e := p.newEmitter(ctx, 1)
		e.alreadyPublished = true // nothing waits for anything
		ev := &matcher.Event{Kind: matcher.EventCount, Query: &matcher.Query{Name: "q"}, Count: matcher.CountOf(1)}
		require.NoError(t, e.emit(ev))
		cancel(ErrStopTimeout)
		require.ErrorIs(t, e.emit(ev), ErrStopTimeout)
		for _, c := range e.counts() {
			require.EqualValues(t, 1, c.Records)
		}
	}
}

// TestAWithdrawnChangeIsNotMade: its caller has its answer already, and the engine is not asked.
func TestAWithdrawnChangeIsNotMade(t *testing.T) {
	p := &Pipeline{batcher: NewBatcher(BatcherOptions{MaxUpdates: 1, MaxBytes: 1})}
	req := changeRequest{change: &matcher.QueryChange{Remove: "q"}, answer: make(chan changeAnswer, 1),
		claimed: new(atomic.Bool)}
	req.claimed.Store(true)
	require.NoError(t, p.serve(t.Context(), req))
	require.Empty(t, req.answer)
}

// TestLoadedUpdatesHaveNoPartition: event time looks at the input alone.
func TestLoadedUpdatesHaveNoPartition(t *testing.T) {
	input := []dyngraph.Update{{Pos: dyngraph.Position{Partition: 3}}}
	require.Equal(t, input, ofInput(input))
	require.Empty(t, ofInput([]dyngraph.Update{{Pos: dyngraph.Position{Partition: LoadedPartition}}}))
	require.Empty(t, ofInput(nil))
}
