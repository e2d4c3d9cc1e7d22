package stream_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream"
	"motifd/stream/streamtest"
)

// TestLoadIsABatchOfItsOwn: vertices are loaded between two batches of the input, which is cut first; =v declares what
// is not there. Recovery and the log have the batch as any other, without a new position.
func TestLoadIsABatchOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &streamtest.MemOutput{}
		w := newWorld(t, out)
		w.in = streamtest.NewInput(true)
		w.change = func(o *stream.PipelineOptions) { o.Batch.Linger = time.Hour }
		p := w.pipeline(nil)
		stop := start(t, p)
		w.in.Add(edge("a", "b"))
		synctest.Wait() // it waits for the batch to be cut
		batch, err := p.Load(t.Context(), []dyngraph.Update{{Op: dyngraph.ReviseVertex, Key: "new", Label: "L"},
			{Op: dyngraph.ReviseVertex, Key: "new"}, {Op: dyngraph.InsertVertex, Key: "a", Label: "A"}})
		require.NoError(t, err)
		require.Equal(t, uint64(2), batch)
		for _, bad := range [][]dyngraph.Update{nil, {{Op: dyngraph.DeleteVertex, Key: "a"}},
			{{Op: dyngraph.InsertVertex, Key: "b"}, {Op: dyngraph.ReviseVertex, Key: "a", Label: "B"}}} {
			_, err = p.Load(t.Context(), bad)
			require.ErrorIs(t, err, stream.ErrLoad)
		}
		require.ErrorContains(t, err, "update 1: label_conflict: ")
		_, _, err = p.Change(t.Context(), &matcher.QueryChange{Add: queries(t)[0]})
		require.NoError(t, err)
		synctest.Wait()
		st := p.Status()
		require.Equal(t, uint64(3), st.Batch)
		require.Equal(t, 3, st.Vertices)
		require.NoError(t, stop())

		log := w.store.Committed()
		require.Len(t, log, 3)
		require.Equal(t, log[0].Positions, log[1].Positions)
		ops := []dyngraph.Op{}
		for i, u := range log[1].Updates {
			ops = append(ops, u.Op)
			require.Equal(t, dyngraph.Position{Partition: stream.LoadedPartition, Element: int32(i)}, u.Pos)
		}
		require.Equal(t, []dyngraph.Op{dyngraph.InsertVertex, dyngraph.ReviseVertex, dyngraph.InsertVertex}, ops)
		_, err = p.Load(t.Context(), []dyngraph.Update{{Op: dyngraph.InsertVertex, Key: "late"}})
		require.ErrorIs(t, err, stream.ErrStopped)
	})
}
