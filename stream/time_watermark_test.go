package stream_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher/matchertest"
	"motifd/stream"
	"motifd/stream/eventtime"
)

// disordered makes insertions of different edges, no time of which is further behind than disorder.
func disordered(rng *rand.Rand, disorder int) (inOrder, disarranged []stream.Record) {
	type update struct {
		at  int // when it comes
		rec stream.Record
	}
	var us []update
	for i, pair := range rng.Perm(12 * 11) {
		from, to := pair/11, pair%11
		if to >= from {
			to++
		}
		ts := 5*i + rng.IntN(5)
		us = append(us, update{ts + rng.IntN(disorder+1), stream.Record{Value: fmt.Appendf(nil,
			`{"op":"+","from":"v%d","to":"v%d","label":"T","ts":%d}`, from, to, ts)}})
		inOrder = append(inOrder, us[i].rec)
	}
	slices.SortStableFunc(us, func(a, b update) int { return a.at - b.at })
	for _, u := range us {
		disarranged = append(disarranged, u.rec)
	}
	return inOrder, disarranged
}

// TestS20DisorderWithinTheLateness: where no time is further behind than the lateness, nothing is late, and the order
// in which updates come changes no match of a window that the retention covers.
func TestS20DisorderWithinTheLateness(t *testing.T) {
	matchertest.NotUnderRace(t, "TestS20AgainstDeletions has the same goroutines")
	const disorder, window = 60, 40
	begun := func(input []stream.Record, lateness int64) (begin []string, late int) {
		time := keep(window, window)
		time.Lateness = lateness
		w, out := expiring(t, input, time)
		require.NoError(t, w.run(nil))
		for _, r := range out.Visible().DeadLetters {
			require.Contains(t, string(r.Value), `"reason":"late"`)
			late++
		}
		expired := 0
		for _, r := range out.Visible().Main {
			var match struct {
				Op    string
				Edges map[string]struct{ TS int64 }
			}
			require.NoError(t, json.Unmarshal(r.Value, &match))
			var times []int64
			for _, e := range match.Edges {
				times = append(times, e.TS)
			}
			switch {
			case match.Op == "-":
				expired++
			case slices.Max(times)-slices.Min(times) <= window:
				begin = append(begin, fmt.Sprint(r.Query, match.Edges))
			}
		}
		require.Positive(t, expired)
		slices.Sort(begin)
		return begin, late
	}
	lateWithout := 0
	for seed := range uint64(8) {
		inOrder, disarranged := disordered(rand.New(rand.NewPCG(seed, 22)), disorder)
		want, late := begun(inOrder, 0)
		require.Zero(t, late)
		require.NotEmpty(t, want)
		got, late := begun(disarranged, disorder)
		require.Zero(t, late, "seed %d", seed)
		require.Equal(t, want, got, "seed %d", seed)
		_, late = begun(disarranged, 0)
		lateWithout += late
	}
	require.Positive(t, lateWithout, "without a lateness some are late")
}

// TestS20WatermarkOfEarlierBatches: the times of a batch do not count for its own watermark (trap 10).
func TestS20WatermarkOfEarlierBatches(t *testing.T) {
	day := func(n int, from, to string) stream.Record {
		return stream.Record{Value: fmt.Appendf(nil, `{"op":"+","from":%q,"to":%q,"label":"T","ts":%d}`, from, to,
			n*86_400_000)}
	}
	time := stream.TimeOptions{Retention: eventtime.Retention{{Label: "*", For: 30 * 86_400_000}}}
	days := []stream.Record{day(0, "a", "b"), day(1, "b", "c"), day(2, "c", "a"), day(40, "x", "y")}
	w, out := expiring(t, days, time)
	require.NoError(t, w.run(nil))
	var ops []string
	for _, r := range out.Visible().Main {
		if r.Query == "ring" {
			ops = append(ops, fmt.Sprint(r.Batch, r.Sign))
		}
	}
	require.Equal(t, []string{"4 +", "4 +", "4 +", "5 -", "5 -", "5 -"}, ops, "the ring comes, and goes with a tick")
}

// TestS20RetentionChanges: another retention is a batch of its own, bears on later batches, and no horizon falls.
func TestS20RetentionChanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 20))
	w, out := expiring(t, timed(rng, 20, 20), keep(100, 100))
	require.NoError(t, w.run(nil))
	last := w.store.Committed()[len(w.store.Committed())-1]
	edges := len(edgesAfter(w.store.Committed()))
	require.Positive(t, edges)

	again := func(time stream.TimeOptions) []stream.Batch {
		change := w.change
		w.change = func(o *stream.PipelineOptions) {
			change(o)
			o.Time = time
			o.Startup = nil
		}
		n := len(w.store.Committed())
		require.NoError(t, w.run(nil))
		return w.store.Committed()[n:]
	}
	shorter := keep(1, 100)
	batches := again(shorter)
	require.Empty(t, batches[0].Updates)
	require.Equal(t, &shorter.Retention, batches[0].Time.Retention)
	require.Equal(t, last.Horizons, batches[0].Horizons, "the change itself expires nothing")
	require.Greater(t, len(batches), 1, "ticks follow")
	horizon := func(b *stream.Batch, label string) int64 {
		i := slices.IndexFunc(b.Horizons, func(h dyngraph.Horizon) bool { return h.Label == label })
		require.GreaterOrEqual(t, i, 0)
		return b.Horizons[i].Before
	}
	end := &batches[len(batches)-1]
	require.Equal(t, end.Time.Watermark.TS-1, horizon(end, "T"))

	batches = again(stream.TimeOptions{Retention: eventtime.Retention{{Label: "*", For: 1000}}})
	require.Len(t, batches, 1)
	require.Equal(t, horizon(end, "T"), horizon(&batches[0], "T"), "a label that is no longer named does not fall back")
	require.Empty(t, again(stream.TimeOptions{Retention: eventtime.Retention{{Label: "*", For: 1000}}}), "no change")
	batches = again(stream.TimeOptions{})
	require.Len(t, batches, 1)
	require.Empty(t, *batches[0].Time.Retention)
	require.Contains(t, string(out.Visible().Control[len(out.Visible().Control)-1].Value), `"retention":{}`)
	require.Empty(t, again(stream.TimeOptions{}))
}

// TestS20Ahead: a message with a time too far ahead of its record's is refused as a whole.
func TestS20Ahead(t *testing.T) {
	at := time.UnixMilli(1000)
	rec := func(ts string) stream.Record {
		return stream.Record{Time: at, Value: fmt.Appendf(nil, `[{"op":"+","from":"a","to":"b"},`+
			`{"op":"+","from":"b","to":"c","label":"T","ts":%s}]`, ts)}
	}
	time := keep(10, 10)
	time.MaxAhead = 5
	timeless := stream.Record{Value: rec("9223372036854775807").Value}
	w, out := expiring(t, []stream.Record{rec("1005"), rec("1006"), rec("9223372036854775807"),
		rec("-9223372036854775808")}, time)
	require.NoError(t, w.run(nil))
	dead := out.Visible().DeadLetters
	require.Len(t, dead, 2)
	for _, r := range dead {
		require.Contains(t, string(r.Value), `"element":1,"reason":"ts_ahead"`)
	}
	w, out = expiring(t, []stream.Record{timeless}, time)
	require.NoError(t, w.run(nil))
	require.Empty(t, out.Visible().DeadLetters, "a record without time has no bound")
}
