package property

import (
	"encoding/json"
	"testing"
)

func TestMembers(t *testing.T) {
	object := `{"a":1,"b\u0020c":{"d":[1,"}"]}, "é" : "x\"y" ,"":null}`
	want := []string{`a|"a":1|1`,
		`b c|"b\u0020c":{"d":[1,"}"]}|{"d":[1,"}"]}`, `é|"é" : "x\"y"|"x\"y"`, `|"":null|null`}
	if err := Members([]byte(object), func(name string, member, value []byte) {
		if got := name + "|" + string(member) + "|" + string(value); len(want) == 0 || got != want[0] {
			t.Errorf("got %s, want %v", got, want)
		}
		want = want[1:]
	}); err != nil || len(want) > 0 {
		t.Errorf("left %v, error %v", want, err)
	}
	for _, bad := range []string{"", "[1]", "1", `{"a"}`, `{"a":}`, `{"a":1`} {
		if err := Members([]byte(bad), func(string, []byte, []byte) {}); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

func TestAppendMember(t *testing.T) {
	float, _ := Float(1e300)
	var object []byte
	for name, v := range map[string]Value{"s": Text("<\"é\x00"), "n": Int(-1 << 63), "d": Units(-5, 2), "f": float,
		"b": Truth(true), "t": Time(7)} {
		object = AppendMember(object, name, v)
		var all map[string]json.RawMessage
		if err := json.Unmarshal(object, &all); err != nil {
			t.Fatalf("%s: %v", object, err)
		}
		if again, err := FromJSON(v.Type(), all[name]); err != nil || again != v {
			t.Errorf("%v is read as %v from %s: %v", v, again, all[name], err)
		}
	}
	if got := string(AppendMember([]byte("{}"), "a", Int(1))); got != `{"a":1}` {
		t.Error(got)
	}
}

// TestRedeclared: columns keep their places, whatever is declared.
func TestRedeclared(t *testing.T) {
	whole, text := Type{Kind: Int64}, Type{Kind: String}
	of := func(d Declarations) *Schema { return &Schema{Edges: d, Vertices: d} }
	var s *Schema
	for _, step := range []struct {
		next    *Schema
		columns string
	}{
		{of(Declarations{"T": {"m": whole}}), "[{m int64}]"},
		{of(Declarations{"T": {"m": whole, "a": text, "z": text}, "U": {"m": whole}}),
			"[{m int64} {a string} {z string}]"},
		{nil, "[{m int64} {a string} {z string}]"},
		{of(Declarations{"T": {"m": text, "a": text}}), "[{m int64} {a string} {z string} {m string}]"},
		{of(Declarations{Any: {"m": whole}}), "[{m int64} {a string} {z string} {m string}]"},
	} {
		next := s.Redeclared(step.next)
		if err := next.Extends(s); err != nil {
			t.Fatal(err)
		}
		if len(next.Differences(step.next)) > 0 || next.Redeclared(step.next) != next {
			t.Errorf("%v does not declare %v", next, step.next)
		}
		js, err := json.Marshal(next)
		stored := new(Schema)
		if err == nil {
			err = json.Unmarshal(js, stored)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []*Columns{stored.EdgeColumns(), stored.VertexColumns(), next.EdgeColumns()} {
			if got := describe(c); got != step.columns {
				t.Errorf("columns %s, want %s", got, step.columns)
			}
			for i, column := range c.All() {
				if at, ok := c.Find(column.Name, column.Type); !ok || at != i {
					t.Errorf("column %v is found at %d, not at %d", column, at, i)
				}
			}
		}
		s = next
	}
	if got := s.EdgeColumns().Named("m"); len(got) != 1 || got[0] != 0 {
		t.Errorf("m is in the columns %v", got)
	}
	if err := of(Declarations{"T": {"q": whole}}).Extends(s); err == nil {
		t.Error("columns that are gone are accepted")
	}
	if err := (&Schema{Edges: Declarations{"T": {"q": whole}}, EdgeOrder: s.EdgeOrder, VertexOrder: s.VertexOrder}).
		Extends(s); err == nil {
		t.Error("a property without a column is accepted")
	}
}

func describe(c *Columns) string {
	out := "["
	for i, column := range c.All() {
		if i > 0 {
			out += " "
		}
		out += "{" + column.Name + " " + column.Type.String() + "}"
	}
	return out + "]"
}

func TestWith(t *testing.T) {
	whole, text := Type{Kind: Int64}, Type{Kind: String}
	a := &Schema{Edges: Declarations{"T": {"m": whole, "n": whole}}}
	both, ok := a.With(&Schema{Edges: Declarations{"T": {"n": text, "o": text}, "U": {"m": text}}})
	want := &Schema{Edges: Declarations{"T": {"m": whole, "n": text, "o": text}, "U": {"m": text}}}
	if !ok || len(both.Differences(want)) > 0 {
		t.Errorf("%v", both)
	}
	if _, ok := a.With(&Schema{Edges: Declarations{Any: {"m": text}}}); ok {
		t.Error("a property of T and of every label is declared with two types")
	}
	if both, ok := a.With(nil); !ok || both != a {
		t.Errorf("%v", both)
	}
}
