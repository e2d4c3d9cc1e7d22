package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
)

// TestSorterAgainstSort plays the spilling, limited, merged sorter against one sort in memory.
func TestSorterAgainstSort(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 100 {
		order := rowOrder{vertices: 2 + rng.IntN(2), edges: 1, simple: true}
		w := order.width()
		workers := 1 + rng.IntN(3)
		limit := uint64(0)
		if rng.IntN(2) == 0 {
			limit = 1 + rng.Uint64N(50)
		}
		var all []uint32
		var result sorted
		result.order = order
		for range workers {
			s := &sorter{order: order, dir: t.TempDir(), memory: 64 + rng.IntN(8192), limit: limit}
			for range rng.IntN(3000) {
				row := make([]uint32, w)
				for i := range order.vertices {
					row[i] = rng.Uint32N(1 << (1 + rng.IntN(16)))
				}
				all = append(all, row...)
				s.add(row)
			}
			result.join(s.finish())
		}
		rows := slices.Collect(slices.Chunk(all, w))
		slices.SortFunc(rows, order.compare)
		if uint64(len(rows)) != result.count {
			t.Fatalf("counted %d rows of %d", result.count, len(rows))
		}
		if limit > 0 && uint64(len(rows)) > limit {
			rows = rows[:limit]
		}
		var got []uint32
		if err := result.each(limit, func(r matcher.Rows) error {
			got = append(got, r.Data...)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, slices.Concat(rows...)) {
			t.Fatalf("limit %d, %d workers: order differs", limit, workers)
		}
	}
}

// TestSorterReportsDisk: a directory that cannot be written is an error, not lost rows.
func TestSorterReportsDisk(t *testing.T) {
	s := &sorter{order: rowOrder{vertices: 2, edges: 1, simple: true}, dir: t.TempDir() + "/gone", memory: 16}
	for i := range uint32(10) {
		s.add([]uint32{i, i, i})
	}
	r := s.finish()
	if err := r.each(0, func(matcher.Rows) error { return nil }); err == nil {
		t.Fatal("no error")
	}
}

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
		if got := seek(nbr, from, w); got != want {
			t.Fatalf("seek(%v, %d, %d) = %d, want %d", nbr, from, w, got, want)
		}
	}
}
