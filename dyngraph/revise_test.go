package dyngraph

import (
	"fmt"
	"slices"
	"testing"

	"motifd/dyngraph/property"
)

// revise sets values of a vertex by column of twinSchema; set declares it with them.
func revise(key string, named map[int]property.Value) Update {
	u := Update{Op: ReviseVertex, Key: key, Attr: Attr{Values: make([]property.Value, twinVertexColumns)}}
	for column, v := range named {
		u.Attr.Values[column] = v
		u.Named = append(u.Named, column)
	}
	slices.Sort(u.Named)
	return u
}

func set(key, label string, values ...property.Value) Update {
	return Update{Op: InsertVertex, Key: key, Label: label, Attr: Attr{Values: values}}
}

func mark(text string) map[int]property.Value {
	return map[int]property.Value{twinMark: property.Text(text)}
}

func risk(n int64) map[int]property.Value { return map[int]property.Value{twinRisk: property.Int(n)} }

// TestS16PlaceOfARevisedVertex: the last operation that changed its presence or a value that differs in the end.
func TestS16PlaceOfARevisedVertex(t *testing.T) {
	for _, c := range []struct {
		name    string
		updates []Update
		place   int // -1: it is not revised
	}{
		{"the only change", []Update{revise("a", risk(2))}, 0},
		{"what changes back does not count", []Update{revise("a", risk(2)), revise("a", mark("y")),
			revise("a", mark("x"))}, 0},
		{"nor what stays", []Update{revise("a", risk(2)), revise("a", risk(2))}, 0},
		{"all back", []Update{revise("a", risk(2)), revise("a", risk(1))}, -1},
		{"the later one of two", []Update{revise("a", risk(2)), revise("a", mark("y"))}, 1},
		{"null is a value", []Update{revise("a", map[int]property.Value{twinRisk: {}})}, 0},
		{"+v sets all", []Update{set("a", "A")}, 0},
		{"+v without a label", []Update{set("a", "", property.Text("x"), property.Int(7))}, 0},
		{"as it is", []Update{set("a", "A", property.Text("x"), property.Int(1))}, -1},
		{"presence counts", []Update{gone("a"), set("a", "A", property.Text("x"), property.Int(2)),
			revise("a", map[int]property.Value{twinMark: property.Text("x")})}, 1},
		{"an edge brings it back", []Update{gone("a"), vert("q", "")}, -1}, // it is gone
		{"another label's value", []Update{revise("a", map[int]property.Value{twinRiskMoney: cents(1)})}, -1},
		{"on none", []Update{revise("b", risk(3))}, -1},
	} {
		g := NewGraph(Options{Directed: true, Schema: twinSchema})
		batch(t, g, set("a", "A", property.Text("x"), property.Int(1)))
		d := stage(t, g, c.updates...)
		switch {
		case c.place < 0 && len(d.Revised) > 0 || c.place >= 0 && len(d.Revised) != 1:
			t.Errorf("%s: revised %v", c.name, d.Revised)
		case c.place >= 0:
			r := d.Revised[0]
			if before, after := d.Net[r.Old], d.Net[r.New]; int(before.UpdateIndex) != c.place ||
				int(after.UpdateIndex) != c.place || before.Sign != Deleted || after.Sign != Inserted {
				t.Errorf("%s: %+v %+v, want place %d", c.name, before, after, c.place)
			}
		}
		g.Commit()
	}
}

// TestS16OrderAtOnePlace: deleted edges, deleted versions of vertices; new versions of vertices, inserted edges;
// vertices by id.
func TestS16OrderAtOnePlace(t *testing.T) {
	g := NewGraph(Options{Directed: true, Schema: twinSchema})
	one := property.Text("x")
	batch(t, g, set("a", "", one), set("b", "", one), set("c", "", one), valued("a", "b", "A", 1))
	d := stage(t, g, revise("c", mark("y")), gone("b"), gone("a"), valued("b", "a", "A", 2),
		valued("a", "b", "A", 2))
	var got []string
	for _, n := range d.Net {
		what := map[bool]string{true: "vertex", false: "edge"}[n.Vertex]
		got = append(got, fmt.Sprintf("%+d %s %s @%d", n.Sign, what, g.View(New).Key(n.From), n.UpdateIndex))
	}
	want := []string{"+1 vertex c @0", "-1 vertex c @0", "+1 vertex a @3", "+1 vertex b @3", "+1 edge b @3",
		"-1 vertex a @3", "-1 vertex b @3", "-1 edge a @4", "+1 edge a @4"}
	if !slices.Equal(got, want) {
		t.Fatalf("net %q, want %q", got, want)
	}
	if d.Inserted() != 2 || d.Deleted() != 1 {
		t.Fatalf("%d inserted, %d deleted", d.Inserted(), d.Deleted())
	}
}

// TestS16ViewsOfARevisedVertex: each view has its values, until Commit or Abort.
func TestS16ViewsOfARevisedVertex(t *testing.T) {
	g := NewGraph(Options{Schema: twinSchema})
	batch(t, g, set("a", "A", property.Text("x"), property.Int(1)), ins("a", "b", ""))
	a, _ := g.Lookup("a")
	check := func(old, now string) {
		t.Helper()
		for which, want := range map[Which]string{Old: old, New: now} {
			v := g.View(which)
			got, first := fmt.Sprint(v.VertexValues(a)), v.VertexValue(a, twinMark)
			if got != want || first.Str() != want[1:2] {
				t.Fatalf("view %d: %s, want %s", which, got, want)
			}
		}
	}
	d := stage(t, g, revise("a", mark("y")), revise("nobody", risk(1)))
	if check("[x 1]", "[y 1]"); d.Absent != 1 || len(d.Touched) > 0 {
		t.Fatalf("%+v", d)
	}
	g.Abort()
	check("[x 1]", "[x 1]")
	stage(t, g, revise("a", risk(5)))
	e := g.Effect()
	if len(e.Revised) != 1 || len(e.Created)+len(e.Freed)+len(e.Renewed) > 0 ||
		fmt.Sprint(e.Revised[0].Values, e.Revised[0].Previous) != "[x 5] [x 1]" {
		t.Fatalf("%+v", e)
	}
	g.Commit()
	check("[x 5]", "[x 5]")
	batch(t, g, gone("a"))
	batch(t, g)
	batch(t, g)
	batch(t, g, vert("z", "A")) // it gets the id
	if z, _ := g.Lookup("z"); z != a || g.View(New).VertexValues(z) != nil {
		t.Fatalf("vertex %d has the values %v", z, g.View(New).VertexValues(z))
	}
}

func TestS16VertexValuesAreOfTheirTypes(t *testing.T) {
	g := NewGraph(Options{Schema: twinSchema})
	for _, u := range []Update{
		set("a", "A", property.Int(1)),
		set("a", "A", null, cents(1)),
		set("a", "", null, null, null, property.Int(1)),
		revise("a", map[int]property.Value{twinRisk: property.Text("1")}),
		{Op: ReviseVertex, Key: "a", Named: []int{twinVertexColumns}},
		{Op: ReviseVertex, Key: "a", Named: []int{-1}},
	} {
		wantRefused(t, g, ReasonProperty, u)
	}
	wantRefused(t, NewGraph(Options{}), ReasonProperty, set("a", "A", property.Int(1)))
	batch(t, g, set("a", "A"))
	wantRefused(t, g, ReasonLabelConflict, Update{Op: ReviseVertex, Key: "a", Label: "B"})
	wantRefused(t, g, ReasonBadKey, Update{Op: ReviseVertex})
	l := NewLoader(Options{Schema: twinSchema})
	err := l.Vertex(VertexRecord{Key: "a", Values: []property.Value{null, property.Int(1)}})
	if err == nil || err.Error() != `dyngraph: vertex 0 of the checkpoint has a value of the property "risk", which `+
		`the label "" does not declare as int64` {
		t.Fatal(err)
	}
}
