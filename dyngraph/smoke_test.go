package dyngraph

import "testing"

func TestStageCommitAbort(t *testing.T) {
	g := NewGraph(Options{Directed: true})
	ups, rej := g.Accept([]Message{{Updates: []Update{
		{Op: InsertEdge, From: "a", To: "b", Label: "x"},
		{Op: InsertEdge, From: "b", To: "c", Label: "x", FromLabel: "P"},
	}}, {Updates: []Update{{Op: InsertEdge, From: "a", To: "a"}}}})
	if len(ups) != 2 || len(rej) != 1 {
		t.Fatal(ups, rej)
	}
	d, err := g.Stage(ups)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Net) != 2 || d.Net[0].Place != 1 || d.Net[1].Place != 1 {
		t.Fatal(d.Net)
	}
	g.Abort()
	if g.Edges() != 0 || g.Vertices() != 0 {
		t.Fatal("abort left something")
	}
	if d, err = g.Stage(ups); err != nil {
		t.Fatal(err)
	}
	g.Commit()
	b, _ := g.Lookup("b")
	if g.Degree(b, Out) != 1 || g.Degree(b, In) != 1 {
		t.Fatal("degrees")
	}
}
