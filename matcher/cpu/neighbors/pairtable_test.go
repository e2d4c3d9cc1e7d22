package neighbors

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher/cpu/program"
	"motifd/matcher/matchertest"
)

// pairCommon is what a pair has in common.
type pairCommon struct {
	nbr []dyngraph.VertexID
	ent []dyngraph.Entry
}

// TestPairs plays the table against a map that never forgets: what it holds is what was kept last under the present
// stamps.
func TestPairs(t *testing.T) {
	matchertest.ForSeeds(t, 20, func(t *testing.T, rng *rand.Rand) {
		const vertices = 300
		var f epochs
		f.grow(vertices)
		c := Pairs{epochs: &f, options: &Options{}, shared: &sharedPairs{}}
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
			common := c.Find(p.kind, p.a, p.b, [2]program.EpochKey{l, l})
			if common == 0 {
				list := make([]dyngraph.VertexID, rng.IntN(5))
				ents := [][]dyngraph.Entry{make([]dyngraph.Entry, 6), make([]dyngraph.Entry, 7)}
				for i := range list {
					list[i] = dyngraph.VertexID(rng.Uint32())
					ents[1][i] = dyngraph.Entry(rng.Uint32())
				}
				c.Keep(p.kind, p.a, p.b, [2]program.EpochKey{l, l}, list, ents)
				want[p] = pairCommon{list, ents[1][:len(list)]}
				continue
			}
			hits++
			got := pairCommon{}
			if common != Nothing {
				got.nbr, _, got.ent, _ = c.At(common)
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
	var f epochs
	f.grow(1)
	c := Pairs{epochs: &f, options: &Options{}, shared: &sharedPairs{}}
	c.renew()
	looked := 0
	const tries = 40 * pairTries
	for i := range tries {
		if c.Worth(0) {
			looked++
			common := c.Find(0, 0, 0, [2]program.EpochKey{})
			require.Equal(t, common != 0, i > 0)
			if common != 0 {
				c.use[0].hits-- // as if it were another pair
			} else {
				c.Keep(0, 0, 0, [2]program.EpochKey{}, nil, [][]dyngraph.Entry{nil, nil})
			}
		}
	}
	require.Less(t, looked, tries/8)
	require.Greater(t, looked, pairTries)
}

// TestSharedPairs: what several workers remember of pairs at the same time, in a table that grows and starts over, is
// what was kept for them.
func TestSharedPairs(t *testing.T) {
	matchertest.ForSeeds(t, 10, func(t *testing.T, rng *rand.Rand) {
		const vertices, kinds = 200, 3
		var f epochs
		f.grow(vertices)
		options, shared := &Options{PairEntries: 1000 + rng.IntN(100_000)}, &sharedPairs{}
		var mu sync.Mutex
		hits := 0
		for range 4 {
			err := inParallel(rng, 4, func(rng *rand.Rand) error {
				c := Pairs{epochs: &f, options: options, shared: shared, table: shared.now.Load()}
				if c.table == nil {
					c.renew()
				}
				for range 10_000 {
					kind := program.PairKey(rng.IntN(kinds))
					a, b := dyngraph.VertexID(rng.IntN(vertices)), dyngraph.VertexID(rng.IntN(20))
					l := program.EpochKey{Label: program.LabelEpoch(dyngraph.LabelID(kind)), List: program.ListEpoch(int(kind))}
					// What they have in common follows from them and their epochs.
					h := (uint64(a)<<32 | uint64(b)<<16 | uint64(kind)) ^ uint64(f.of(a, l)+f.of(b, l))<<40
					own := rand.New(rand.NewPCG(h, 1))
					nbr := make([]dyngraph.VertexID, own.IntN(6))
					ents := [][]dyngraph.Entry{make([]dyngraph.Entry, 6), make([]dyngraph.Entry, 6)}
					staged := false
					for i := range nbr {
						nbr[i] = dyngraph.VertexID(own.Uint32())
						ents[0][i], ents[1][i] = dyngraph.Entry(own.Uint32()), dyngraph.Entry(own.Uint32())
						staged = staged || ents[0][i].Staged() || ents[1][i].Staged()
					}
					common := c.Find(kind, a, b, [2]program.EpochKey{l, l})
					if common == 0 {
						if some := c.Keep(kind, a, b, [2]program.EpochKey{l, l}, nbr, ents); some != staged {
							return fmt.Errorf("%v are not staged: %v", ents, !staged)
						}
						continue
					}
					mu.Lock()
					hits++
					mu.Unlock()
					var got pairCommon
					var first []dyngraph.Entry
					some := false
					if common != Nothing {
						got.nbr, first, got.ent, some = c.At(common)
					}
					n := len(nbr)
					if !slices.Equal(nbr, got.nbr) || !slices.Equal(ents[0][:n], first) || !slices.Equal(ents[1][:n], got.ent) ||
						some != staged {
						return fmt.Errorf("%v %v are remembered as %v %v", nbr, ents, got, first)
					}
				}
				return nil
			})
			require.NoError(t, err)
			for i := range f.counters {
				f.counters[i] += rng.Uint32N(2)
			}
		}
		require.Positive(t, hits)
	})
}

// inParallel runs a function on several goroutines, each with a random source of its own, and returns the first thing
// that one of them complains of.
func inParallel(rng *rand.Rand, n int, work func(rng *rand.Rand) error) (err error) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range n {
		own := rand.New(rand.NewPCG(rng.Uint64(), 0))
		wg.Go(func() {
			if e := work(own); e != nil {
				mu.Lock()
				defer mu.Unlock()
				err = e
			}
		})
	}
	wg.Wait()
	return err
}
