package matcher_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
)

// TestS17ReferenceEqualsRecomputation holds the reference backend, and with it the engine, against the oracle on
// queries with conditions and streams that replace edges.
func TestS17ReferenceEqualsRecomputation(t *testing.T) {
	matchertest.NotUnderRace(t, "the reference has one thread")
	matchertest.ForSeeds(t, 8, func(t *testing.T, rng *rand.Rand) {
		playOracle(t, whereCase(rng, 5), reference.New(), rng)
	})
}

// TestS17EngineEqualsRecomputation does the same with the CPU backend.
func TestS17EngineEqualsRecomputation(t *testing.T) {
	matchertest.ForSeeds(t, 25, func(t *testing.T, rng *rand.Rand) {
		playOracle(t, whereCase(rng, 5), newCPU(t, 1+rng.IntN(3), rng.IntN(3) == 0), rng)
	})
}

func whereCase(rng *rand.Rand, queries int) *matchertest.Case {
	return matchertest.RandomCaseWhere(rng, queries, rng.IntN(2) == 0).With(func(q *matcher.Query) {
		q.Unit, q.SilentChange = matcher.Unit(rng.IntN(2)), rng.IntN(3) == 0
		q.Emit = []matcher.Emit{matcher.EmitDeltas, matcher.EmitDeltas, matcher.EmitCounts,
			matcher.EmitExists}[rng.IntN(4)]
		q.Backfill = matcher.Backfill(rng.IntN(2))
	})
}

// TestS17StoredQuery reads a query without conditions as it was always stored, and writes the same bytes; one with
// conditions comes back as it was.
func TestS17StoredQuery(t *testing.T) {
	const old = `{"name":"q","version":3,"vertices":[{"name":"a","label":"A"},{"name":"b"}],"edges":[{"name":"t",` +
		`"from":0,"to":1,"label":"T","either":true}],"unit":1,"emit":0,"backfill":1,"max_matches_per_batch":7,` +
		`"source":"MATCH (a:A)-[t:T]-(b)","language":"cypher","origin":"api"}`
	q := new(matcher.Query)
	require.NoError(t, json.Unmarshal([]byte(old), q))
	text, err := json.Marshal(q)
	require.NoError(t, err)
	require.Equal(t, old, string(text))

	matchertest.ForSeeds(t, 50, func(t *testing.T, rng *rand.Rand) {
		for _, q := range matchertest.RandomCaseWhere(rng, 2, rng.IntN(2) == 0).Queries {
			text, err := json.Marshal(q)
			require.NoError(t, err)
			again := new(matcher.Query)
			require.NoError(t, json.Unmarshal(text, again))
			require.True(t, matcher.SameDefinition(q, again))
			back, err := json.Marshal(again)
			require.NoError(t, err)
			require.Equal(t, string(text), string(back))
			again.Within++
			require.False(t, matcher.SameDefinition(q, again))
			if again.Within--; len(again.Conditions) > 0 {
				again.Conditions = again.Conditions[1:]
				require.False(t, matcher.SameDefinition(q, again))
			}
		}
	})
}

// TestS17RefusedQueries has queries refused that ask about what is not there.
func TestS17RefusedQueries(t *testing.T) {
	schema := &property.Schema{Edges: property.Declarations{"T": {"n": {Kind: property.Int64}}}}
	query := func(change func(*matcher.Query)) *matcher.Query {
		q := &matcher.Query{Name: "q", Version: 1, Vertices: []matcher.QueryVertex{{Name: "a"}, {Name: "b"}},
			Edges: []matcher.QueryEdge{{Name: "t", To: 1, Label: "T"}}}
		c := &matchertest.Case{Schema: schema, Where: matchertest.Where{}}
		require.NoError(t, c.Ask(q, &condition.Expr{Op: condition.OpIsNull, Args: []*condition.Expr{
			{Op: condition.OpProperty, Text: "t", Property: "n"}}}))
		change(q)
		return q
	}
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true, Schema: schema})
	_, err := plan.New().Plan(query(func(*matcher.Query) {}), g)
	require.NoError(t, err)
	d := matchertest.NewDriverWith(t, matcher.EngineOptions{Backend: reference.New(), Planner: plan.New(),
		Graph: dyngraph.NewGraph(dyngraph.Options{Directed: true, Schema: schema})})
	for want, change := range map[string]func(*matcher.Query){
		`bad query "q": within is -1 ms; it is a duration of 1 ms at least, or absent`: func(q *matcher.Query) {
			q.Within = -1
		},
		`bad query "q": field "f": it reads vertex 2; the pattern has 2`: func(q *matcher.Query) {
			q.Fields = []matcher.Field{{Name: "f", Element: condition.Ref{Index: 2}}}
		},
		`bad query "q": within reads the ts of edge "t", which is not declared for the label "T"; declare it: ` +
			`graph.properties.edges: {"T": {ts: timestamp}}`: func(q *matcher.Query) { q.Within = 1 },
		`bad query "q": it reads t.n as int64, which graph.properties does not declare`: func(q *matcher.Query) {
			q.Edges[0].Label = "U"
		},
	} {
		_, err := plan.New().Plan(query(change), g)
		require.ErrorIs(t, err, matcher.ErrQuery)
		_, again := d.Engine.PrepareChange(&matcher.QueryChange{Add: query(change)})
		require.EqualError(t, again, err.Error())
		require.EqualError(t, err, want)
	}
}
