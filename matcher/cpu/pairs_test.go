package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher/cpu/program"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// TestS7RememberedPairsPutOutTheSame: a search that remembers what two vertices have in common, over many batches, puts out what one does
// that finds it each time.
func TestS7RememberedPairsPutOutTheSame(t *testing.T) {
	remembered := 0
	matchertest.ForSeedsUntil(t, 60, func() bool { return remembered > 0 }, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 6)
		forgets, remembers := New(Options{Threads: 1, SpillDir: t.TempDir()}), eager(t, 1+rng.IntN(2), 1<<20)
		forgets.forgets = true
		x := matchertest.NewBench(t, c.Directed, plan.New(), c.Queries, forgets, remembers)
		for _, batch := range c.Batches {
			delta := x.Stage(batch)
			requests := x.Requests(bounds(rng, delta))
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				sameAnswer(t, x.Search(forgets, sign, requests), x.Search(remembers, sign, requests))
				for _, s := range remembers.idle {
					for _, u := range s.pairs.use {
						remembered += int(u.hits)
					}
				}
			}
			x.Commit()
		}
	})
}

// pairCommon is what a pair has in common.
type pairCommon struct {
	nbr []dyngraph.VertexID
	ent []dyngraph.Entry
}

// TestPairs plays the table against a map that never forgets: what it holds is what was kept last under the present stamps.
func TestPairs(t *testing.T) {
	matchertest.ForSeeds(t, 20, func(t *testing.T, rng *rand.Rand) {
		const vertices = 300
		var f freshness
		f.grow(vertices)
		c := pairs{fresh: &f, shared: &sharedPairs{}}
		c.renew()
		type pair struct {
			kind program.PairKey
			a, b dyngraph.VertexID
		}
		want := map[pair]pairCommon{}
		hits := 0
		for range 40_000 {
			p := pair{program.PairKey(rng.IntN(3)), dyngraph.VertexID(rng.IntN(vertices)), dyngraph.VertexID(rng.IntN(20))}
			l := program.EpochKey{Label: program.LabelEpoch(dyngraph.LabelID(p.kind)), List: program.ListEpoch(int(p.kind))}
			if rng.IntN(50) == 0 {
				for v := range dyngraph.VertexID(vertices) {
					delete(want, pair{p.kind, p.a, v})
					delete(want, pair{p.kind, v, p.a})
				}
				if rng.IntN(2) == 0 {
					*f.at(p.a, l.Label)++
				} else {
					*f.at(p.a, l.List)++
				}
			}
			common := c.find(p.kind, p.a, p.b, [2]program.EpochKey{l, l})
			if common == 0 {
				list := make([]dyngraph.VertexID, rng.IntN(5))
				ents := [][]dyngraph.Entry{make([]dyngraph.Entry, 6), make([]dyngraph.Entry, 7)}
				for i := range list {
					list[i] = dyngraph.VertexID(rng.Uint32())
					ents[1][i] = dyngraph.Entry(rng.Uint32())
				}
				c.keep(p.kind, p.a, p.b, [2]program.EpochKey{l, l}, list, ents)
				want[p] = pairCommon{list, ents[1][:len(list)]}
				continue
			}
			hits++
			got := pairCommon{}
			if common != nothing {
				got.nbr, _, got.ent, _ = c.at(common)
			}
			if l, known := want[p]; !known || !slices.Equal(l.nbr, got.nbr) || !slices.Equal(l.ent, got.ent) {
				t.Fatalf("%v of %v, remembered %v", l, p, got)
			}
		}
		require.Positive(t, hits)
	})
}

// TestPairsThatDoNotComeAgain: kinds of pairs that are hardly ever met twice are left alone for most of the time.
func TestPairsThatDoNotComeAgain(t *testing.T) {
	var f freshness
	f.grow(1)
	c := pairs{fresh: &f, shared: &sharedPairs{}}
	c.renew()
	looked := 0
	const tries = 40 * pairTries
	for i := range tries {
		if c.worth(0) {
			looked++
			common := c.find(0, 0, 0, [2]program.EpochKey{})
			require.Equal(t, common != 0, i > 0)
			if common != 0 {
				c.use[0].hits-- // as if it were another pair
			} else {
				c.keep(0, 0, 0, [2]program.EpochKey{}, nil, [][]dyngraph.Entry{nil, nil})
			}
		}
	}
	require.Less(t, looked, tries/8)
	require.Greater(t, looked, pairTries)
}
