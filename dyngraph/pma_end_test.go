package dyngraph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestNewVerticesMoveNothing: entries that come behind all others are put there, and what is in the array stays where
// it is.
func TestNewVerticesMoveNothing(t *testing.T) {
	for _, size := range []int{1, 3, 50, 700} {
		p := pma{directed: true}
		v := 0
		ascending := func(n int) (ops []slot) {
			p.grow(v + n)
			for range n {
				k := slot{row: rowKey(VertexID(v), Out, 1), nbr: 1 << 30}
				ops = append(ops, slot{k.row, k.nbr, p.newEdge(k)})
				v++
			}
			return ops
		}
		p.insert(ascending(5000), nil)
		for range 60 {
			before, settled := slices.Clone(p.ent), (p.leaves()-1)*leafSize
			ops := ascending(size)
			at := p.insert(ops, nil)
			if !slices.Equal(p.ent[:settled], before[:settled]) {
				t.Fatalf("%d entries behind all others moved some that were there", size)
			}
			checkPMA(t, &p)
			checkSlots(t, &p, ops, at)
		}
		if least := fullLeaf * (p.leaves() - 1); p.n < least {
			t.Errorf("%d entries, fewer than %d, in %d leaves", p.n, least, p.leaves())
		}
	}
}

// TestEndAgainstSortedSlice plays an array whose vertices come in ascending order, and go, against a sorted slice:
// now and then all that is new is of one vertex, or comes between what is in the last leaves.
func TestEndAgainstSortedSlice(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 31))
			p := pma{directed: true}
			var have []slot
			known, bound := map[slot]bool{}, 1
			for range 80 {
				var ins []slot
				kind := rnd.IntN(4)
				for range 1 + rnd.IntN([]int{2, 20, 90, 400}[rnd.IntN(4)]) {
					var v int
					switch kind {
					case 0, 1: // a new vertex, or one that there was
						if rnd.IntN(2) == 0 {
							bound++
						}
						v = bound - 1
						if rnd.IntN(3) == 0 {
							v = rnd.IntN(bound)
						}
					case 2: // the last one
						v = bound - 1
					case 3: // one of the last
						v = bound - 1 - rnd.IntN(min(bound, 60))
					}
					k := slot{row: rowKey(VertexID(v), Dir(rnd.IntN(2)), LabelID(rnd.IntN(3))),
						nbr: VertexID(1<<20 + rnd.IntN(3000))}
					if !known[k] {
						known[k] = true
						ins = append(ins, slot{k.row, k.nbr, p.newEdge(k)})
					}
				}
				p.grow(bound)
				slices.SortFunc(ins, compareSlots)
				have = append(have, ins...)
				checkSlots(t, &p, ins, p.insert(ins, nil))
				slices.SortFunc(have, compareSlots)
				compareArray(t, &p, have)
				var del []slot
				from, share := rnd.IntN(len(have)), 1+rnd.IntN(8)
				if rnd.IntN(3) == 0 {
					from = max(0, len(have)-100) // what came last
				}
				var left []slot
				for i, s := range have {
					if i >= from && rnd.IntN(share) == 0 {
						del = append(del, s)
						delete(known, slot{row: s.row, nbr: s.nbr})
					} else {
						left = append(left, s)
					}
				}
				p.remove(del, nil)
				have = left
				compareArray(t, &p, have)
				if len(have) == 0 {
					return
				}
			}
		})
	}
}

// compareArray compares the whole array with what it should hold.
func compareArray(t *testing.T, p *pma, want []slot) {
	t.Helper()
	checkPMA(t, p)
	var got []slot
	for leaf := range p.count {
		got = p.appendLeaf(got, leaf)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%d entries, want %d, or others", len(got), len(want))
	}
}
