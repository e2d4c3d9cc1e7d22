package cpu

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/program"
	"motifd/matcher/matchertest"
)

// testOrder is the order of rows whose edges join each vertex to the one before.
func testOrder(vertices int) *rowOrder {
	o := &rowOrder{vertices: vertices, edges: vertices - 1, simple: true}
	for k := range vertices + 1 {
		var later []int
		for e := range o.edges {
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
		w := order.width()
		workers := 1 + rng.IntN(3)
		limit := uint64(0)
		if rng.IntN(2) == 0 {
			limit = 1 + rng.Uint64N([]uint64{50, 3000}[rng.IntN(2)]) // less than a buffer holds, or more than a run
		}
		var all []uint32
		file := spillFile{dir: t.TempDir()}
		result := sorted{order: order, file: &file}
		var out rowWriter
		bits := 1 + rng.IntN(31)
		for range workers {
			s := &sorter{memory: 64 << rng.IntN(16)}
			s.begin(order, limit, &file)
			s.rows.tail = rng.IntN(order.vertices + 1) // whether it is so or not
			random := func(row []uint32, columns ...int) {
				for _, c := range columns {
					row[c] = rng.Uint32N(1 << bits)
				}
				for i := range order.edges {
					row[order.vertices+i] = row[i]*31 + row[i+1]
				}
			}
			vertices := make([]int, order.vertices)
			for i := range vertices {
				vertices[i] = i
			}
			last := lastSteps(rng, order)
			most := 3000
			if rng.IntN(8) == 0 {
				most = 60_000 // in so many runs that they are merged into larger ones
			}
			for left := rng.IntN(most); left > 0; left-- {
				row := make([]uint32, w)
				if random(row, vertices...); rng.IntN(4) > 0 {
					all = append(all, row...)
					if !s.addRow(row) {
						t.Fatal(s.err)
					}
					continue
				}
				// Rows that share a head, of which there are none at times.
				many := min(left, rng.IntN(40))
				left -= many
				steps := last[rng.IntN(len(last))]
				rows := s.tails(steps, slices.Clone(row))
				for range many {
					for _, st := range steps {
						random(row, st.Vertex)
					}
					all = append(all, row...)
					if !addTail(&rows, steps, row) {
						t.Fatal(s.err)
					}
				}
				rows.end()
			}
			if workers == 1 && rng.IntN(2) == 0 {
				one := s.finish(&out)
				one.file = &file
				result = one
			} else {
				result.join(s.finish(nil))
			}
			s.close()
		}
		out.close()
		rows := slices.Collect(slices.Chunk(all, w))
		slices.SortFunc(rows, order.compare)
		if uint64(len(rows)) != result.count {
			t.Fatalf("counted %d rows of %d", result.count, len(rows))
		}
		if limit > 0 && uint64(len(rows)) > limit {
			rows = rows[:limit]
		}
		want := slices.Concat(rows...)
		// In stretches, whatever their size, and then in one go.
		var parts []uint32
		for _, s := range spans(result.runs, 1+rng.Uint64N(3000)) {
			m, err := newMerge(order, result.runs, s.lo, s.hi)
			for err == nil && len(m.heads) > 0 {
				parts, err = m.append(parts, 1+rng.IntN(100))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if len(result.runs) > 0 && (len(parts) < len(want) || !slices.Equal(parts[:len(want)], want)) {
			t.Fatalf("limit %d, %d workers: order in stretches differs", limit, workers)
		}
		var got []uint32
		if err := result.each(t.Context(), limit, func(r matcher.Rows) error {
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

// lastSteps returns some ways to map one or two vertices last, with the edges of a testOrder that depend on them.
func lastSteps(rng *rand.Rand, o *rowOrder) (all [][]program.Step) {
	for range 1 + rng.IntN(4) {
		var steps []program.Step
		taken := map[int]bool{}
		for _, v := range rng.Perm(o.vertices)[:1+rng.IntN(2)] {
			st := program.Step{Vertex: v}
			for _, e := range []int{v - 1, v} {
				if e >= 0 && e < o.edges && !taken[e] {
					taken[e] = true
					st.Back = append(st.Back, program.BackEdge{Edge: e})
				}
			}
			steps = append(steps, st)
		}
		all = append(all, steps)
	}
	return all
}

// addTail adds a row with its last steps in a tail.
func addTail(t *tails, steps []program.Step, row []uint32) bool {
	if len(t.words)+t.each > t.room && !t.full() {
		return false
	}
	for _, st := range steps {
		t.words = append(t.words, row[st.Vertex])
	}
	for _, st := range steps {
		for _, b := range st.Back {
			t.words = append(t.words, row[t.s.order.vertices+b.Edge])
		}
	}
	return true
}

// TestSorterReportsDisk: a directory that cannot be written is an error, not lost rows.
func TestSorterReportsDisk(t *testing.T) {
	s := &sorter{memory: 16}
	s.begin(testOrder(2), 0, &spillFile{dir: t.TempDir() + "/gone"})
	for i := range uint32(1000) {
		s.addRow([]uint32{i, i, i})
	}
	r := s.finish(nil)
	if err := r.each(t.Context(), 0, func(matcher.Rows) error { return nil }); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

// TestSorterReportsALostFile: what cannot be read back is an error, not lost rows.
func TestSorterReportsALostFile(t *testing.T) {
	s := &sorter{memory: 16}
	file := spillFile{dir: t.TempDir()}
	s.begin(testOrder(2), 0, &file)
	for i := range uint32(1000) {
		s.addRow([]uint32{i, i, i})
	}
	r := s.finish(nil)
	r.file = &file
	if err := file.f.Truncate(100); err != nil {
		t.Fatal(err)
	}
	if err := r.each(t.Context(), 0, func(matcher.Rows) error { return nil }); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
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
