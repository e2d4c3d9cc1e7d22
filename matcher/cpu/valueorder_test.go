package cpu

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

// TestA16ValueOrdersFindTheSame: with a value order for every list a search finds what it finds without value orders,
// in as many steps. The batches insert, delete and replace edges, and revise vertices.
func TestA16ValueOrdersFindTheSame(t *testing.T) {
	matchertest.NotUnderRace(t, "TestS7AnyNumberOfThreadsPutsOutTheSame has the threads")
	narrowed, rows, several := uint64(0), 0, false
	seen := func() bool {
		return narrowed > 200 && rows > 1000 && several
	}
	matchertest.ForSeedsUntil(t, 30, seen, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCaseWhere(rng, 6, false)
		threads := 1 + rng.IntN(3)
		without, with := New(Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}),
			New(Options{Threads: threads, TempFiles: tempfile.In(t.TempDir())})
		with.shared.Options.ValueOrderLeast = 1
		x := matchertest.NewBenchOf(t, c.Graph(), plan.New(), c.Queries, without, with)
		for _, batch := range c.Batches {
			x.Stage(batch)
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				requests := x.Requests(func(_ int, r *matcher.Request) { r.Want = matcher.WantRows })
				want, got := x.Search(without, sign, requests), x.Search(with, sign, requests)
				sameAnswer(t, want, got)
				rows += len(want.Rows)
				for i := range want.Results {
					if threads == 1 {
						require.Equal(t, want.Results[i].Steps, got.Results[i].Steps)
					}
				}
				several = several || threads > 1
			}
			x.Commit()
		}
		for _, s := range with.idle {
			narrowed += s.Narrowed()
		}
	})
}
