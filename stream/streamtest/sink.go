package streamtest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/stream"
)

// Output holds the records that a reader of an output sees. Records carry Key and Value; sinks that publish headers
// fill in Batch, Index, Query, Sign and Snapshot too.
type Output struct {
	Main, DeadLetters, Control []stream.OutRecord
}

// SinkHarness makes one output and the sinks that write to it.
type SinkHarness struct {
	// New makes a sink over the output, not opened. allowExisting is the sink's permission to go on after what is
	// there when the checkpoint is fresh.
	New func(t testing.TB, allowExisting bool) stream.Sink
	// Crash abandons an opened sink as a dying process would: without ending a batch, but so that another sink can
	// open the output. nil is Close.
	Crash func(t testing.TB, s stream.Sink)
	// Visible reads the output back, partitions of the main output one after the other. It is called while no sink
	// is open, or an open one is between two batches.
	Visible func(t testing.TB) Output
	// ExactlyOnce tells that a batch which is done again after a crash appears once; otherwise its records may
	// appear again.
	ExactlyOnce bool
	// Ordered tells that Visible.Main has the records in the order in which they were written; otherwise only records
	// of equal keys keep their order.
	Ordered bool
	// Headers tells that Visible.Main has more than Key and Value, Keys that it has Key.
	Headers, Keys bool
	// Tombstones tells that records with a nil Value may be written.
	Tombstones bool
	// Exclusive is the error of a second Open while a sink is open (stream.ErrLocked), or that of the first sink once a
	// second one was opened (stream.ErrFenced); nil: neither.
	Exclusive error
}

// TestSink checks the contract of stream.Sink. newHarness makes a harness over a new, empty output.
func TestSink(t *testing.T, newHarness func(t *testing.T) *SinkHarness) {
	start := func(t *testing.T) *sinkRun {
		r := &sinkRun{h: newHarness(t), fresh: true}
		r.open(t)
		return r
	}
	t.Run("PublishesInOrder", func(t *testing.T) {
		r := start(t)
		for _, n := range []int{3, 0, 1, 700, 25} {
			r.publish(t, n, 0)
			r.commit()
		}
		r.close(t)
		r.check(t)
	})
	t.Run("GoesOnAfterRestart", func(t *testing.T) {
		r := start(t)
		for n := range 4 {
			r.publish(t, n*5, 0)
			r.commit()
			r.close(t)
			got := r.open(t)
			if got.Known {
				require.Equal(t, r.batch+1, got.Batch, "progress after a clean end")
				require.Zero(t, got.Index)
			}
		}
		r.close(t)
		r.check(t)
	})
	t.Run("CrashBeforeAnything", func(t *testing.T) {
		r := start(t)
		r.crash(t)
		r.open(t)
		r.recover(t, 4)
		r.close(t)
		r.check(t)
	})
	for _, committed := range []int{0, 2} {
		t.Run(fmt.Sprintf("CrashInsideBatchAfter%d", committed), func(t *testing.T) {
			for written := range 4 {
				r := start(t)
				r.publishSome(t, committed)
				r.begin(t, written*100)
				r.crash(t)
				r.open(t)
				r.recover(t, 300)
				r.publishSome(t, 1)
				r.close(t)
				r.check(t)
			}
		})
		t.Run(fmt.Sprintf("CrashBeforeCommitAfter%d", committed), func(t *testing.T) {
			r := start(t)
			r.publishSome(t, committed)
			r.publish(t, 50, 0) // ended, but its mark was lost
			r.crash(t)
			r.open(t)
			r.recover(t, 50)
			r.publishSome(t, 1)
			r.close(t)
			r.check(t)
		})
		t.Run(fmt.Sprintf("CrashAgainAndAgainAfter%d", committed), func(t *testing.T) {
			r := start(t)
			r.publishSome(t, committed)
			for i := range 5 {
				r.begin(t, 0)
				r.write(t, r.from(), (i+1)*20)
				r.crash(t)
				r.open(t)
			}
			r.recover(t, 100)
			r.close(t)
			r.check(t)
		})
	}
	t.Run("NotEmpty", func(t *testing.T) {
		r := start(t)
		r.publishSome(t, 1)
		r.close(t)
		s := r.h.New(t, false)
		_, err := s.Open(t.Context(), "another", 0, nil, true)
		require.ErrorIs(t, err, stream.ErrOutputNotEmpty)
		require.NoError(t, s.Close())
		r.check(t) // and nothing was touched
	})
	t.Run("NotEmptyAllowed", func(t *testing.T) {
		r := start(t)
		r.publishSome(t, 1)
		r.close(t)
		s := r.h.New(t, true)
		_, err := s.Open(t.Context(), "another", 0, nil, true)
		require.NoError(t, err)
		require.NoError(t, s.Begin(t.Context(), 1))
		rec := stream.OutRecord{Key: []byte("k"), Value: []byte(`"v"`), Batch: 1, Query: "q", Sign: dyngraph.Inserted}
		require.NoError(t, s.Write(t.Context(), []stream.OutRecord{rec}))
		_, err = s.End(t.Context(), stream.Tail{})
		require.NoError(t, err)
		require.NoError(t, s.Close())
		r.want = append(r.want, rec)
		r.check(t)
	})
	t.Run("Exclusive", func(t *testing.T) {
		r := start(t)
		if r.h.Exclusive == nil {
			t.Log("several sinks may write to the output")
			r.close(t)
			return
		}
		r.publishSome(t, 1)
		second := r.h.New(t, true)
		_, err := second.Open(t.Context(), streamID, r.batch, r.mark, false)
		if err == nil {
			first := r.sink
			err = first.Begin(t.Context(), r.batch+1)
			if err == nil {
				_, err = first.End(t.Context(), stream.Tail{})
			}
		}
		require.ErrorIs(t, err, r.h.Exclusive)
		second.Close()
		r.sink.Close()
	})
	t.Run("Tombstones", func(t *testing.T) {
		r := start(t)
		if r.h.Tombstones {
			require.NoError(t, r.sink.Begin(t.Context(), 1))
			recs := records(1, 0, 4)
			recs[1].Value, recs[3].Value = nil, nil
			require.NoError(t, r.sink.Write(t.Context(), recs))
			mark, err := r.sink.End(t.Context(), stream.Tail{})
			require.NoError(t, err)
			r.batch, r.mark = 1, mark
			r.want = recs
		}
		r.close(t)
		r.check(t)
	})
	t.Run("RecordsAreBorrowed", func(t *testing.T) {
		r := start(t)
		require.NoError(t, r.sink.Begin(t.Context(), 1))
		recs := records(1, 0, 20)
		mine := records(1, 0, 20)
		for i := range mine {
			require.NoError(t, r.sink.Write(t.Context(), mine[i:i+1]))
			for k := range mine[i].Value { // overwritten as soon as Write has returned
				mine[i].Value[k] = '!'
			}
			clear(mine[i].Key)
			mine[i] = stream.OutRecord{}
		}
		_, err := r.sink.End(t.Context(), stream.Tail{})
		require.NoError(t, err)
		r.want = recs
		r.close(t)
		r.check(t)
	})
	t.Run("ClosedTwice", func(t *testing.T) {
		r := start(t)
		r.close(t)
		require.NoError(t, r.sink.Close())
		require.NoError(t, r.h.New(t, false).Close(), "close of a sink that was not opened")
	})
}
