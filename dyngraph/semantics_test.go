package dyngraph

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The updates, as short as they are read.
func ins(from, to, label string) Update {
	return Update{Op: InsertEdge, From: from, To: to, Label: label}
}
func del(from, to, label string) Update {
	return Update{Op: DeleteEdge, From: from, To: to, Label: label}
}
func vert(key, label string) Update { return Update{Op: InsertVertex, Key: key, Label: label} }
func gone(key string) Update        { return Update{Op: DeleteVertex, Key: key} }

// batch accepts the updates, each a message, and stages and commits them. It returns the net edges as text.
func batch(t *testing.T, g *Graph, updates ...Update) []string {
	t.Helper()
	d := stage(t, g, updates...)
	net := netText(g, d)
	g.Commit()
	checkArray(t, g)
	return net
}

func stage(t *testing.T, g *Graph, updates ...Update) *Delta {
	t.Helper()
	msgs := make([]Message, len(updates))
	for i := range updates {
		msgs[i].Updates = updates[i : i+1]
	}
	accepted, rejects := g.Accept(msgs)
	if len(rejects) > 0 {
		t.Fatalf("refused: %v", rejects[0].Err)
	}
	d, err := g.Stage(accepted)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func netText(g *Graph, d *Delta) []string {
	v := g.View(New)
	name := func(id VertexID) string { return v.Key(id) + ":" + v.LabelName(v.Label(id)) }
	r := []string{}
	for _, n := range d.Net {
		sign := "+"
		if n.Sign == Deleted {
			sign = "-"
		}
		r = append(r, fmt.Sprintf("%s %s %s %s @%d", sign, name(n.From), v.LabelName(n.Label), name(n.To),
			n.UpdateIndex))
	}
	return r
}

func wantNet(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("net edges\n %s\nwant\n %s", strings.Join(got, "\n "), strings.Join(want, "\n "))
	}
}

// refused plays one message and wants it refused for the reason.
func wantRefused(t *testing.T, g *Graph, why Reason, updates ...Update) {
	t.Helper()
	accepted, rejects := g.Accept([]Message{{Updates: updates}})
	var e *UpdateError
	if len(accepted) != 0 || len(rejects) != 1 || !errors.As(rejects[0].Err, &e) || e.Reason != why {
		t.Fatalf("accepted %d, refused %v, want %s", len(accepted), rejects, why)
	}
}

func TestS1IdentityIsFromToLabel(t *testing.T) {
	g := NewGraph(Options{Directed: true})
	a := ins("a", "b", "x")
	a.Attr.ID = "1"
	b := ins("a", "b", "x")
	b.Attr.ID = "2"
	wantNet(t, batch(t, g, a, b, ins("a", "b", "y"), ins("b", "a", "x"), ins("a", "b", "")),
		"+ a: x b: @0", "+ a: y b: @2", "+ b: x a: @3", "+ a:  b: @4")
	if e := g.Edges(); e != 4 {
		t.Fatalf("%d edges", e)
	}
	u := NewGraph(Options{})
	wantNet(t, batch(t, u, ins("a", "b", "x"), ins("b", "a", "x"), ins("b", "c", "x")), "+ a: x b: @0", "+ b: x c: @2")
	wantNet(t, batch(t, u, del("c", "b", "x")), "- b: x c: @0")
}

func TestS1KeysAndLabelsAreChecked(t *testing.T) {
	g := NewGraph(Options{Directed: true})
	long := strings.Repeat("k", 1025)
	wantRefused(t, g, ReasonSelfLoop, ins("a", "a", ""))
	wantRefused(t, g, ReasonSelfLoop, del("a", "a", ""))
	for _, key := range []string{"", "\xff", long} {
		wantRefused(t, g, ReasonBadKey, ins(key, "a", ""))
		wantRefused(t, g, ReasonBadKey, ins("a", key, ""))
		wantRefused(t, g, ReasonBadKey, del("a", key, ""))
		wantRefused(t, g, ReasonBadKey, vert(key, ""))
		wantRefused(t, g, ReasonBadKey, gone(key))
	}
	for _, label := range []string{"\xff", long} {
		wantRefused(t, g, ReasonBadLabel, ins("a", "b", label))
		wantRefused(t, g, ReasonBadLabel, Update{Op: InsertEdge, From: "a", To: "b", FromLabel: label})
		wantRefused(t, g, ReasonBadLabel, Update{Op: DeleteEdge, From: "a", To: "b", ToLabel: label})
		wantRefused(t, g, ReasonBadLabel, vert("a", label))
	}
	wantRefused(t, g, ReasonBadOp, Update{Op: 9, Key: "a"})
	wantRefused(t, g, ReasonBadOp, Update{Key: "a"})
	wantNet(t, batch(t, g, ins(strings.Repeat("k", 1024), "é", "")), "+ "+strings.Repeat("k", 1024)+":  é: @0")
}

func TestS3InsertThenDeleteIsNothing(t *testing.T) {
	g := NewGraph(Options{Directed: true})
	wantNet(t, batch(t, g, ins("a", "b", "x"), del("a", "b", "x")))
	if g.Vertices() != 2 || g.Edges() != 0 {
		t.Fatalf("%d vertices, %d edges", g.Vertices(), g.Edges())
	}
	wantNet(t, batch(t, g, del("a", "b", "x"), del("q", "r", "never"), gone("s")))
	if _, ok := g.LabelID("never"); ok {
		t.Fatal("a deletion interned a label")
	}
}

func TestS3RenewalHasNoEffect(t *testing.T) {
	g := NewGraph(Options{Directed: true})
	batch(t, g, ins("a", "b", "x"))
	u := ins("a", "b", "x")
	u.Attr = Attr{ID: "i", TS: 7, HasTS: true, Props: []byte(`{}`)}
	d := stage(t, g, del("a", "b", "x"), u)
	wantNet(t, netText(g, d))
	if len(d.Renewed) != 1 || len(d.Touched) != 0 {
		t.Fatalf("renewed %v, touched %v", d.Renewed, d.Touched)
	}
	if a := g.View(Old).Attr(d.Renewed[0]); a.HasTS || a.ID != "" {
		t.Fatalf("the old view shows %v", a)
	}
	if a := g.View(New).Attr(d.Renewed[0]); !a.equal(&u.Attr) {
		t.Fatalf("the new view shows %v", a)
	}
	e := d.Renewed[0]
	g.Commit()
	if a := g.View(Old).Attr(e); !a.equal(&u.Attr) {
		t.Fatalf("after Commit: %v", a)
	}
	if d := stage(t, g, u); len(d.Renewed) != 0 {
		t.Fatal("the same attributes again count as renewal")
	}
	g.Commit()
	if d := stage(t, g, ins("a", "b", "x")); len(d.Renewed) != 1 {
		t.Fatal("an insertion without attributes takes them away")
	}
}

func TestS3OnlyTheLastOperationCounts(t *testing.T) {
	g := NewGraph(Options{Directed: true})
	wantNet(t, batch(t, g, ins("a", "b", ""), del("a", "b", ""), ins("c", "d", ""), ins("a", "b", ""),
		ins("a", "b", "")),
		"+ c:  d: @2", "+ a:  b: @3")
}

func TestS3SettingALabelMakesAnotherVertex(t *testing.T) {
	g := NewGraph(Options{Directed: true})
	batch(t, g, ins("a", "b", "x"), ins("b", "c", "x"))
	old, _ := g.Lookup("b")
	d := stage(t, g, ins("d", "a", "x"), vert("b", "L"))
	wantNet(t, netText(g, d), "+ d: x a: @0", "- a: x b: @1", "+ a: x b:L @1", "- b: x c: @1", "+ b:L x c: @1")
	now, _ := g.Lookup("b")
	if now == old || !slices.Equal(d.Freed, []VertexID{old}) || !d.NewTriples {
		t.Fatalf("b is %d after %d; freed %v", now, old, d.Freed)
	}
	g.Commit()
	wantRefused(t, g, ReasonLabelConflict, vert("b", "M"))
	wantRefused(t, g, ReasonLabelConflict, Update{Op: DeleteEdge, From: "a", To: "b", ToLabel: "M"})
	wantNet(
		t,
		batch(
			t,
			g,
			vert("b", ""),
			vert("b", "L"),
			Update{Op: DeleteEdge, From: "a", To: "b", FromLabel: "L", ToLabel: "L", Label: "x"},
		),
		"- a: x b:L @2",
	)
	if id, _ := g.Lookup("a"); g.View(New).Label(id) != NoLabel {
		t.Fatal("a deletion set a label")
	}
}

func TestS3RelabellingByDeletionAndDeclaration(t *testing.T) {
	g := NewGraph(Options{})
	batch(t, g, vert("b", "L"), ins("a", "b", "x"), ins("b", "c", "x"))
	id, _ := g.Lookup("b")
	wantNet(t, batch(t, g, gone("b"), vert("b", "M"), ins("a", "b", "x")),
		"- b:L x a: @0", "- b:L x c: @0", "+ a: x b:M @2")
	// A key that ends the batch with the label it began with keeps its id.
	again, _ := g.Lookup("b")
	if again == id {
		t.Fatal("b keeps its id under another label")
	}
	wantNet(t, batch(t, g, gone("b"), vert("b", "L"), gone("b"), vert("b", "M"), ins("a", "b", "x")))
	if now, _ := g.Lookup("b"); now != again {
		t.Fatalf("b is %d, was %d", now, again)
	}
}

func TestS3ARefusedMessageLeavesNoTrace(t *testing.T) {
	g := NewGraph(Options{Directed: true})
	accepted, rejects := g.Accept([]Message{
		{Updates: []Update{vert("a", "L"), ins("b", "c", "never"), ins("d", "d", "")}},
		{Updates: []Update{vert("a", "M"), ins("a", "b", "x")}},
		{Updates: []Update{vert("a", "L")}},
	})
	if len(accepted) != 2 || len(rejects) != 2 || rejects[0].Update != 2 || rejects[1].Message != 2 {
		t.Fatalf("%v %v", accepted, rejects)
	}
	if g.Labels() != 1 || g.Vertices() != 0 {
		t.Fatal("Accept changed the graph")
	}
	if _, err := g.Stage(accepted); err != nil {
		t.Fatal(err)
	}
	g.Commit()
	if _, ok := g.LabelID("never"); ok || g.Labels() != 3 || g.Vertices() != 2 {
		t.Fatal("the refused message left a trace")
	}
}

func TestStageRefusesWhatWasNotAccepted(t *testing.T) {
	g := NewGraph(Options{Directed: true})
	batch(t, g, vert("a", "L"), ins("a", "b", "x"))
	for _, bad := range []Update{vert("a", "M"), ins("c", "c", "new"), {Op: 77}} {
		if _, err := g.Stage([]Update{ins("p", "q", "other"), vert("r", "R"), bad}); err == nil {
			t.Fatalf("%v was staged", bad)
		}
		if g.Labels() != 3 || g.Vertices() != 2 || g.Edges() != 1 {
			t.Fatal("a failed Stage left something")
		}
		checkArray(t, g)
	}
	if _, err := g.Stage(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Stage(nil); !errors.Is(err, ErrStaged) {
		t.Fatalf("second Stage: %v", err)
	}
	g.Commit()
	g.Commit()
	g.Abort()
	wantNet(t, batch(t, g, ins("p", "q", "x")), "+ p: x q: @0")
}

// TestS3OneUpdateThatLabelsBothEnds: between the two labels an edge of before is back for a moment. That is no
// operation on it, and does not move its place.
func TestS3OneUpdateThatLabelsBothEnds(t *testing.T) {
	g := NewGraph(Options{Directed: true})
	batch(t, g, vert("b", "B"), ins("a", "b", "x"))
	both := ins("b", "a", "y")
	both.FromLabel, both.ToLabel = "B", "A"
	wantNet(t, batch(t, g, del("a", "b", "x"), gone("b"), ins("a", "b", "x"), both),
		"- a: x b:B @0", "+ b:B y a:A @3", "+ a:A x b:B @3")
}
