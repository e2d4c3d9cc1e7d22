package streamtest

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/stream"
)

const streamID = "00112233445566778899aabbccddeeff"

// sinkRun is a sink with what a pipeline remembers about it.
type sinkRun struct {
	h    *SinkHarness
	sink stream.Sink
	// committed batches and the last one's mark
	batch uint64
	mark  stream.Mark
	fresh bool
	// progress as the last Open told it
	progress stream.Progress
	// ended is the size of the last batch that was ended, endMark its mark
	ended   int
	endMark stream.Mark
	// the records of committed batches
	want      []stream.OutRecord
	dead, ctl []string
}

// records makes the records i to j of a batch.
func records(batch uint64, i, j int) []stream.OutRecord {
	recs := make([]stream.OutRecord, 0, j-i)
	for k := i; k < j; k++ {
		sign := dyngraph.Deleted
		if k%3 != 0 {
			sign = dyngraph.Inserted
		}
		recs = append(recs, stream.OutRecord{
			Key:   []byte(fmt.Sprintf("%032x", uint64(k)*0x9e3779b97f4a7c15+batch)),
			Value: []byte(fmt.Sprintf(`{"batch":%d,"index":%d}`, batch, k)),
			Batch: batch, Index: uint64(k), Query: "ring", Sign: sign, Snapshot: k%5 == 0,
		})
	}
	return recs
}

func (r *sinkRun) open(t testing.TB) stream.Progress {
	t.Helper()
	r.sink = r.h.New(t, false)
	got, err := r.sink.Open(t.Context(), streamID, r.batch, r.mark, r.fresh)
	require.NoError(t, err)
	r.fresh, r.progress = false, got
	if got.Stream != "" {
		require.Equal(t, streamID, got.Stream)
	}
	if r.h.ExactlyOnce {
		require.True(t, got.Known, "a sink that is exactly once knows its progress")
	}
	return got
}

// from is the index at which the present batch is to be published after an Open.
func (r *sinkRun) from() int {
	if r.progress.Known && r.progress.Batch == r.batch+1 {
		return int(r.progress.Index)
	}
	return 0
}

// begin writes the first records of batch r.batch+1.
func (r *sinkRun) begin(t testing.TB, written int) {
	t.Helper()
	require.NoError(t, r.sink.Begin(t.Context(), r.batch+1))
	r.write(t, 0, written)
}

// write writes records of batch r.batch+1 in small and large pieces.
func (r *sinkRun) write(t testing.TB, from, to int) {
	t.Helper()
	for size := 1; from < to; size = size*3 + 1 {
		next := min(to, from+size)
		require.NoError(t, r.sink.Write(t.Context(), records(r.batch+1, from, next)))
		from = next
	}
}

func (r *sinkRun) tail(n int) stream.Tail {
	b := r.batch + 1
	tail := stream.Tail{Positions: stream.Positions{0: int64(b) * 10, 1: int64(b)}}
	for k := range n % 3 {
		tail.DeadLetters = append(tail.DeadLetters, stream.OutRecord{
			Key: []byte("bad"), Value: []byte(fmt.Sprintf(`{"dead":%d,"batch":%d}`, k, b)), Batch: b,
		})
	}
	tail.BatchRecord = &stream.OutRecord{Value: []byte(fmt.Sprintf(`{"control":%d}`, b)), Batch: b}
	return tail
}

// publish writes batch r.batch+1 of n records from an index on, and ends it.
func (r *sinkRun) publish(t testing.TB, n, from int) {
	t.Helper()
	r.begin(t, 0)
	r.write(t, from, n)
	mark, err := r.sink.End(t.Context(), r.tail(n))
	require.NoError(t, err)
	r.ended, r.endMark = n, mark
}

// commit remembers the batch that was ended, as a store would.
func (r *sinkRun) commit() {
	tail := r.tail(r.ended)
	r.want = append(r.want, records(r.batch+1, 0, r.ended)...)
	for _, d := range tail.DeadLetters {
		r.dead = append(r.dead, string(d.Value))
	}
	r.ctl = append(r.ctl, string(tail.BatchRecord.Value))
	r.batch, r.mark = r.batch+1, r.endMark
}

// publishSome publishes and commits batches.
func (r *sinkRun) publishSome(t testing.TB, batches int) {
	t.Helper()
	for k := range batches {
		r.publish(t, 7+k, 0)
		r.commit()
	}
}

// recover does batch r.batch+1 of n records again, as its sink's progress says, and commits it.
func (r *sinkRun) recover(t testing.TB, n int) {
	t.Helper()
	switch at := r.progress; {
	case at.Known && at.Batch > r.batch+1:
		require.Equal(t, r.batch+2, at.Batch)
		r.ended, r.endMark = n, r.mark // published already: commit only
	case at.Known && at.Batch == r.batch+1:
		require.LessOrEqual(t, at.Index, uint64(n))
		r.publish(t, n, int(at.Index))
	case at.Known:
		require.Zero(t, at.Batch, "progress behind the commit")
		r.publish(t, n, 0)
	default:
		r.publish(t, n, 0)
	}
	r.commit()
}

func (r *sinkRun) crash(t testing.TB) {
	t.Helper()
	if r.h.Crash == nil {
		r.close(t)
		return
	}
	r.h.Crash(t, r.sink)
}

func (r *sinkRun) close(t testing.TB) {
	t.Helper()
	require.NoError(t, r.sink.Close())
}

// check compares what a reader sees with what was committed.
func (r *sinkRun) check(t testing.TB) {
	t.Helper()
	got := r.h.Visible(t)
	main := got.Main
	if !r.h.ExactlyOnce {
		main = dropRepeats(main)
	}
	want := r.want
	if !r.h.Ordered {
		byValue := func(a, b stream.OutRecord) int { return bytes.Compare(a.Value, b.Value) }
		main, want = slices.Clone(main), slices.Clone(want)
		slices.SortStableFunc(main, byValue)
		slices.SortStableFunc(want, byValue)
	}
	require.Equal(t, len(want), len(main), "records of the main output")
	for i, w := range want {
		g := main[i]
		require.Equal(t, w.Value == nil, g.Value == nil, "record %d: tombstone", i)
		require.Equal(t, string(w.Value), string(g.Value), "record %d", i)
		if r.h.Keys {
			require.Equal(t, string(w.Key), string(g.Key), "record %d", i)
		}
		if r.h.Headers {
			w.Key, w.Value, g.Key, g.Value = nil, nil, nil, nil
			require.Equal(t, w, g, "record %d", i)
		}
	}
	require.Equal(t, r.dead, values(got.DeadLetters, !r.h.ExactlyOnce), "dead letters")
	require.Equal(t, r.ctl, values(got.Control, !r.h.ExactlyOnce), "batch records")
}

// dropRepeats keeps the first of records with equal contents.
func dropRepeats(recs []stream.OutRecord) []stream.OutRecord {
	seen := map[string]bool{}
	var out []stream.OutRecord
	for _, rec := range recs {
		id := string(rec.Key) + "\x00" + string(rec.Value)
		if !seen[id] {
			seen[id] = true
			out = append(out, rec)
		}
	}
	return out
}

func values(recs []stream.OutRecord, distinct bool) []string {
	if distinct {
		recs = dropRepeats(recs)
	}
	var out []string
	for _, r := range recs {
		out = append(out, string(r.Value))
	}
	return out
}
