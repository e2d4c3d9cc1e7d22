//go:build cuda || emu

package cuda

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/internal/rowsort"
	"motifd/matcher/matchertest"
	"motifd/stream/tempfile"
)

// starLayout is the layout of rows of a star with that many leaves.
func starLayout(leaves int) *rowsort.Layout {
	q := &matcher.Query{Vertices: make([]matcher.QueryVertex, leaves+1)}
	for v := range leaves {
		q.Edges = append(q.Edges, matcher.QueryEdge{To: v + 1})
	}
	p := &matcher.Plan{Query: q}
	p.EdgeLabels, p.Several = make([]dyngraph.LabelID, leaves), make([]bool, leaves)
	return rowsort.NewLayout(dyngraph.View{}, p)
}

// starRow fills in the edges of a row, which the vertices determine.
func starRow(l *rowsort.Layout, row []uint32) {
	for e := range l.Edges {
		row[l.Vertices+e] = 31*row[0] + row[e+1]
	}
}

// TestOverflow merges random parts of waves, by way of little memory, and compares with a sort of all rows.
func TestOverflow(t *testing.T) {
	matchertest.ForSeeds(t, 200, func(t *testing.T, rng *rand.Rand) {
		groups := make([]rowGroup, 1+rng.IntN(6))
		most := make([]int, len(groups))
		for g := range groups {
			groups[g], most[g] = rowGroup{request: uint32(g), layout: starLayout(1 + rng.IntN(4))}, -1
			if rng.IntN(3) == 0 {
				most[g] = rng.IntN(100)
			}
		}
		o := overflow{memory: 1 << rng.IntN(18), file: rowsort.File{Open: tempfile.In(t.TempDir())}}
		defer o.close()
		all := make([][][]uint32, len(groups))
		for range 1 + rng.IntN(6) {
			o.begin(groups, func(g rowGroup) int { return most[g.request] })
			for g := range groups {
				l := groups[g].layout
				rows := make([][]uint32, rng.IntN(3)*rng.IntN(200))
				for k := range rows {
					rows[k] = make([]uint32, l.Width())
					for c := range l.Vertices {
						rows[k][c] = rng.Uint32N(20)
					}
					starRow(l, rows[k])
				}
				slices.SortFunc(rows, l.Compare)
				all[g] = append(all[g], rows...)
				for len(rows) > 0 { // chunks may end anywhere in a group
					n := 1 + rng.IntN(len(rows))
					if err := o.add(run{group: g, width: l.Width()}, slices.Concat(rows[:n]...)); err != nil {
						t.Fatal(err)
					}
					rows = rows[n:]
				}
			}
			o.end()
		}
		got, last := make([][][]uint32, len(groups)), uint32(0)
		lost := make([]int, len(groups))
		err := o.merge(t.Context(), groups, func(g rowGroup, rows []uint32) error {
			w := g.layout.Width()
			if g.request < last || len(rows) == 0 || len(rows)%w != 0 {
				t.Fatalf("%d words of group %d after group %d", len(rows), g.request, last)
			}
			last = g.request
			for row := range slices.Chunk(slices.Clone(rows), w) {
				got[last] = append(got[last], row)
			}
			return nil
		}, func(g rowGroup, rows int) error { lost[g.request] = rows; return nil })
		if err != nil {
			t.Fatal(err)
		}
		for g := range groups {
			slices.SortFunc(all[g], groups[g].layout.Compare)
			if len(got[g])+lost[g] != len(all[g]) || most[g] < 0 && lost[g] > 0 || lost[g] > 0 &&
				len(got[g]) < most[g] {
				t.Fatalf("group %d: %d rows and %d lost of %d, %d wanted", g, len(got[g]), lost[g], len(all[g]),
					most[g])
			}
			n := len(got[g])
			if lost[g] > 0 {
				n = most[g] // those behind are of some parts only
			}
			if !slices.EqualFunc(got[g][:n], all[g][:n], slices.Equal) {
				t.Errorf("group %d has other rows", g)
			}
		}
	})
}

// TestOverflowFails has a merge fail where there is no place for rows, where there is too little, and where those who
// take them do.
func TestOverflowFails(t *testing.T) {
	groups := []rowGroup{{layout: starLayout(1)}}
	fill := func(o *overflow) (err error) {
		for i := 0; i < 20_000 && err == nil; i++ {
			o.begin(groups, func(rowGroup) int { return -1 })
			err = o.add(run{width: 3}, []uint32{1, uint32(i), uint32(31 + i)})
		}
		o.end()
		return err
	}
	gone := overflow{file: rowsort.File{Open: tempfile.In(filepath.Join(t.TempDir(), "gone"))}}
	defer gone.close()
	if err := fill(&gone); err == nil || !strings.Contains(err.Error(), "spilling matches") {
		t.Error(err)
	}
	batch := matcher.NewBatchBudget(matcher.Limits{Spill: 1})
	batch.Arm()
	full := overflow{file: rowsort.File{Open: tempfile.In(t.TempDir()),
		Budget: matcher.NewBudget(matcher.Limits{Spill: 1}, 0, batch)}}
	defer full.close()
	if err := fill(&full); err != errOver {
		t.Error(err)
	}
	o := overflow{file: rowsort.File{Open: tempfile.In(t.TempDir())}}
	defer o.close()
	refused := errors.New("refused")
	if err := fill(&o); err != nil {
		t.Fatal(err)
	}
	err := o.merge(t.Context(), groups, func(rowGroup, []uint32) error { return refused }, nil)
	if err != refused {
		t.Error(err)
	}
}
