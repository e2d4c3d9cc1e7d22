package stream_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
	"motifd/stream"
	"motifd/stream/eventtime"
	"motifd/stream/streamtest"
)

// timed makes messages whose times rise by steps of up to 10, out of order by up to disorder; some updates have none.
func timed(rng *rand.Rand, messages, disorder int) (recs []stream.Record) {
	now := 0
	update := func() string {
		op, ts := "+", ""
		if rng.IntN(6) == 0 {
			op = "-"
		}
		a, b := rng.IntN(7), rng.IntN(6)
		if b >= a {
			b++
		}
		now += rng.IntN(10)
		if rng.IntN(8) > 0 {
			ts = fmt.Sprintf(`,"ts":%d`, now-rng.IntN(disorder+1))
		}
		return fmt.Sprintf(`{"op":%q,"from":"v%d","to":"v%d","label":%q%s}`, op, a, b,
			[]string{"T", "T", "T", "U"}[rng.IntN(4)], ts)
	}
	for range messages {
		v := update()
		if rng.IntN(4) == 0 {
			v = "[" + v + "," + update() + "," + update() + "]"
		}
		if rng.IntN(20) == 0 {
			v = `{"op":"+"}`
		}
		recs = append(recs, stream.Record{Value: []byte(v)})
	}
	return recs
}

func keep(t, other int64) stream.TimeOptions {
	return stream.TimeOptions{Retention: eventtime.Retention{{Label: "*", For: other}, {Label: "T", For: t}},
		Lateness: 20, MaxExpired: 8, ReportLate: true, Isolated: true}
}

// expiring returns a world whose edges expire, and its output.
func expiring(t *testing.T, input []stream.Record, time stream.TimeOptions) (*world, *streamtest.MemOutput) {
	w, out := inMemory(t, streamtest.Tracked, input, queries(t)...)
	start := w.change
	w.change = func(o *stream.PipelineOptions) {
		start(o)
		o.Time = time
	}
	return w, out
}

// TestS20CrashAtEveryCall crashes a run in which edges expire at each call to store and sink: horizons and ticks after
// a restart are those of an undisturbed run.
func TestS20CrashAtEveryCall(t *testing.T) {
	matchertest.NotUnderRace(t, "TestS9CrashAtEveryCall crashes the same goroutines")
	input := timed(rand.New(rand.NewPCG(1, 20)), 60, 300)
	w, out := expiring(t, input, keep(100, 40))
	require.NoError(t, w.run(nil))
	want := text(out.Visible(), false)
	all := strings.Join(want, "\n")
	for _, part := range []string{`"anchor":{"op":"expire","ts":`, `"reason":"expired"}`, `"reason":"late"`} {
		require.Contains(t, all, part)
	}
	require.Regexp(t, `"messages":0,"updates":0,"inserted":0,"deleted":[1-8],.*"expired":`, all, "there are ticks")
	crashAtEveryCall(t, want, eachPointByTurns, func() (*world, func() []string) {
		w, out := expiring(t, input, keep(100, 40))
		return w, func() []string { return text(out.Visible(), false) }
	})
}

// TestS20CheckpointAndFiles is TestS9CheckpointAndFiles with edges that expire.
func TestS20CheckpointAndFiles(t *testing.T) {
	matchertest.NotUnderRace(t, "TestS9CheckpointAndFiles has the same goroutines")
	testCheckpointAndFiles(t, timed(rand.New(rand.NewPCG(2, 20)), 40, 60), keep(80, 40))
}

// TestS20ReplayOfTheBatchLog steps the logged batches again, from nothing and without any setting.
func TestS20ReplayOfTheBatchLog(t *testing.T) {
	w, out := expiring(t, timed(rand.New(rand.NewPCG(3, 20)), 80, 60), keep(100, 40))
	require.NoError(t, w.run(nil))
	again := replayed(t, w.store.Committed())
	require.Equal(t, text(out.Visible(), false), text(again.Visible(), false))
}

// replayed runs over a batch log, from nothing.
func replayed(t *testing.T, log []stream.Batch) *streamtest.MemOutput {
	t.Helper()
	out := &streamtest.MemOutput{}
	r := newWorld(t, out)
	r.change = func(o *stream.PipelineOptions) {
		o.Source, o.Decoder, o.Store = nil, nil, nil
		o.Log = func(yield func(*stream.Batch, error) bool) {
			for i := range log {
				if !yield(&log[i], nil) {
					return
				}
			}
		}
	}
	require.NoError(t, r.run(nil))
	return out
}
