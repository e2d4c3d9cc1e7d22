//go:build cuda || emu

package mirror

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"motifd/dyngraph"
	"motifd/kernels"
)

// TestA26RowsOfTheHost counts the rows of random graphs, against a set of them. From all leaves of the host they are no
// fewer, and a few more where threads share a row; from a part of the leaves they are about as many.
func TestA26RowsOfTheHost(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 10 {
		g := dyngraph.NewGraph(dyngraph.Options{Directed: rng.IntN(2) == 0, EdgeIDs: rng.IntN(2) == 0})
		vertices := 10 + rng.IntN(300)
		var m dyngraph.Message
		for i := range vertices {
			m.Updates = append(m.Updates, dyngraph.Update{Op: dyngraph.InsertVertex, Key: fmt.Sprint(i),
				Label: fmt.Sprint(rng.IntN(3))})
		}
		for i := range 8000 << (2 * rng.IntN(2)) {
			from, to := rng.IntN(vertices), rng.IntN(vertices)
			if from == to {
				continue
			}
			u := dyngraph.Update{Op: dyngraph.InsertEdge, From: fmt.Sprint(from), To: fmt.Sprint(to),
				Label: fmt.Sprint(rng.IntN(2))}
			if u.Label == "0" {
				u.Attr.ID = fmt.Sprint(i)
			}
			m.Updates = append(m.Updates, u)
		}
		updates, refused := g.Accept([]dyngraph.Message{m})
		if len(refused) > 0 {
			t.Fatal(refused)
		}
		if _, err := g.Stage(updates); err != nil {
			t.Fatal(err)
		}
		g.Commit()
		mirror := &Mirror{g: g, threads: 3}
		if err := mirror.above.load(g); err != nil {
			t.Fatal(err)
		}
		type row struct {
			of   uint64
			kind uint32
		}
		rows, view := map[row]bool{}, g.View(dyngraph.New)
		for leaf := range g.Leaves() {
			of, nbrs, ents := g.Leaf(leaf, nil)
			for i := range of {
				r := mirror.above.row(of[i], ents[i].Index())
				rows[row{r, kernels.KindOf(0, uint32(view.Label(nbrs[i])), 16)}] = true
			}
		}
		all, some := mirror.rows(1), mirror.rows(2)
		if all < len(rows) || all > len(rows)+2*64 {
			t.Errorf("%d rows in %d leaves, of which all have %d", len(rows), g.Leaves(), all)
		}
		// A block begins its rows anew, which counts where a vertex has more leaves than a block.
		if off := float64(some)/float64(all) - 1; math.Abs(off) > 0.5 && all > 3000 {
			t.Errorf("%d rows, from half of the leaves %d", all, some)
		}
	}
}
