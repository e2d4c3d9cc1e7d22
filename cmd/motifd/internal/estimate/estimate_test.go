package estimate

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream"
)

// step is a batch of some updates, in which queries took steps.
func step(updates []dyngraph.Update, queries ...matcher.QuerySummary) stream.StepStats {
	b := &stream.Batch{}
	b.Updates = updates
	return stream.StepStats{Batch: b, Summary: &matcher.Summary{Queries: queries}}
}

// TestReportOfAStream compares a report with the same figures, computed in a simple way, of a random stream.
func TestReportOfAStream(t *testing.T) {
	const seed = 22
	rng := rand.New(rand.NewPCG(seed, 1))
	t.Log("seed", seed)
	q := &matcher.Query{Name: "q"}
	var each []effort
	var all []uint64 // steps by update
	at := map[string]uint64{}
	var u Updates
	b := Batches{Size: 500}
	var open matcher.QuerySummary
	var pending []dyngraph.Update
	positives := uint64(0)
	for i := range 2600 {
		x := dyngraph.Update{From: string(rune('a' + rng.IntN(5))), To: string(rune('f' + rng.IntN(5))), Label: "T"}
		steps := uint64(0)
		if rng.IntN(3) > 0 {
			steps = rng.Uint64N(1000)
			each = append(each, effort{steps, 2 * steps})
			at[x.From], at[x.To] = at[x.From]+steps, at[x.To]+steps
			u.Step(step([]dyngraph.Update{x}, matcher.QuerySummary{Query: q, Steps: steps, SearchNS: int64(2 * steps)}))
		} else {
			u.Step(step([]dyngraph.Update{x}))
		}
		all = append(all, steps)
		open.Query, open.Steps = q, open.Steps+steps
		if steps > 990 {
			open.Positive = open.Positive.Add(matcher.CountOf(1))
			positives++
		}
		if pending = append(pending, x); len(pending) == 500 || i == 2599 {
			b.Step(step(pending, open))
			pending, open = nil, matcher.QuerySummary{}
		}
	}
	// Batches that are none of the input, and one in which edges expire alone.
	change := step(nil, matcher.QuerySummary{Query: q, Steps: 1 << 40})
	change.Batch.Change = &matcher.QueryChange{Add: q}
	u.Step(change)
	b.Step(change)
	u.Step(step(nil, matcher.QuerySummary{Query: q, Steps: 1 << 40}))

	r := New(&u, &b, dyngraph.NewGraph(dyngraph.Options{}), []Subject{{Name: "idle"}, {Name: "q"}})
	require.Equal(t, []string{"q", "idle"}, []string{r.Queries[0].Name, r.Queries[1].Name}, "the most expensive first")
	got := r.Queries[0]
	require.Equal(t, uint64(2600), r.Sample.Updates)
	require.Equal(t, uint64(len(each)), got.Concerned)
	require.InDelta(t, float64(len(each))/2600, got.Share, 1e-9)
	sum := uint64(0)
	var steps []uint64
	for _, e := range each {
		steps, sum = append(steps, e.steps), sum+e.steps
	}
	slices.Sort(steps)
	require.InDelta(t, steps[(len(steps)-1)/2], got.Update.Steps.Median, 0)
	require.InDelta(t, steps[len(steps)-1], got.Update.Steps.Worst, 0)
	require.InDelta(t, 2e-9*got.Update.Steps.Worst, got.Update.Seconds.Worst, 1e-12)
	require.Equal(t, steps[len(steps)-1], got.Worst.Steps)
	for key, n := range at {
		require.LessOrEqual(t, n, at[got.Vertex.Key], key)
	}
	require.InDelta(t, float64(at[got.Vertex.Key])/float64(sum), got.Vertex.Share, 1e-9)
	// Blocks of two batches; the last 600 updates are no block.
	var blocks [2]uint64
	for i, n := range all[:2000] {
		blocks[i/1000] += n
	}
	require.InDelta(t, min(blocks[0], blocks[1]), got.Thousand.Steps.Median, 0)
	require.InDelta(t, max(blocks[0], blocks[1]), got.Thousand.Steps.Worst, 0)
	require.InDelta(t, float64(positives)/2.6, got.Positive, 1e-9)
	require.Zero(t, r.Queries[1].Update)
	var text bytes.Buffer
	require.NoError(t, r.Print(&text))
	require.Contains(t, text.String(), "costliest vertex: "+got.Vertex.Key)
}

// TestReportOfAShortSample holds that fewer than a thousand updates are scaled to a thousand, and that each kind of
// limit is told.
func TestReportOfAShortSample(t *testing.T) {
	q := &matcher.Query{Name: "q"}
	b := Batches{Size: 100}
	for range 2 {
		b.Step(step(make([]dyngraph.Update, 100), matcher.QuerySummary{Query: q, Steps: 30, Skipped: 2,
			Cause: matcher.CauseMatches, Truncated: true, Once: 4}))
	}
	b.Step(step(make([]dyngraph.Update, 50), matcher.QuerySummary{Query: q,
		Suspended: &matcher.Decision{Cause: matcher.CauseSteps}}))
	r := New(&Updates{}, &b, dyngraph.NewGraph(dyngraph.Options{}), []Subject{{Name: "q", Warnings: []string{"beware"},
		Kept: matcher.Kept{Hubs: 3, Bytes: 2048}}})
	require.InDelta(t, 240, r.Queries[0].Thousand.Steps.Worst, 0)
	require.Equal(t, []Limit{{Name: "group_matches", Groups: 4}, {Name: "max_matches_per_batch", Batches: 2},
		{Name: "work_budget", Suspended: true}}, r.Queries[0].Limits)
	var text bytes.Buffer
	require.NoError(t, r.Print(&text))
	for _, says := range []string{"group_matches, 4 groups left out", "max_matches_per_batch, in 2 batches",
		"work_budget, and the query is suspended", "state: 3 hubs, 2.0 KiB", "once: 8 positives dropped",
		"warning: beware"} {
		require.Contains(t, text.String(), says)
	}
}
