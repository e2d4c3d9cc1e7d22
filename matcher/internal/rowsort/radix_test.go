package rowsort

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRowSorter sorts rows that come as those of one search do, in the order of some other arrangement of their
// columns, and rows that come so but for some, by radix and by comparison.
func TestRowSorter(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var s keySorter
	for round := range 200 {
		o := testOrder(2 + rng.IntN(5))
		n, w := 1+rng.IntN(4*someKeys), o.Width()
		if round%20 == 0 {
			n = 2 * manyKeys
		}
		rows := make([][]uint32, n)
		full := round%3 == 0 // columns of 16 bits: four of them are a whole key
		for i := range rows {
			rows[i] = make([]uint32, w)
			for c := range o.Vertices {
				bits := rng.IntN(20)
				if full {
					bits = 16
				}
				rows[i][c] = rng.Uint32N(1 << bits)
			}
		}
		// The steps of the search, by column; presorted columns come in their order.
		at := rng.Perm(o.Vertices)
		s.presorted = rng.IntN(o.Vertices + 1)
		slices.Sort(at[o.Vertices-s.presorted:])
		columns := make([]int, o.Vertices)
		for c, step := range at {
			columns[step] = c
		}
		slices.SortFunc(rows, func(a, b []uint32) int {
			for _, c := range columns {
				if a[c] != b[c] {
					return int(a[c]) - int(b[c])
				}
			}
			return 0
		})
		if rng.IntN(2) == 0 {
			for range 1 + rng.IntN(n) {
				i, j := rng.IntN(n), rng.IntN(n)
				rows[i], rows[j] = rows[j], rows[i]
			}
		}
		var buf buffer
		buf.begin(o)
		last := []uint16{uint16(columns[o.Vertices-1])}
		split := buf.splitOf(o, last)
		for i := 0; i < len(rows); {
			if rng.IntN(3) == 0 {
				buf.whole(rows[i])
				i++
				continue
			}
			// All rows that agree in all but the column of the last step share a prefix.
			prefix := slices.Clone(rows[i])
			prefix[columns[o.Vertices-1]] = ^uint32(0) // is never looked at
			buf.open(split, prefix)
			agree := func(row []uint32) bool {
				for _, c := range columns[:o.Vertices-1] {
					if row[c] != prefix[c] {
						return false
					}
				}
				return true
			}
			for ; i < len(rows) && agree(rows[i]); i++ {
				buf.words = append(buf.words, rows[i][columns[o.Vertices-1]])
				buf.words[buf.prefix+1]++
				buf.rows++
			}
		}
		var got [][]uint32
		for _, k := range s.sort(o, &buf) {
			got = append(got, buf.row(nil, &k))
		}
		slices.SortFunc(rows, slices.Compare)
		if !slices.EqualFunc(rows, got, slices.Equal) {
			t.Fatalf("%d rows of %d vertices with %d presorted columns are not in order", n, o.Vertices, s.presorted)
		}
	}
}
