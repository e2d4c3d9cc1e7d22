package cpu

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher/matchertest"
)

// TestShelvesKeepNumbersApart lets branches come and go while ids become more, and compares their numbers with those in a map for each.
func TestShelvesKeepNumbersApart(t *testing.T) {
	again, beside := 0, 0
	matchertest.ForSeeds(t, 200, func(t *testing.T, rng *rand.Rand) {
		b, n, made := branches{all: map[string]*branch{}}, 0, 0
		want := map[*branch]map[dyngraph.VertexID]uint64{}
		for range 30 {
			n += rng.IntN(4)
			var anew []*branch
			for range rng.IntN(8) {
				br := &branch{key: fmt.Sprint(made), root: dyngraph.LabelID(rng.IntN(3))}
				if rng.IntN(4) == 0 {
					br.ring = &ring{}
				}
				anew, made = append(anew, br), made+1
				b.all[br.key], want[br] = br, map[dyngraph.VertexID]uint64{}
			}
			places := 0
			for _, s := range b.shelves {
				places += len(s.places)
			}
			b.shelve(anew)
			for _, br := range anew {
				br.clear(rng.IntN(n + 1))
			}
			for _, s := range b.shelves {
				places -= len(s.places)
				require.LessOrEqual(t, len(s.places), shelfPlaces)
				if len(s.places) > 1 {
					beside++
				}
			}
			require.LessOrEqual(t, -places, len(anew))
			again += len(anew) + places
			for _, br := range b.all {
				br.grow(n)
				require.Contains(t, br.shelf.places, br)
				require.Equal(t, br.root, br.shelf.root)
				if n > 0 {
					v := dyngraph.VertexID(rng.IntN(n))
					br.cell(v).n = rng.Uint64()
					want[br][v] = br.cell(v).n
				}
			}
			for _, br := range b.all {
				for v := range dyngraph.VertexID(n) {
					number, known := want[br][v]
					if !known {
						number = br.unasked()
					}
					require.Equal(t, number, br.cell(v).n)
				}
			}
			for key := range b.all {
				if rng.IntN(4) == 0 {
					delete(b.all, key)
				}
			}
			b.unshelve()
			for _, s := range b.shelves {
				kept := 0
				for _, br := range s.places {
					if br != nil {
						require.Same(t, br, b.all[br.key])
						kept++
					}
				}
				require.Positive(t, kept)
			}
		}
	})
	require.Positive(t, again, "no place was used again")
	require.Positive(t, beside)
}
