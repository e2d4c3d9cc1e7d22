package matcher_test

import (
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

// TestWhatCanNeverMatchIsSaid holds that labels which the graph has not are told, with the nearest that it has, as long
// as it has not, and that pattern edges which compete for one data edge are.
func TestWhatCanNeverMatchIsSaid(t *testing.T) {
	const none = "no vertex in the graph has the label "
	d := matchertest.NewDriver(t, true, newCPU(t, 1, false), plan.New())
	w := newWorld(t, true)
	g := d.Engine.Graph()
	warnings := func(directed bool, cypher string) []string {
		q, err := pattern.Parse(pattern.Cypher, []byte(cypher), pattern.Options{Name: "q", Directed: directed})
		require.NoError(t, err)
		require.NotContains(t, strings.Join(matcher.Warnings(q, dyngraph.Options{Directed: directed, EdgeIDs: true}, g),
			""), "match together")
		_, err = pattern.Parse(pattern.Cypher, []byte(cypher),
			pattern.Options{Name: "q", Directed: directed, OnePerLabel: true})
		edge, text := q.Competing(directed)
		require.Equal(t, edge >= 0, err != nil, text)
		return matcher.Warnings(q, dyngraph.Options{Directed: directed}, g)
	}
	require.Empty(t, warnings(true, "MATCH (a:Any)-[:ANY]->(b)"), "an empty graph says nothing")
	d.Batch(w.messages("+ x:Account y:Account"))
	require.Equal(
		t,
		[]string{none + `"account"; did you mean "Account"?`,
			`no edge in the graph has the label "0"; none has any label`},
		warnings(true, "MATCH (a:account)-[:`0`]->(b:account)"),
	)
	d.Batch(w.messages("+ x z:Bank PAY"))
	require.Equal(
		t,
		[]string{none + `"PAY"; there are "Account", "Bank"`},
		warnings(true, "MATCH (a:PAY)-[:PAY]->(b)"),
		"labels of edges are others",
	)
	require.Empty(t, warnings(true, "MATCH (a:Account)-[:PAY]->(b:Bank)"))
	require.Equal(t, []string{none + `"Bnk"; did you mean "Bank"?`,
		`no edge in the graph has the label "PAYS"; did you mean "PAY"?`},
		warnings(true, "MATCH (a:Account|Bnk)-[:PAY|PAYS]->(b:Bank|Bnk)"), "each alternative")
	d.Batch(w.messages("- x z PAY; +v n:PAY"))
	require.Equal(
		t,
		[]string{`no edge in the graph has the label "PAY"; none has any label`},
		warnings(true, "MATCH (a:PAY)-[:PAY]->(b)"),
	)

	g = nil
	for cypher, never := range map[string]bool{
		"MATCH (a)-[:T]->(b), (a)-[:T]->(b)":                                 true,
		"MATCH (a)-[:T]->(b), (b)-[:T]->(a)":                                 false,
		"MATCH (a)-[:T]->(b), (a)-[:S]->(b), (a)-->(b)":                      false,
		"MATCH (a)-[:T]->(b), (a)-[:T]-(b)":                                  false,
		"MATCH (a)-[:T]-(b), (a)-[:T]-(b), (b)-[:T]-(a)":                     true,
		"MATCH (a)-[:T]->(b), (b)-[:T]->(a), (a)-[:T]-(b)":                   true,
		"MATCH (a)-[:T|S]->(b), (a)-[:T]->(b)":                               false,
		"MATCH (a)-[:T|S]->(b), (a)-[:T|S]->(b)":                             false,
		"MATCH (a)-[:T|S]->(b), (a)-[:S]->(b), (a)-[:T]->(b), (b)-[:U]->(a)": true,
	} {
		got := warnings(true, cypher)
		require.Equal(t, never, len(got) > 0, "%s: %q", cypher, got)
		if never {
			require.Contains(t, got[0], `between "a" and "b" cannot match together`)
		}
	}
	require.Len(t, warnings(false, "MATCH (a)-[:T]-(b), (b)-[:T]-(a)"), 1)
	require.Empty(t, warnings(false, "MATCH (a)-[:T]-(b), (b)-[:S]-(a)"))
}

// TestLabelsVersionTellsWhatIsThere holds that the version of labels changes when one comes or goes, and not with
// vertices and edges alone.
func TestLabelsVersionTellsWhatIsThere(t *testing.T) {
	w := newWorld(t, true)
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true})
	step := func(text string) (changed bool) {
		before := g.LabelsVersion()
		updates, rejects := g.Accept(w.messages(text))
		require.Empty(t, rejects)
		_, err := g.Stage(updates)
		require.NoError(t, err)
		g.Commit()
		return g.LabelsVersion() != before
	}
	require.True(t, step("+ a:A b:A T"))
	require.False(t, step("+ b c:A T"))
	require.False(t, step("- b c T"))
	require.True(t, step("+ b c S"))
	require.True(t, step("- b c S"))
	require.True(t, step("+v d:D"))
}

// TestTimesComparedWithLengthsOfTimeAreSaid: in a WHERE, in a denied pattern, along a path and behind WITH.
func TestTimesComparedWithLengthsOfTimeAreSaid(t *testing.T) {
	schema := &property.Schema{Edges: property.Declarations{"T": {"ts": {Kind: property.Timestamp}}}}
	hour := map[string]condition.Parameter{"hour": {Values: []property.Value{property.Int(3_600_000)}}}
	for cypher, want := range map[string][]string{
		"MATCH (a)-[t:T]->(b)-[u:T]->(c) WHERE t.ts <= $hour AND u.ts - t.ts <= $hour": {"t.ts <= "},
		"MATCH (a)-[t:T]->(b) WHERE NOT EXISTS { (b)-[u:T]->(a) WHERE u.ts < $hour }":  {"u.ts < "},
		"MATCH (a)-[t:T*1..3]->(b) WHERE all(e IN t WHERE e.ts < $hour)":               {"t.ts < "},
		"MATCH (a)-[t:T]->(b) WHERE t.ts < $hour WITH b, count(*) AS n WHERE n > 1 " +
			"MATCH (b)-[u:T]->(c) WHERE NOT EXISTS { (c)-[w:T]->(b) WHERE w.ts > $hour } " +
			"WITH b, u, count(*) AS m WHERE u.ts = $hour": {"t.ts < ", "w.ts > ", "u.ts = "},
		"MATCH (a)-[t:T]->(b)-[u:T]->(c) WHERE t.ts < u.ts <= t.ts + $hour": nil,
	} {
		q, err := pattern.Parse(pattern.Cypher, []byte(cypher),
			pattern.Options{Name: "q", Directed: true, Declared: pattern.Declared{Schema: schema, Parameters: hour}})
		require.NoError(t, err)
		got := matcher.Warnings(q, dyngraph.Options{Directed: true, EdgeIDs: true, Schema: schema}, nil)
		require.Len(t, got, len(want), cypher)
		for i, text := range want {
			require.Contains(t, got[i], text+"3600000 compares a time with 1970-01-01T01:00:00Z; ", cypher)
		}
	}
}
