package dyngraph

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestA9ChangedLeavesAreAll copies the columns leaf by leaf as ChangedLeaves says and compares with the array, through
// growth and shrinkage.
func TestA9ChangedLeavesAreAll(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		g := NewGraph(Options{})
		p := &g.adj
		p.grow(200)
		var row []uint64
		var nbr []VertexID
		var ent []Entry
		var count []uint8
		have := map[slot]bool{}
		for range 80 {
			var ops []slot
			for range 1 + rnd.IntN(300) {
				k := slot{rowKey(VertexID(rnd.IntN(200)), Out, 0), VertexID(rnd.IntN(200)), 0}
				if !have[k] && k.nbr != k.vertex() {
					have[k] = true
					ops = append(ops, slot{k.row, k.nbr, p.newEdge(k)})
				}
			}
			slices.SortFunc(ops, compareSlots)
			p.insert(ops, nil)
			ops = ops[:0]
			for k := range have {
				if rnd.IntN(3) == 0 {
					ops = append(ops, k)
				}
			}
			slices.SortFunc(ops, compareSlots)
			for i := range ops {
				delete(have, ops[i])
				ops[i].ent = p.newEdge(ops[i])
				if rnd.IntN(2) == 0 {
					ops[i].ent |= entryStaged
				}
			}
			at := p.mark(ops, nil)
			if rnd.IntN(2) == 0 {
				if rnd.IntN(2) == 0 {
					at = nil
				}
				p.remove(ops, at)
			} else {
				for i := range ops {
					have[slot{ops[i].row, ops[i].nbr, 0}] = true
				}
			}
			if rnd.IntN(3) == 0 {
				continue
			}
			c := g.Columns()
			leaves, all := g.ChangedLeaves()
			if all {
				row, nbr, ent, count = slices.Clone(c.Row), slices.Clone(c.Nbr), slices.Clone(c.Ent), slices.Clone(c.Count)
			}
			for _, l := range leaves {
				at, end := int(l)*LeafSize, int(l+1)*LeafSize
				copy(row[at:end], c.Row[at:end])
				copy(nbr[at:end], c.Nbr[at:end])
				copy(ent[at:end], c.Ent[at:end])
				count[l] = c.Count[l]
			}
			if !slices.Equal(count, c.Count) {
				t.Fatalf("seed %d: counts differ", seed)
			}
			for l, n := range count {
				for at := l * LeafSize; at < l*LeafSize+int(n); at++ {
					if c.Row[at] != p.rowAt(at) {
						t.Fatalf("seed %d: the row of slot %d is %x, not %x", seed, at, c.Row[at], p.rowAt(at))
					}
				}
				at, end := l*LeafSize, l*LeafSize+int(n)
				if !slices.Equal(row[at:end], c.Row[at:end]) || !slices.Equal(nbr[at:end], c.Nbr[at:end]) || !slices.Equal(ent[at:end], c.Ent[at:end]) {
					t.Fatalf("seed %d: leaf %d differs", seed, l)
				}
			}
		}
	}
}
