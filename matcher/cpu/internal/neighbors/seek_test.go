package neighbors

import (
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/dyngraph"
)

func TestSeekAgainstScan(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		nbr := make([]dyngraph.VertexID, rng.IntN(70))
		for i := range nbr {
			nbr[i] = dyngraph.VertexID(rng.IntN(100))
		}
		slices.Sort(nbr)
		w, from := dyngraph.VertexID(rng.IntN(102)), 0
		for from < len(nbr) && nbr[from] < w && rng.IntN(3) > 0 {
			from++
		}
		want := from
		for want < len(nbr) && nbr[want] < w {
			want++
		}
		if got := Seek(nbr, from, w); got != want {
			t.Fatalf("seek(%v, %d, %d) = %d, want %d", nbr, from, w, got, want)
		}
	}
}
