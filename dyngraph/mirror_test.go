package dyngraph

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestA9LeavesAreTheArray reads the array leaf by leaf, through growth and shrinkage, and compares with what went in.
func TestA9LeavesAreTheArray(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		g := NewGraph(Options{})
		p := &g.adj
		p.grow(200)
		have := map[slot]Entry{} // by row and neighbour
		var rows []uint64
		for range 80 {
			var ops []slot
			for range 1 + rnd.IntN(300) {
				k := slot{rowKey(VertexID(rnd.IntN(200)), Out, LabelID(rnd.IntN(2))), VertexID(rnd.IntN(200)), 0}
				if _, ok := have[k]; !ok && k.nbr != k.vertex() {
					o := slot{k.row, k.nbr, p.newEdge(k)}
					have[k] = o.ent
					ops = append(ops, o)
				}
			}
			slices.SortFunc(ops, compareSlots)
			p.insert(ops, nil)
			ops = ops[:0]
			for k, ent := range have {
				if rnd.IntN(3) == 0 {
					ops = append(ops, slot{k.row, k.nbr, ent})
				}
			}
			slices.SortFunc(ops, compareSlots)
			for _, o := range ops {
				delete(have, slot{o.row, o.nbr, 0})
			}
			p.remove(ops, nil)
			var last slot
			n := 0
			for leaf := range p.count {
				var nbrs []VertexID
				var ents []Entry
				rows, nbrs, ents = g.Leaf(leaf, rows)
				if len(rows) != len(nbrs) || len(rows) != len(ents) {
					t.Fatalf("seed %d: leaf %d has %d rows, %d neighbours, %d entries", seed, leaf, len(rows),
						len(nbrs), len(ents))
				}
				for i, row := range rows {
					s := slot{row, nbrs[i], 0}
					if n > 0 && compareSlots(last, s) >= 0 {
						t.Fatalf("seed %d: leaf %d, entry %d is out of order", seed, leaf, i)
					}
					if ent, ok := have[s]; !ok || ent != ents[i] {
						t.Fatalf("seed %d: leaf %d, entry %d is %x, %v, not %x", seed, leaf, i, ents[i], ok, ent)
					}
					last = s
					n++
				}
			}
			if n != len(have) || n != g.Entries() {
				t.Fatalf("seed %d: %d entries, not %d; Entries says %d", seed, n, len(have), g.Entries())
			}
		}
	}
}
