package rowsort

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/stream/tempfile"
)

// testOrder is the order of rows whose edges join each vertex to the one before.
func testOrder(vertices int) *Layout {
	o := &Layout{Vertices: vertices, Edges: vertices - 1, Determined: true}
	for k := range vertices + 1 {
		var later []int
		for e := range o.Edges {
			if e+1 >= k {
				later = append(later, vertices+e)
			}
		}
		o.later = append(o.later, later)
	}
	return o
}

// TestSorterAgainstSort plays the packing, spilling, limited, merged sorter against one sort in memory.
func TestSorterAgainstSort(t *testing.T) {
	matchertest.ForSeeds(t, 40, func(t *testing.T, rng *rand.Rand) {
		order := testOrder(2 + rng.IntN(5))
		w := order.Width()
		workers := 1 + rng.IntN(3)
		limit := uint64(0)
		if rng.IntN(2) == 0 {
			limit = 1 + rng.Uint64N([]uint64{50, 3000}[rng.IntN(2)]) // less than a buffer holds, or more than a run
		}
		var all []uint32
		file := File{Open: tempfile.In(t.TempDir())}
		result := Sorted{Layout: order, File: &file}
		var out Writer
		bits := 1 + rng.IntN(31)
		for range workers {
			s := &Sorter{Memory: 64 << rng.IntN(16)}
			s.Begin(order, limit, &file)
			s.Presorted = rng.IntN(order.Vertices + 1) // whether it is so or not
			random := func(row []uint32, columns ...int) {
				for _, c := range columns {
					row[c] = rng.Uint32N(1 << bits)
				}
				for i := range order.Edges {
					row[order.Vertices+i] = row[i]*31 + row[i+1]
				}
			}
			vertices := make([]int, order.Vertices)
			for i := range vertices {
				vertices[i] = i
			}
			last := lastColumns(rng, order)
			most := 3000
			if rng.IntN(8) == 0 {
				most = 60_000 // in so many runs that they are merged into larger ones
			}
			for left := rng.IntN(most); left > 0; left-- {
				row := make([]uint32, w)
				if random(row, vertices...); rng.IntN(4) > 0 {
					all = append(all, row...)
					if !s.Add(row) {
						t.Fatal(s.err)
					}
					continue
				}
				// Rows that share a prefix, of which there are none at times.
				many := min(left, rng.IntN(40))
				left -= many
				columns := last[rng.IntN(len(last))]
				rows := s.Suffixes(columns, slices.Clone(row))
				for range many {
					random(row, vertexColumns(order, columns)...)
					all = append(all, row...)
					if !addSuffix(&rows, columns, row) {
						t.Fatal(s.err)
					}
				}
				rows.End()
			}
			if workers == 1 && rng.IntN(2) == 0 {
				one := s.Finish(&out)
				one.File = &file
				result = one
			} else {
				result.Join(s.Finish(nil))
			}
			s.Drop()
		}
		out.Close()
		rows := slices.Collect(slices.Chunk(all, w))
		slices.SortFunc(rows, order.Compare)
		if uint64(len(rows)) != result.Count {
			t.Fatalf("counted %d rows of %d", result.Count, len(rows))
		}
		if limit > 0 && uint64(len(rows)) > limit {
			rows = rows[:limit]
		}
		want := slices.Concat(rows...)
		// In ranges of any size, and then in one go.
		var parts []uint32
		for _, s := range result.ranges(1 + rng.Uint64N(3000)) {
			m, err := newMerge(order, result.runs, s.lo, s.hi)
			for err == nil && len(m.heads) > 0 {
				parts, err = m.append(parts, 1+rng.IntN(100))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if len(result.runs) > 0 && (len(parts) < len(want) || !slices.Equal(parts[:len(want)], want)) {
			t.Fatalf("limit %d, %d workers: order in ranges differs", limit, workers)
		}
		var got []uint32
		if err := result.Each(t.Context(), limit, func(r matcher.Rows) error {
			got = append(got, r.Data...)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("limit %d, %d workers: order differs", limit, workers)
		}
	})
}

// lastColumns returns some sets of columns that a search may fill last: one or two vertices, and the edges of a
// testOrder that depend on them.
func lastColumns(rng *rand.Rand, o *Layout) (all [][]uint16) {
	for range 1 + rng.IntN(4) {
		var vertices, edges []uint16
		for _, v := range rng.Perm(o.Vertices)[:1+rng.IntN(2)] {
			vertices = append(vertices, uint16(v))
			for _, e := range []int{v - 1, v} {
				if c := uint16(o.Vertices + e); e >= 0 && e < o.Edges && !slices.Contains(edges, c) {
					edges = append(edges, c)
				}
			}
		}
		all = append(all, append(vertices, edges...))
	}
	return all
}

// vertexColumns returns those of the columns that are vertices.
func vertexColumns(o *Layout, columns []uint16) (vertices []int) {
	for _, c := range columns {
		if int(c) < o.Vertices {
			vertices = append(vertices, int(c))
		}
	}
	return vertices
}

// addSuffix adds a row that has some columns in its suffix.
func addSuffix(x *Suffixes, columns []uint16, row []uint32) bool {
	if len(x.Words)+len(columns) > x.Room && !x.Full() {
		return false
	}
	for _, c := range columns {
		x.Words = append(x.Words, row[c])
	}
	return true
}

// TestSorterReportsDisk: a directory that cannot be written is an error, not lost rows.
func TestSorterReportsDisk(t *testing.T) {
	s := &Sorter{Memory: 16}
	s.Begin(testOrder(2), 0, &File{Open: tempfile.In(t.TempDir() + "/gone")})
	for i := range uint32(1000) {
		s.Add([]uint32{i, i, i})
	}
	r := s.Finish(nil)
	if err := r.Each(t.Context(), 0, func(matcher.Rows) error { return nil }); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

// TestSorterReportsALostFile: what cannot be read back is an error, not lost rows.
func TestSorterReportsALostFile(t *testing.T) {
	s := &Sorter{Memory: 16}
	file := File{Open: tempfile.In(t.TempDir())}
	s.Begin(testOrder(2), 0, &file)
	for i := range uint32(1000) {
		s.Add([]uint32{i, i, i})
	}
	r := s.Finish(nil)
	r.File = &file
	if err := file.f.(*os.File).Truncate(100); err != nil {
		t.Fatal(err)
	}
	if err := r.Each(t.Context(), 0, func(matcher.Rows) error { return nil }); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
}
