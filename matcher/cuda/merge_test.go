//go:build cuda || emu

package cuda_test

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"motifd/matcher/cuda"
	"motifd/matcher/matchertest"
)

// TestMerge merges random parts, by way of little memory, and compares with a sort of all rows.
func TestMerge(t *testing.T) {
	matchertest.ForSeeds(t, 200, func(t *testing.T, rng *rand.Rand) {
		widths := make([]int, 1+rng.IntN(6)) // by group
		all := make([][][]uint32, len(widths))
		for g := range widths {
			widths[g] = 2 + rng.IntN(9)
		}
		parts := make([][]cuda.Rows, rng.IntN(7))
		for i := range parts {
			for g, width := range widths {
				rows := make([][]uint32, rng.IntN(3)*rng.IntN(200))
				for k := range rows {
					rows[k] = make([]uint32, width)
					for c := range rows[k] {
						rows[k][c] = rng.Uint32N(20)
					}
				}
				slices.SortFunc(rows, byTwo)
				all[g] = append(all[g], rows...)
				for len(rows) > 0 { // chunks may end anywhere in a group
					n := 1 + rng.IntN(len(rows))
					parts[i] = append(parts[i], cuda.Rows{Group: g, Width: width, Words: slices.Concat(rows[:n]...)})
					rows = rows[n:]
				}
			}
		}
		spill := cuda.NewSpill(t.TempDir(), 1<<rng.IntN(16))
		defer spill.Close()
		got, last := make([][][]uint32, len(widths)), 0
		check(t, spill.Merge(parts, 2, func(group int, rows []uint32) error {
			if group < last || len(rows) == 0 || len(rows)%widths[group] != 0 {
				t.Fatalf("%d words of group %d after group %d", len(rows), group, last)
			}
			last = group
			for row := range slices.Chunk(slices.Clone(rows), widths[group]) {
				got[group] = append(got[group], row)
			}
			return nil
		}))
		for g := range got {
			if !slices.IsSortedFunc(got[g], byTwo) {
				t.Errorf("group %d is out of order", g)
			}
			slices.SortFunc(got[g], slices.Compare)
			slices.SortFunc(all[g], slices.Compare)
			if !slices.EqualFunc(got[g], all[g], slices.Equal) {
				t.Errorf("group %d has other rows", g)
			}
		}
	})
}

func byTwo(a, b []uint32) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }

// TestMergeFails has a merge fail where there is no place for rows, and where those who take them do.
func TestMergeFails(t *testing.T) {
	parts := [][]cuda.Rows{{{Width: 2, Words: []uint32{1, 2}}}, {{Width: 2, Words: []uint32{1, 1}}}}
	gone := cuda.NewSpill(filepath.Join(t.TempDir(), "gone"), 1)
	if err := gone.Merge(parts, 2, nil); err == nil || !strings.Contains(err.Error(), "spilling matches") {
		t.Error(err)
	}
	spill := cuda.NewSpill(t.TempDir(), 1)
	defer spill.Close()
	refused := errors.New("refused")
	if err := spill.Merge(parts, 2, func(int, []uint32) error { return refused }); err != refused {
		t.Error(err)
	}
}
