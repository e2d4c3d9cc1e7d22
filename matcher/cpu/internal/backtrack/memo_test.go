package backtrack

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher/cpu/internal/work"
	"motifd/matcher/matchertest"
)

// TestMemoIsSharedByWorkers: what one worker found of a suffix the others know, as it was, however small the table
// is, from search to search.
func TestMemoIsSharedByWorkers(t *testing.T) {
	var replaced bool
	var outgrew atomic.Bool // what it was begun in
	seen := func() bool { return replaced && outgrew.Load() }
	matchertest.ForSeedsUntil(t, 30, seen, func(t *testing.T, rng *rand.Rand) {
		b := &Shared{Work: &work.Options{Threads: 3}}
		b.Options.Memo.Words = 100 << rng.IntN(12)
		longest := 1 + rng.IntN(1000)
		// What is found depends on the suffix, the vertex and the search alone.
		found := func(search, kind uint32, v dyngraph.VertexID) (words []uint32, staged, long bool) {
			r := rand.New(rand.NewPCG(uint64(search)<<32|uint64(kind), uint64(v)))
			for range r.IntN(longest) {
				words = append(words, r.Uint32())
			}
			return words, r.IntN(2) == 0, r.IntN(8) == 0
		}
		var known atomic.Int64 // of others
		for search := range uint32(3) {
			shared := Memo{Shared: b}
			var first *memoTable
			var mine [3]map[[2]uint32]bool
			var workers sync.WaitGroup
			for i := range mine {
				seed := rng.Uint64()
				mine[i] = map[[2]uint32]bool{}
				x := &suffixes{}
				x.share(&shared)
				run := func() {
					rng := rand.New(rand.NewPCG(seed, 0))
					for range 200 {
						kind, v := rng.Uint32N(3), dyngraph.VertexID(rng.Uint32N(60))
						want, staged, long := found(search, kind, v)
						words := x.lookUp(kind, v)
						if words == nil {
							x.begin(kind, v)
							x.staged, x.long = staged, long
							x.words = append(x.words, want...)
							if len(x.words) > len(x.room) && len(x.room) > 0 {
								outgrew.Store(true)
							}
							words = x.keep()
							mine[i][[2]uint32{kind, uint32(v)}] = true
						} else if !mine[i][[2]uint32{kind, uint32(v)}] {
							known.Add(1)
						}
						if long {
							want = nil
						}
						assert.Equal(t, staged, words[1]&memoStaged != 0)
						assert.Equal(t, long, words[1]&memoLong != 0)
						assert.True(t, slices.Equal(want, words[memoHead:]))
					}
				}
				if i == 0 { // so that there is something to know
					run()
					first = shared.now.Load()
				} else {
					workers.Go(run)
				}
			}
			workers.Wait()
			replaced = replaced || shared.now.Load() != first
			shared.Release()
			require.Len(t, b.memos, 1)
		}
		if b.Options.Memo.Words > 3*3*60*longest {
			require.Positive(t, known.Load())
		}
	})
}
