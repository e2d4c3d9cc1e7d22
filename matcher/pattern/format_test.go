package pattern

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"motifd/matcher"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		language, src, want string
		directed            bool
	}{
		{Cypher, "MATCH (a:A)-[x:X]->(b), (c)-[y]->(b) RETURN a", "MATCH (a:A)-[x:X]->(b)<-[y]-(c)\nRETURN *\n", true},
		{Cypher, "MATCH (a)-->(b:Order)-->(`by`)-->(a)",
			"MATCH (a)-[_e0]->(b:Order)-[_e1]->(`by`)-[_e2]->(a)\nRETURN *\n", true},
		{Text, "v 2 a`b\nv 1\nv 0\ne 0 1\ne 2 0 5",
			"MATCH (u2:`a``b`),\n      (u1),\n      (u0)-[e0]-(u1),\n      (u2)-[e1:`5`]-(u0)\nRETURN *\n", false},
	} {
		q, err := Parse(c.language, []byte(c.src), Options{Name: "q", Directed: c.directed})
		require.NoError(t, err)
		require.Equal(t, c.want, Format(q))
	}
}

// randomQuery draws a valid query.
func randomQuery(t *rapid.T, directed bool) *matcher.Query {
	name := rapid.OneOf(
		rapid.StringN(1, 4, 40),
		rapid.SampledFrom([]string{"a", "_v0", "_e1", "limit", "MATCH", "`", " ", "//"}),
	)
	label := rapid.OneOf(rapid.Just(""), rapid.StringN(0, 3, 40), rapid.SampledFrom([]string{"A", "Order", "4"}))
	q := &matcher.Query{Name: "q"}
	labels := func(what string) (string, []string) {
		if rapid.IntRange(0, 3).Draw(t, "alternatives") > 0 {
			return label.Draw(t, what), nil
		}
		anyOf := rapid.SliceOfNDistinct(rapid.StringN(1, 3, 40), 2, 4, rapid.ID[string]).Draw(t, what)
		slices.Sort(anyOf)
		return "", anyOf
	}
	names := rapid.SliceOfNDistinct(name, 3, 20, rapid.ID[string]).Draw(t, "names")
	n := rapid.IntRange(2, len(names)-1).Draw(t, "vertices")
	for _, s := range names[:n] {
		one, anyOf := labels("label")
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: s, Label: one, AnyOf: anyOf})
	}
	edge := func(from, to int) {
		one, anyOf := labels("edge label")
		e := matcher.QueryEdge{Name: names[n], From: from, To: to, Label: one, AnyOf: anyOf, Either: !directed}
		if rapid.Bool().Draw(t, "turned") {
			e.From, e.To = to, from
		}
		e.Either = e.Either || rapid.Bool().Draw(t, "either")
		q.Edges, names = append(q.Edges, e), append(names[:n:n], names[n+1:]...)
	}
	order := rapid.Permutation(q.Vertices).Draw(t, "order") // joins the vertices in another order than theirs
	index := make(map[string]int)
	for i, v := range q.Vertices {
		index[v.Name] = i
	}
	for len(names) < 2*n-1 {
		names = append(names, "edge "+string(rune('a'+len(names))))
	}
	for i := 1; i < n; i++ {
		edge(index[order[rapid.IntRange(0, i-1).Draw(t, "joined")].Name], index[order[i].Name])
	}
	for len(names) > n {
		a, b := rapid.IntRange(0, n-1).Draw(t, "a"), rapid.IntRange(0, n-1).Draw(t, "b")
		if a != b {
			edge(a, b)
		} else {
			names = names[:len(names)-1]
		}
	}
	return q
}

func TestFormatRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		directed := rapid.Bool().Draw(t, "directed")
		q := randomQuery(t, directed)
		if err := q.Validate(directed); err != nil {
			t.Fatal(err)
		}
		text := Format(q)
		again, err := Parse(Cypher, []byte(text), Options{Name: "q", Directed: directed})
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		require.Equal(t, q.Vertices, again.Vertices, text)
		require.Equal(t, q.Edges, again.Edges, text)
		require.Equal(t, text, Format(again))
	})
}
