package matcher_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/matchertest"
	"motifd/matcher/pattern"
	"motifd/matcher/plan"
)

// TestS21LabelsAreLikeFlags plays a stream of vertices with several labels against one in which each label is a
// declared flag of the vertex: records, anchors and order are the same.
func TestS21LabelsAreLikeFlags(t *testing.T) {
	found, revised := 0, 0
	enough := func() bool { return found > 200 && revised > 100 }
	matchertest.ForSeedsUntil(t, 10, enough, func(t *testing.T, rng *rand.Rand) {
		names := []string{"A", "B"}
		shape := matchertest.Shape{Directed: rng.IntN(2) == 0, Vertices: 5 + rng.IntN(4), Edges: 20, Messages: 60,
			Labels: matchertest.Labels{Vertex: names, Edge: []string{"T"}}}
		flags := map[string]property.Type{}
		for _, l := range names {
			flags[l] = property.Type{Kind: property.Bool}
		}
		there := &matchertest.Case{Directed: shape.Directed, Where: matchertest.Where{},
			Schema: &property.Schema{Vertices: property.Declarations{property.Any: flags}}}
		here := &matchertest.Case{Directed: shape.Directed, Labels: shape.Labels, Labelled: matchertest.Labelled{},
			Schema: &property.Schema{SeveralLabels: true}}
		msgs := matchertest.ReviseVertices(rng, matchertest.RandomStream(rng, shape), here.Schema.VertexColumns())
		matchertest.Relabel(rng, msgs, shape.Labels)
		for _, m := range msgs {
			for i := range m.Updates {
				m.Updates[i].FromLabel, m.Updates[i].ToLabel = "", "" // an edge sets no flags
			}
		}
		q := matchertest.RandomQueryOf(rng, 2+rng.IntN(3), "q", shape.Directed, shape.Labels)
		q.Unit, q.Emit = matcher.Unit(rng.IntN(2)), matcher.Emit(rng.IntN(3))
		here.Demand(rng, q)
		flagged := *q
		var where []*condition.Expr
		for i, labels := range here.Labelled["q"] {
			if labels != nil {
				where = append(where, asFlags(q.Vertices[i].Name, labels))
			}
		}
		flagged.Conditions = nil
		require.NoError(t, there.Ask(&flagged, where...))
		driver := func(c *matchertest.Case) *matchertest.Driver {
			return matchertest.NewDriverWith(t, matcher.EngineOptions{Graph: c.Graph(), Planner: plan.New(),
				Backend: newCPU(t, 1+rng.IntN(3), false)})
		}
		a, b := driver(here), driver(there)
		a.Register(q)
		b.Register(&flagged)
		for _, batch := range matchertest.Cut(rng, msgs) {
			got, want := a.Batch(batch), b.Batch(labelsAsFlags(batch, names))
			require.Equal(t, withoutIDs(want.Records), withoutIDs(got.Records), "batch %d of %+v", got.Number, q)
			found += len(want.Records)
			revised += got.Summary.Revised
		}
	})
}

// withoutIDs leaves out the ids: the labels of vertices have some, too.
func withoutIDs(records []matchertest.Record) []matchertest.Record {
	all := slices.Clone(records)
	for i := range all {
		all[i].IDs, all[i].AnchorIDs = nil, nil
	}
	return all
}

// asFlags says of a vertex's flags what a demand says of its labels.
func asFlags(variable string, labels condition.Labels) *condition.Expr {
	flag := func(l string) *condition.Expr {
		return &condition.Expr{Op: condition.OpIsNotNull,
			Args: []*condition.Expr{{Op: condition.OpProperty, Text: variable, Property: l}}}
	}
	join := func(op condition.Op, all []*condition.Expr) *condition.Expr {
		if len(all) == 1 {
			return all[0]
		}
		return &condition.Expr{Op: op, Args: all}
	}
	var alternatives []*condition.Expr
	for _, a := range labels {
		var all []*condition.Expr
		for _, l := range a.All {
			all = append(all, flag(l))
		}
		for _, l := range a.None {
			all = append(all, &condition.Expr{Op: condition.OpNot, Args: []*condition.Expr{flag(l)}})
		}
		alternatives = append(alternatives, join(condition.OpAnd, all))
	}
	return join(condition.OpOr, alternatives)
}

// labelsAsFlags turns the labels of vertices into values of their flags.
func labelsAsFlags(batch []dyngraph.Message, names []string) (all []dyngraph.Message) {
	for _, m := range batch {
		var n dyngraph.Message
		for _, u := range m.Updates {
			if u.Op.OfVertex() {
				text := u.Label
				u.Label, u.Attr.Values, u.Named = "", make([]property.Value, len(names)), nil
				for l := range property.EachLabel(text) {
					is := property.Truth(true)
					if u.Op == dyngraph.ReviseVertex {
						if l[0] == property.RemoveLabel {
							is = property.Value{}
						}
						l = l[1:]
						u.Named = append(u.Named, slices.Index(names, l))
					}
					u.Attr.Values[slices.Index(names, l)] = is
				}
				slices.Sort(u.Named)
				u.Named = slices.Compact(u.Named)
			}
			n.Updates = append(n.Updates, u)
		}
		all = append(all, n)
	}
	return all
}

// TestS21LabelsThatNoVertexHas: labels of a pattern that the data has never shown are told, those behind ! too.
func TestS21LabelsThatNoVertexHas(t *testing.T) {
	schema := &property.Schema{SeveralLabels: true}
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true, Schema: schema})
	version := g.LabelsVersion()
	apply := func(u dyngraph.Update) {
		accepted, rejects := g.Accept([]dyngraph.Message{{Updates: []dyngraph.Update{u}}})
		require.Empty(t, rejects)
		_, err := g.Stage(accepted)
		require.NoError(t, err)
		g.Commit()
		require.NotEqual(t, version, g.LabelsVersion())
		version = g.LabelsVersion()
	}
	apply(dyngraph.Update{Op: dyngraph.InsertVertex, Key: "a", Label: property.JoinLabels("Account", "Business")})
	warnings := func(cypher string) string {
		q, err := pattern.Parse(pattern.Cypher, []byte(cypher), pattern.Options{Name: "q", Directed: true,
			Declared: pattern.Declared{Schema: schema}})
		require.NoError(t, err)
		require.Equal(t, matcher.MissingLabels(q, g), len(matcher.Warnings(q, g.Options(), g)))
		return strings.Join(matcher.Warnings(q, dyngraph.Options{EdgeIDs: true, Directed: true}, g), "; ")
	}
	require.Empty(t, warnings("MATCH (a:Account&!Business)"))
	const none = `no vertex in the graph has the label `
	require.Equal(t, none+`"account"; did you mean "Account"?; `+none+`"Blocked"; there are "Account", "Business"`,
		warnings("MATCH (a:account&!Blocked)"))
	apply(dyngraph.Update{Op: dyngraph.ReviseVertex, Key: "a", Label: "+Blocked"})
	require.Equal(t, none+`"account"; did you mean "Account"?`, warnings("MATCH (a:account&!Blocked)"))
	apply(dyngraph.Update{Op: dyngraph.ReviseVertex, Key: "a", Label: "-Blocked"})
	require.Contains(t, warnings("MATCH (a:Account&!Blocked)"), "Blocked")
}
