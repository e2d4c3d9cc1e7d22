package stream_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/stream"
	"motifd/stream/streamtest"
)

// markers is a source that has no records, but offsets that hold none.
type markers struct {
	stream.Source
	passed chan stream.Positions
}

func (m markers) Read(ctx context.Context) ([]stream.Record, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func (m markers) Advance(at stream.Positions) {
	select {
	case to := <-m.passed:
		for p, off := range to {
			at[p] = off
		}
	default:
	}
}

// TestP3IdlePositions: positions that move over offsets without records are stored although no batch comes, and
// nothing is stored while they stand.
func TestP3IdlePositions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &streamtest.MemOutput{}
		w := newWorld(t, out)
		m := markers{passed: make(chan stream.Positions, 1)}
		w.change = func(o *stream.PipelineOptions) {
			m.Source = o.Source
			o.Source, o.Batch.Linger = m, time.Second
		}
		p := w.pipeline(nil)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- p.Run(ctx) }()
		time.Sleep(time.Hour) // by the bubble's clock, as below
		synctest.Wait()
		require.Empty(t, w.store.Committed())
		for batch, at := range []int64{5, 9} {
			m.passed <- stream.Positions{1: at}
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			require.Len(t, w.store.Committed(), batch+1)
			require.Equal(t, at, w.store.Committed()[batch].Positions[1])
		}
		stop()
		require.NoError(t, <-done)
		require.Len(t, out.Visible().Control, 2)
	})
}
