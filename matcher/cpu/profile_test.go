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

// TestProfile plays batches and searches of whole graphs with a profile against those without: the rows are the same,
// and with one thread the steps. Behind the last steps there are as many partial matches as rows; of a whole graph the
// steps of all levels are the steps of the search.
func TestProfile(t *testing.T) {
	var anchored, members, spaces, several int
	seen := func() bool { return anchored > 0 && members > 0 && spaces > 0 && several > 0 }
	matchertest.ForSeedsUntil(t, 40, seen, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCaseOfAny(rng, 3)
		for _, q := range c.Queries {
			q.Unit = matcher.Unit(rng.IntN(2))
		}
		threads, spacious := 1+rng.IntN(2), rng.IntN(2) == 0
		make := func(p *Profile) *Backend {
			b := New(Options{Threads: threads, TempFiles: tempfile.In(t.TempDir()), Profile: p})
			b.spaces, b.work.ShareEvery, b.neverBegins = spacious, 1, true // what is given up is in the profile, too
			return b
		}
		profile := new(Profile)
		plain, profiled := make(nil), make(profile)
		x := matchertest.NewBenchOf(t, c.Graph(), plan.New(), c.Queries, plain, profiled)
		rows, whole, steps := uint64(0), uint64(0), uint64(0) // whole: of rows, those of whole graphs
		for _, batch := range c.Batches[:min(len(c.Batches), 8)] {
			x.Stage(batch)
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				reqs := x.Requests(nil)
				want, got := x.Search(plain, sign, reqs), x.Search(profiled, sign, reqs)
				require.Equal(t, want.Rows, got.Rows)
				for i := range want.Results {
					require.Equal(t, want.Results[i].Count, got.Results[i].Count)
					if threads == 1 {
						require.Equal(t, want.Results[i].Steps, got.Results[i].Steps)
					}
				}
				rows += uint64(len(got.Rows))
			}
			for _, p := range x.Plans() {
				n, res := compareWhole(t, x, plain, profiled, p, dyngraph.New, matcher.WantRows, 0)
				rows, whole, steps = rows+uint64(n), whole+uint64(n), steps+res.Steps
			}
			x.Commit()
		}
		last, lastWhole, tried := uint64(0), uint64(0), uint64(0)
		for _, o := range profile.Orders() {
			if o.Anchor >= 0 {
				anchored++
			}
			if o.Shared {
				members++
				continue
			}
			if o.Space {
				spaces++
			}
			n := o.Levels[len(o.Levels)-1].Mapped
			last += n
			for _, l := range o.Levels {
				require.Equal(t, o.Space, l.Fit >= 0)
				if o.Space && o.Anchor < 0 {
					tried += l.Tried
				}
			}
			if o.Space && o.Anchor < 0 {
				lastWhole += n
			}
		}
		require.Equal(t, rows, last)
		if spacious {
			require.Equal(t, whole, lastWhole)
			if threads == 1 {
				require.Equal(t, steps, tried)
			}
		}
		several += threads - 1
	})
}

// TestProfileOfCounts: a count by components tells of the counts that were looked up, one without a profile of nothing.
func TestProfileOfCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	us := clustered(rng, 60, 300, 2)
	q := newTextbook(us).walk(rng, 6, false)
	require.NotNil(t, q)
	q.Emit = matcher.EmitCounts
	profile := new(Profile)
	x := newBench(t, us, q, Options{Threads: 1, TempFiles: tempfile.In(t.TempDir()), Profile: profile})
	x.b.sumsFirst = true
	res, err := x.b.Enumerate(t.Context(), dyngraph.New, x.plan, matcher.WantCount, 0, nil, nil)
	require.NoError(t, err)
	counts := profile.Counts()
	require.Len(t, counts, 1)
	require.Equal(t, res.Steps, counts[0].Steps)
	require.Positive(t, counts[0].Terms)
	require.Positive(t, counts[0].Known)
	require.Greater(t, counts[0].Asked, counts[0].Known)
	require.Empty(t, profile.Orders())
}
