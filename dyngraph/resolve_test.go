package dyngraph

import "testing"

// TestS3StageDoesNotRelyOnWhatAcceptFound accepts updates and then changes the graph, or the updates, before Stage.
func TestS3StageDoesNotRelyOnWhatAcceptFound(t *testing.T) {
	accept := func(g *Graph, updates ...Update) []Update {
		var m []Message
		for _, u := range updates {
			m = append(m, Message{[]Update{u}})
		}
		accepted, rejects := g.Accept(m)
		if len(rejects) > 0 {
			t.Fatal(rejects[0].Err)
		}
		return accepted
	}
	apply := func(g *Graph, updates ...Update) []string {
		d, err := g.Stage(updates)
		if err != nil {
			t.Fatal(err)
		}
		net := netText(g, d)
		g.Commit()
		checkArray(t, g)
		return net
	}
	fresh := func() *Graph {
		g := NewGraph(Options{Directed: true})
		apply(g, ins("a", "b", "x"), ins("c", "d", "x"))
		return g
	}

	g := fresh()
	u := accept(g, ins("a", "c", "x"), del("a", "b", "x"))
	if _, err := g.Stage(u); err != nil {
		t.Fatal(err)
	}
	g.Abort()
	wantNet(t, apply(g, u...), "+ a: x c: @0", "- a: x b: @1") // as accepted, again

	g = fresh()
	u = accept(g, ins("a", "c", "x"), del("c", "d", "x"))
	u[0], u[1] = u[1], u[0]
	u[1].To = "e"
	wantNet(t, apply(g, u...), "- c: x d: @0", "+ a: x e: @1")

	g = fresh()
	u = accept(g, ins("a", "d", "x"))
	apply(g, gone("a"))
	apply(g)
	apply(g, ins("y", "z", "x")) // y has a's id
	wantNet(t, apply(g, u...), "+ a: x d: @0")

	g = fresh()
	stage(t, g, ins("n", "a", "x"))
	u = accept(g, ins("n", "b", "x")) // while n is staged
	g.Abort()
	stage(t, g, ins("m", "a", "x")) // m has its id now
	g.Commit()
	wantNet(t, apply(g, u...), "+ n: x b: @0")
	if _, ok := g.Lookup("n"); !ok || g.Vertices() != 6 {
		t.Fatalf("%d vertices", g.Vertices())
	}
}
