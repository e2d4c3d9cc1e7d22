package dyngraph

import (
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph/property"
)

func declares(edges, vertices map[string]string) *property.Schema {
	side := func(types map[string]string) property.Declarations {
		if types == nil {
			return nil
		}
		d := property.Declarations{"L": {}}
		for name, text := range types {
			t, err := property.ParseType(text)
			if err != nil {
				panic(err)
			}
			d["L"][name] = t
		}
		return d
	}
	return &property.Schema{Edges: side(edges), Vertices: side(vertices)}
}

// TestS23Redeclare: what becomes of the values and undeclared properties of an edge and of a vertex when other
// properties are declared.
func TestS23Redeclare(t *testing.T) {
	type m = map[string]string
	const edge, vertex = true, false
	for name, c := range map[string]struct {
		edges        bool
		before, then m
		props, value string // of "x" before: undeclared, declared
		rest, now    string // afterwards
		same         bool   // nothing is renewed or revised
	}{
		"undeclared":    {edge, nil, m{"x": "decimal(2)"}, `{"x":12.5,"y":[1]}`, "", `{"y":[1]}`, "12.50", false},
		"the only one":  {edge, nil, m{"x": "string"}, `{"x":"a\"b"}`, "", "", `a"b`, false},
		"escaped name":  {edge, nil, m{"x": "int64"}, `{"\u0078":"7"}`, "", "", "7", false},
		"null":          {edge, nil, m{"x": "int64"}, `{"x":null,"y":1}`, "", `{"y":1}`, "null", false},
		"inexact":       {edge, nil, m{"x": "decimal(2)"}, `{"x":12.345}`, "", `{"x":12.345}`, "null", true},
		"not there":     {edge, nil, m{"x": "int64"}, `{"y":1}`, "", `{"y":1}`, "null", true},
		"dropped":       {edge, m{"x": "decimal(2)"}, nil, `{"y":1}`, "12.5", `{"y":1,"x":12.50}`, "", false},
		"no others":     {edge, m{"x": "string"}, nil, "", `a"<b`, `{"x":"a\"<b"}`, "", false},
		"wider":         {edge, m{"x": "int64"}, m{"x": "decimal(1)"}, "", "7", "", "7.0", false},
		"narrower":      {edge, m{"x": "decimal(1)"}, m{"x": "int64"}, "", "7.5", `{"x":7.5}`, "null", false},
		"text":          {edge, m{"x": "int64"}, m{"x": "string"}, "", "7", `{"x":7}`, "null", false},
		"another goes":  {edge, m{"x": "int64", "z": "int64"}, m{"x": "int64"}, "", "7", "", "7", true},
		"vertex":        {vertex, m{"x": "int64"}, nil, "", "7", "", "", false},
		"vertex, wider": {vertex, m{"x": "int64"}, m{"x": "decimal(2)"}, "", "7", "", "7.00", false},
		"vertex, lost":  {vertex, m{"x": "decimal(2)"}, m{"x": "int64"}, "", "7.25", "", "null", false},
		"vertex, stays": {vertex, m{"x": "int64"}, m{"x": "int64", "a": "bool"}, "", "7", "", "7", true},
	} {
		t.Run(name, func(t *testing.T) {
			schema := func(x m) *property.Schema {
				if c.edges {
					return declares(x, nil)
				}
				return declares(nil, x)
			}
			before := schema(c.before)
			g := NewGraph(Options{Schema: before, Directed: true})
			columns := g.Columns()
			if !c.edges {
				columns = g.VertexColumns()
			}
			var a Attr
			if c.value != "" {
				column, _ := columns.Of("L", "x")
				typ := columns.All()[column].Type
				v, err := property.FromText(typ, c.value)
				require.NoError(t, err)
				a.Values = append(make([]property.Value, column), v)
			}
			u := Update{Op: InsertVertex, Key: "v", Label: "L", Attr: a}
			if c.edges {
				a.Props = []byte(c.props)
				u = Update{Op: InsertEdge, From: "v", To: "w", Label: "L", Attr: a}
			}
			_, err := g.Stage([]Update{u})
			require.NoError(t, err)
			g.Commit()

			d := g.PlanDeclaration(before.Redeclared(schema(c.then)), 0, 1)
			require.True(t, d.Last() || !c.same && c.edges)
			delta, err := g.StageDeclaration(d)
			require.NoError(t, err)
			require.Empty(t, delta.Net)
			effect := g.Effect()
			require.Equal(t, c.same, len(effect.Renewed)+len(effect.Revised) == 0)
			g.Abort()
			require.Equal(t, before, g.Options().Schema)
			_, err = g.StageDeclaration(d)
			require.NoError(t, err)
			require.Equal(t, effect, g.Effect())
			g.Commit()

			view := g.View(New)
			id, _ := g.Lookup("v")
			now := ""
			if columns = g.Columns(); !c.edges {
				columns = g.VertexColumns()
			}
			if column, ok := columns.Of("L", "x"); ok && c.edges {
				now = view.Value(0, column).String()
			} else if ok {
				now = view.VertexValue(id, column).String()
			}
			require.Equal(t, c.now, now)
			if c.edges {
				require.Equal(t, c.rest, string(view.Attr(0).Props))
			}
		})
	}
}

// TestS23LabelsStay: where a vertex may have several labels, they stay when declarations change, and are no value that
// keeps a vertex.
func TestS23LabelsStay(t *testing.T) {
	schema := func(vertices map[string]string) *property.Schema {
		s := declares(nil, vertices)
		s.SeveralLabels = true
		return s
	}
	before := schema(map[string]string{"x": "int64"})
	g := NewGraph(Options{Schema: before, Directed: true})
	g.ExpireIsolated(true)
	stage := func(us ...Update) {
		accepted, rejects := g.Accept([]Message{{Updates: us}})
		require.Empty(t, rejects)
		_, err := g.Stage(accepted)
		require.NoError(t, err)
		g.Commit()
	}
	stage(Update{Op: InsertEdge, From: "v", To: "w", FromLabel: property.JoinLabels("B", "A"), ToLabel: "C"},
		Update{Op: ReviseVertex, Key: "v", Attr: Attr{Values: []property.Value{{}, property.Int(7)}}, Named: []int{1}})
	for _, next := range []*property.Schema{schema(map[string]string{"a": "bool", "x": "decimal(2)"}), schema(nil)} {
		next = g.Options().Schema.Redeclared(next)
		d, err := g.StageDeclaration(&Declaration{Schema: next, To: NoVertex})
		require.NoError(t, err)
		require.Empty(t, d.Net)
		g.Commit()
		require.True(t, g.Options().Schema.SeveralLabels)
		for key, want := range map[string][]string{"v": {"A", "B"}, "w": {"C"}} {
			id, ok := g.Lookup(key)
			require.True(t, ok)
			require.Equal(t, property.LabelSet(want...), g.View(New).Labels(id))
		}
		require.Same(t, next, next.Redeclared(&property.Schema{Vertices: next.Vertices, SeveralLabels: true}))
	}
	v, _ := g.Lookup("v")
	require.Equal(t, []property.Value{property.LabelSet("A", "B")}, g.View(New).VertexValues(v))
	stage(Update{Op: DeleteEdge, From: "v", To: "w"})
	_, ok := g.Lookup("v")
	require.True(t, ok, "it had a value, which kept it")
	_, ok = g.Lookup("w")
	require.False(t, ok, "labels keep no vertex")
}
