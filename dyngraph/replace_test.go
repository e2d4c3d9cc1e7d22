package dyngraph

import (
	"fmt"
	"strings"
	"testing"

	"motifd/dyngraph/property"
)

// valued is the insertion of an edge with values of twinSchema; ts below 0 is none.
func valued(from, to, label string, ts int64, values ...property.Value) Update {
	u := ins(from, to, label)
	u.Attr.TS, u.Attr.HasTS, u.Attr.Values = max(ts, 0), ts >= 0, values
	return u
}

var null property.Value

func cents(n int64) property.Value { return property.Units(n, 2) }

func TestS15AnotherValueReplacesTheEdge(t *testing.T) {
	g := NewGraph(Options{Directed: true, Schema: twinSchema})
	batch(t, g, valued("a", "b", "A", 1, null, cents(100)))
	d := stage(t, g, ins("c", "d", "B"), valued("a", "b", "A", 1, null, cents(250)), ins("d", "c", "B"))
	wantNet(t, netText(g, d), "+ c: B d: @0", "- a: A b: @1", "+ a: A b: @1", "+ d: B c: @2")
	e := d.Net[1].Edge
	if d.Replaced != 1 || d.Net[2].Edge != e || !d.Net[1].Replaced || !d.Net[2].Replaced || d.Net[0].Replaced {
		t.Fatalf("%+v", d)
	}
	if len(d.Touched) != 2 || g.Edges() != 3 {
		t.Fatalf("touched %v; %d edges", d.Touched, g.Edges())
	}
	if o := g.OrderTable()[e]; o != 2|Replaced {
		t.Fatalf("order %x", o)
	}
	for which, want := range map[Which]string{Old: "1.00", New: "2.50"} {
		v := g.View(which)
		if got := v.Value(e, twinAmount).String(); got != want || !v.Visible(e) {
			t.Fatalf("view %d: %s, visible %v", which, got, v.Visible(e))
		}
		if a := v.Attr(e); a.Value(twinAmount).String() != want || a.Value(property.TS) != property.Time(1) {
			t.Fatalf("view %d: attributes %v", which, a)
		}
	}
	eff := g.Effect()
	if len(eff.Inserted) != 2 || len(eff.Deleted) != 0 || len(eff.Renewed) != 1 ||
		eff.Renewed[0].Attr.Value(twinAmount) != cents(250) || eff.Renewed[0].Previous.Value(twinAmount) != cents(100) {
		t.Fatalf("effect %+v", eff)
	}
	g.Abort()
	if v := g.View(New); v.Value(e, twinAmount) != cents(100) || g.OrderTable()[e] != 0 {
		t.Fatal("Abort left the new value")
	}
	wantNet(t, batch(t, g, valued("a", "b", "A", 1, null, cents(100), null)))
	wantNet(t, batch(t, g, ins("a", "b", "A")), "- a: A b: @0", "+ a: A b: @0")
	if v := g.View(Old); !v.Value(e, twinAmount).IsNull() || !v.Value(e, property.TS).IsNull() {
		t.Fatal("an insertion without values takes them away")
	}
}

// TestS16PlaceOfAReplacedEdge: the last operation that changed its presence or a value that differs in the end.
func TestS16PlaceOfAReplacedEdge(t *testing.T) {
	b := func(whole int64, note string, flag property.Value) Update {
		return valued("a", "b", "B", -1, property.Int(whole), null, flag, property.Text(note))
	}
	on := property.Truth(true)
	for _, c := range []struct {
		name    string
		updates []Update
		place   int // -1: it is not replaced
	}{
		{"the only change", []Update{b(2, "x", null)}, 0},
		{"what changes back does not count", []Update{b(2, "x", null), b(2, "y", null), b(2, "x", null)}, 0},
		{"nor what stays", []Update{b(2, "x", null), b(2, "x", null)}, 0},
		{"all back", []Update{b(2, "y", on), b(1, "x", null)}, -1},
		{"another value before", []Update{b(3, "x", null), b(2, "x", null)}, 1},
		{"there, back and there", []Update{b(2, "x", null), b(1, "x", null), b(2, "x", null)}, 2},
		{"the later one of two", []Update{b(2, "x", null), b(2, "x", on)}, 1},
		{"presence counts", []Update{b(2, "x", null), del("a", "b", "B"), b(2, "x", null), b(2, "x", null)}, 2},
		{"back after an absence", []Update{b(2, "x", null), del("a", "b", "B"), b(1, "x", null)}, -1},
		{"a value after an absence", []Update{del("a", "b", "B"), b(1, "x", null), b(1, "z", null)}, 2},
		{"null is a value", []Update{ins("a", "b", "B")}, 0},
		{"by another end", []Update{b(2, "x", null), vert("a", ""), vert("c", "L")}, 0},
		{"its vertex comes back", []Update{gone("a"), ins("q", "a", ""), b(2, "x", null)}, 2},
	} {
		for _, other := range []bool{false, true} { // with another label of a vertex in the batch nothing is plain
			g := NewGraph(Options{Directed: true, Schema: twinSchema})
			batch(t, g, b(1, "x", null), ins("q", "a", ""))
			updates := c.updates
			if other {
				updates = append([]Update{vert("a", "L"), gone("a"), vert("a", ""), ins("q", "a", ""),
					b(1, "x", null)}, updates...)
			}
			d := stage(t, g, updates...)
			var want []string
			if c.place >= 0 {
				at := c.place + len(updates) - len(c.updates)
				want = []string{fmt.Sprintf("- a: B b: @%d", at), fmt.Sprintf("+ a: B b: @%d", at)}
			}
			if got := netText(g, d); strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%s (%v): net edges %q, want %q", c.name, other, got, want)
			}
			g.Commit()
			checkArray(t, g)
		}
	}
}

// TestS13AnUndeclaredTimeIsRenewedSilently: ts is declared for the label A alone.
func TestS13AnUndeclaredTimeIsRenewedSilently(t *testing.T) {
	g := NewGraph(Options{Schema: twinSchema})
	batch(t, g, valued("a", "b", "A", 1), valued("a", "b", "B", 1))
	wantNet(t, batch(t, g, valued("a", "b", "B", 2), valued("a", "b", "A", 2)), "- a: A b: @1", "+ a: A b: @1")
	wantNet(t, batch(t, g, ins("b", "a", "B"), ins("b", "a", "A")), "- a: A b: @1", "+ a: A b: @1")
	plain := NewGraph(Options{})
	batch(t, plain, valued("a", "b", "A", 1))
	wantNet(t, batch(t, plain, valued("a", "b", "A", 2)))
}

func TestS13ValuesAreOfTheirTypes(t *testing.T) {
	g := NewGraph(Options{Directed: true, Schema: twinSchema})
	for _, u := range []Update{
		valued("a", "b", "A", -1, property.Int(1)),
		valued("a", "b", "B", -1, null, cents(1)),
		valued("a", "b", "A", -1, null, property.Units(1, 3)),
		valued("a", "b", "A", -1, null, property.Int(1)),
		valued("a", "b", "B", -1, property.Time(1)),
		valued("a", "b", "", -1, null, null, property.Text("true")),
		valued("a", "b", "A", -1, null, null, null, null, property.Int(1)),
	} {
		wantRefused(t, g, ReasonProperty, u)
	}
	wantRefused(t, NewGraph(Options{}), ReasonProperty, valued("a", "b", "A", -1, property.Int(1)))
	batch(t, g, valued("a", "b", "A", -1, null, cents(1), null, null, null, null, null))

	l := NewLoader(Options{Schema: twinSchema})
	for _, name := range []string{"A"} {
		if err := l.Label(name); err != nil {
			t.Fatal(err)
		}
	}
	for id, key := range []string{"a", "b"} {
		if err := l.Vertex(VertexRecord{ID: VertexID(id), Key: key}); err != nil {
			t.Fatal(err)
		}
	}
	err := l.Edge(EdgeRecord{From: 0, Label: 1, To: 1, Attr: Attr{Values: []property.Value{property.Int(1)}}})
	if err == nil || !strings.Contains(err.Error(), `the label "A" does not declare`) {
		t.Fatalf("loaded: %v", err)
	}
}
