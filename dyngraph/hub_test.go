package dyngraph

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestA7RangesOfHubs compares ranges over many leaves with the twin's rows.
func TestA7RangesOfHubs(t *testing.T) {
	for seed := range uint64(6) {
		rnd := rand.New(rand.NewPCG(seed, 77))
		directed := seed%2 == 0
		g, w := NewGraph(Options{Directed: directed}), newTwin(directed)
		keys := 400
		for range 6 {
			var u []Update
			for range 1 + rnd.IntN(2500) {
				hub, leaf := fmt.Sprint("h", rnd.IntN(2)), fmt.Sprint(rnd.IntN(keys))
				if rnd.IntN(2) == 0 {
					hub, leaf = leaf, hub
				}
				x := ins(hub, leaf, []string{"", "x", "y"}[rnd.IntN(3)])
				if rnd.IntN(3) == 0 {
					x.Op = DeleteEdge
				}
				u = append(u, x)
			}
			if rnd.IntN(3) == 0 {
				u = append(u, gone("h1"))
			}
			before := w.clone()
			stage(t, g, u...)
			// The twin would compare whole graphs after every update; here it only has to end up right.
			for i, x := range u {
				w.apply(x, i)
			}
			for key := range w.verts {
				w.ids[key], _ = g.Lookup(key)
			}
			for key := range w.ids {
				if _, ok := w.verts[key]; !ok {
					delete(w.ids, key)
				}
			}
			checkView(t, g, before, Old)
			checkView(t, g, w, New)
			checkArray(t, g)
			if rnd.IntN(3) == 0 {
				g.Abort()
				w = before
			} else {
				g.Commit()
			}
			checkView(t, g, w, New)
			checkArray(t, g)
		}
	}
}
