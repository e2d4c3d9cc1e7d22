package checkpoint

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream"
	"motifd/stream/eventtime"
)

func randomTS(rng *rand.Rand) int64 {
	return []int64{0, math.MinInt64, math.MaxInt64, rng.Int64(), -rng.Int64()}[rng.IntN(5)]
}

func randomLabels(rng *rand.Rand) []string {
	return [][]string{nil, {""}, {"*"}, {"", "*", "A", "Z\xff"}}[rng.IntN(4)]
}

func randomRetention(rng *rand.Rand) (r eventtime.Retention) {
	for _, l := range randomLabels(rng) {
		r = append(r, eventtime.Keep{Label: l, For: 1 + rng.Int64N(math.MaxInt64)})
	}
	return r
}

func randomHorizons(rng *rand.Rand) (hs []dyngraph.Horizon) {
	for _, l := range randomLabels(rng) {
		hs = append(hs, dyngraph.Horizon{Label: l, Before: randomTS(rng)})
	}
	return hs
}

func randomWatermark(rng *rand.Rand) (w eventtime.Watermark) {
	if w.Known = rng.IntN(3) > 0; w.Known {
		w.TS = randomTS(rng)
	}
	return w
}

func randomTime(rng *rand.Rand) *eventtime.State {
	s := &eventtime.State{Retention: randomRetention(rng), Watermark: randomWatermark(rng),
		Horizons: randomHorizons(rng)}
	for id := range int32(rng.IntN(4)) {
		p := eventtime.Partition{ID: 3*id - 1, HasTS: rng.IntN(2) == 0}
		if p.HasTS {
			p.Greatest = randomTS(rng)
		}
		s.Partitions = append(s.Partitions, p)
	}
	return s
}

// time gives a batch, its report and the state after it some event time.
func (h *history) time(rng *rand.Rand, b *stream.Batch, info *stream.CommitInfo) {
	info.Time = randomTime(rng)
	if b.Change != nil || b.Declaration != nil {
		return
	}
	b.Time, b.Horizons = &eventtime.Cut{Watermark: randomWatermark(rng)}, randomHorizons(rng)
	b.Isolated = true
	for info.Report == nil && len(info.Effect.Declared) > 0 { // which is beside the report's time
		info.Report = randomReport(rng, b.Number)
	}
	if rng.IntN(3) == 0 {
		r := randomRetention(rng)
		b.Time.Retention = &r
	}
	if info.Report == nil {
		return
	}
	r := &stream.TimeReport{Expired: rng.IntN(9), Late: rng.IntN(1 << 40)}
	if rng.IntN(2) == 0 {
		ts := randomTS(rng)
		r.Watermark = &ts
	}
	if rng.IntN(2) == 0 {
		r.Horizons = map[string]int64{"": randomTS(rng), "A": randomTS(rng)}
	}
	if rng.IntN(3) == 0 {
		r.Retention = &map[string]int64{"*": 1}
	}
	info.Report.Time = r
}

// TestFormatOfTime: a checkpoint gets the format that has event time with the first batch that has some, and not
// before.
func TestFormatOfTime(t *testing.T) {
	fs := vfs.NewMem()
	s, err := Open(testDir, Options{FS: fs})
	require.NoError(t, err)
	step := func(number uint64, cut *eventtime.Cut, at *eventtime.State, format int) {
		b := &stream.Batch{Time: cut}
		b.Number = number
		require.NoError(t, s.Intent(context.Background(), b))
		require.NoError(t, s.Commit(context.Background(), &stream.CommitInfo{Batch: number, Time: at,
			Effect: dyngraph.Effect{LabelsBefore: 1}}))
		require.NoError(t, s.Close())
		info, err := Info(testDir, fs)
		require.NoError(t, err)
		require.Equal(t, format, info.Format)
		require.Equal(t, at, info.Time)
		s, err = Open(testDir, Options{FS: fs})
		require.NoError(t, err)
	}
	at := &eventtime.State{Retention: eventtime.Retention{{Label: "*", For: 7}},
		Watermark: eventtime.Watermark{Known: true, TS: 9}}
	step(1, nil, nil, plainFormat)
	step(2, &eventtime.Cut{Watermark: at.Watermark}, at, timeFormat)
	step(3, nil, nil, timeFormat)
	require.NoError(t, s.Close())
}

// TestFormatOfNegations: so does one with negations.
func TestFormatOfNegations(t *testing.T) {
	q := &matcher.Query{Negations: []matcher.Negation{{}}}
	b := &stream.Batch{}
	b.Change = &matcher.QueryChange{Add: q}
	require.EqualValues(t, queryFormat, formatOf(b))
	q.Negations = nil
	require.EqualValues(t, plainFormat, formatOf(b))
}

// TestFormatOfQueries: a checkpoint gets the format of queries with paths with the first one, and a query without them
// leaves it as it is.
func TestFormatOfQueries(t *testing.T) {
	fs := vfs.NewMem()
	for number, hops := range []*matcher.Hops{nil, {Least: 1, Most: 2}, nil} {
		s, err := Open(testDir, Options{FS: fs})
		require.NoError(t, err)
		b := &stream.Batch{}
		b.Number, b.Change = uint64(number)+1, &matcher.QueryChange{Add: &matcher.Query{Name: "q", Version: 1,
			Edges: []matcher.QueryEdge{{Name: "t", Hops: hops}}}}
		require.NoError(t, s.Intent(t.Context(), b))
		require.NoError(t, s.Commit(t.Context(), &stream.CommitInfo{Batch: b.Number,
			Effect: dyngraph.Effect{LabelsBefore: 1}}))
		require.NoError(t, s.Close())
		info, err := Info(testDir, fs)
		require.NoError(t, err)
		require.Equal(t, []int{plainFormat, queryFormat, queryFormat}[number], info.Format)
	}
}
