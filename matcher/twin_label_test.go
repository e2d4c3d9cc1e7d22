package matcher_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// TestS17AnOwnConditionIsLikeALabel plays queries that demand a flag of every edge against queries for a label, on a
// stream in which edges with the flag have that label and others another one: what is replaced there is deleted under
// one label and inserted under the other.
func TestS17AnOwnConditionIsLikeALabel(t *testing.T) {
	found, replaced := 0, 0
	enough := func() bool { return found > 200 && replaced > 50 }
	matchertest.ForSeedsUntil(t, 10, enough, func(t *testing.T, rng *rand.Rand) {
		shape := matchertest.Shape{Directed: rng.IntN(2) == 0, Vertices: 6 + rng.IntN(5), Edges: 25, Messages: 80,
			Renewals: true, Labels: matchertest.Labels{Vertex: []string{"A", "B"}, Edge: []string{"T"}}}
		schema := &property.Schema{Edges: property.Declarations{"T": {"flag": {Kind: property.Bool}}}}
		msgs := matchertest.RandomStream(rng, shape)
		matchertest.SetValues(rng, msgs, schema.Edges.Columns())
		c := &matchertest.Case{Directed: shape.Directed, Schema: schema, Where: matchertest.Where{}}
		q := matchertest.RandomQueryOf(rng, 2+rng.IntN(3), "q", shape.Directed, shape.Labels)
		q.Unit, q.Emit = matcher.Unit(rng.IntN(2)), matcher.Emit(rng.IntN(3))
		for i := range q.Edges {
			q.Edges[i].AnyOf = nil
		}
		labelled := *q
		labelled.Edges = slices.Clone(q.Edges)
		var flags []*condition.Expr
		for i := range q.Edges {
			q.Edges[i].Label, labelled.Edges[i].Label = "T", "yes"
			flags = append(flags, &condition.Expr{Op: condition.OpProperty, Text: q.Edges[i].Name, Property: "flag"})
		}
		require.NoError(t, c.Ask(q, flags...))
		here := matchertest.NewDriverWith(t, matcher.EngineOptions{Graph: c.Graph(), Planner: plan.New(),
			Backend: newCPU(t, 1+rng.IntN(3), false)})
		there := matchertest.NewDriver(t, shape.Directed, newCPU(t, 1, false), plan.New())
		here.Register(q)
		there.Register(&labelled)
		for _, batch := range matchertest.Cut(rng, msgs) {
			got, want := here.Batch(batch), there.Batch(asLabels(batch))
			require.Equal(t, vertices(want), vertices(got), "batch %d of %+v", got.Number, q)
			found += len(want.Records)
			if s := got.Summary; s.NetInserted > 0 && s.NetDeleted > 0 {
				replaced++
			}
		}
	})
}

// asLabels turns the flag of edges into their label.
func asLabels(batch []dyngraph.Message) (all []dyngraph.Message) {
	for _, m := range batch {
		var n dyngraph.Message
		for _, u := range m.Updates {
			other := u
			u.Attr.Values, other.Attr.Values = nil, nil
			switch u.Op {
			case dyngraph.InsertEdge:
				flag := m.Updates[len(n.Updates)/2].Attr.Value(0).True()
				u.Label, other.Label = "no", "yes"
				if flag {
					u.Label, other.Label = "yes", "no"
				}
				other.Op = dyngraph.DeleteEdge
			case dyngraph.DeleteEdge:
				u.Label, other.Label = "no", "yes"
			}
			n.Updates = append(n.Updates, other, u) // a vertex operation done twice is done once
		}
		all = append(all, n)
	}
	return all
}

// vertices writes records without their edges, sorted: the anchors' places differ.
func vertices(out *matchertest.Output) (lines []string) {
	for _, r := range out.Records {
		lines = append(lines, fmt.Sprint(r.Sign, r.Kind, r.Count, r.Match.Vertices))
	}
	slices.Sort(lines)
	return lines
}
