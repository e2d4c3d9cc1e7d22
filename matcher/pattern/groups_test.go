package pattern

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher"
)

// groupAnswer describes a query with WITH: its elements, then line by line its clauses, conditions, keys, aggregates,
// conditions behind WITH and fields.
func groupAnswer(q *matcher.Query) string {
	g := q.Groups
	union := &matcher.Query{Vertices: g.Vertices, Edges: g.Edges}
	var b strings.Builder
	b.WriteString(answer(union, nil))
	for _, s := range g.Stages {
		for _, m := range s.Matches {
			b.WriteString("\nmatch")
			for _, v := range m.Vertices {
				fmt.Fprintf(&b, " %s", g.Vertices[v].Name)
			}
			for _, e := range m.Edges {
				fmt.Fprintf(&b, " %s", g.Edges[e].Name)
			}
		}
		for _, c := range s.Conditions {
			fmt.Fprintf(&b, "\nwhere %s", c.Format(union.ElementName))
		}
		name := func(e int) string { return g.Edges[e].Name }
		for _, r := range s.Rises {
			fmt.Fprintf(&b, "\n%s", r.Format(name))
		}
		for _, of := range s.Spans {
			fmt.Fprintf(&b, "\n%s", of.Format(name))
		}
		of := &matcher.Query{Vertices: g.Vertices, Edges: g.Edges, Negations: s.Negations}
		for i := range s.Negations {
			fmt.Fprintf(&b, "\n%s", of.FormatNegation(&s.Negations[i]))
		}
		b.WriteString("\nby")
		for _, v := range s.Vertices {
			fmt.Fprintf(&b, " %s", g.Vertices[v].Name)
		}
		for _, e := range s.Edges {
			fmt.Fprintf(&b, " %s", g.Edges[e].Name)
		}
		for _, a := range s.Aggregates {
			of := "*"
			switch a.Function {
			case matcher.CountDistinct:
				of = "DISTINCT " + union.ElementName(*a.Of)
			case matcher.Collect:
				of = fmt.Sprintf("%v list of %d %s", a.Distinct, a.Most, union.ElementName(*a.Of))
				if a.Formula != nil {
					of += " " + a.Formula.Format(union.ElementName) + " " + a.Formula.Type.String()
				}
			case matcher.Sum:
				of = a.Formula.Format(union.ElementName) + " " + a.Formula.Type.String()
			}
			fmt.Fprintf(&b, "\n%s %s", a.Name, of)
		}
		for _, c := range s.Having {
			fmt.Fprintf(&b, "\nhaving %s", c.Format(q.ElementName))
		}
	}
	for _, e := range q.Edges {
		fmt.Fprintf(&b, "\nkey %s %d %d", e.Name, e.From, e.To)
	}
	for _, f := range q.Fields {
		what := "element"
		switch {
		case f.Formula != nil:
			what = f.Formula.Format(q.ElementName)
		case f.Element.Aggregate:
			what = q.ElementName(f.Element)
		}
		fmt.Fprintf(&b, "\nfield %s %s", f.Name, what)
	}
	return b.String()
}

// checkStored holds that a query with WITH is the same when it is stored and read again.
func checkStored(t *testing.T, q *matcher.Query) {
	t.Helper()
	text, err := json.Marshal(q)
	require.NoError(t, err)
	again := new(matcher.Query)
	require.NoError(t, json.Unmarshal(text, again), "%s", text)
	require.True(t, matcher.SameDefinition(q, again), "%s", text)
	second, err := json.Marshal(again)
	require.NoError(t, err)
	require.JSONEq(t, string(text), string(second))
}
