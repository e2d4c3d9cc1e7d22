package cpu

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/stream/tempfile"
)

// TestFocusFindsTheFirstRows has canonical searches pause after few steps, also in the middle of the rows of an image,
// and compares the first rows of a view with those of a search for all rows.
func TestFocusFindsTheFirstRows(t *testing.T) {
	focused := int64(0)
	matchertest.ForSeedsUntil(t, 30, func() bool { return focused > 0 }, func(t *testing.T, rng *rand.Rand) {
		us := clustered(rng, 60, 160, 1+rng.IntN(3))
		q := newTextbook(us).walk(rng, 4+rng.IntN(4), rng.IntN(2) == 0)
		if q == nil {
			return
		}
		q.Unit = []matcher.Unit{matcher.Embeddings, matcher.Subgraphs}[rng.IntN(2)]
		x := newBenchOf(t, dyngraph.NewGraph(dyngraph.Options{}), us, q,
			Options{Threads: 1 + rng.IntN(2), TempFiles: tempfile.In(t.TempDir())})
		x.b.neverBegins, x.b.shared.Options.CanonicalFirst = true, true
		rows := func(limit uint64) (lines []string) {
			view := x.g.View(dyngraph.New)
			_, err := x.b.Enumerate(t.Context(), dyngraph.New, x.plan, matcher.WantRows, limit, nil,
				func(r matcher.Rows) error {
					for i := range r.Len() {
						lines = append(lines, matchertest.RowLine(view, r, i))
					}
					return nil
				})
			require.NoError(t, err)
			return lines
		}
		all := rows(0)
		for range 5 {
			x.b.focused = 1 + rng.Uint64N(200)
			limit := 1 + rng.Uint64N(uint64(len(all)+10))
			require.Equal(t, all[:min(limit, uint64(len(all)))], rows(limit), "limit %d, %d steps: %+v %+v", limit,
				x.b.focused, q.Vertices, q.Edges)
		}
		focused += x.b.focuses.Load()
	})
}
