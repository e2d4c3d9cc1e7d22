package matcher_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/groups"
	"motifd/matcher/matchertest"
	"motifd/matcher/negation"
	"motifd/matcher/paths"
	"motifd/matcher/plan"
)

// TestEngineKept holds that state is told of hubs alone, as much as there is: aggregates take little, and edges by ts
// in proportion to their number; and that it goes with the query.
func TestEngineKept(t *testing.T) {
	schema := &property.Schema{Edges: property.Declarations{"T": {"ts": {Kind: property.Timestamp}}}}
	be := groups.New(paths.New(negation.New(cpu.New(cpu.Options{Threads: 1}), negation.Options{})),
		groups.Options{HubDegree: 100})
	w := &world{t: t, directed: true, schema: schema}
	w.cpu = matchertest.NewDriverWith(t, matcher.EngineOptions{Backend: be, Planner: plan.New(),
		Graph: dyngraph.NewGraph(dyngraph.Options{Directed: true, Schema: schema})})
	for name, cypher := range map[string]string{
		"star":   "MATCH (s)-[t:T]->(m) WITH m, count(*) AS n WHERE n >= 3 RETURN m, n",
		"latest": "MATCH (s)-[t:T]->(m) WITH m, count(*) AS n, collect(t)[..2] AS l WHERE n >= 3 RETURN m, n, l",
		"window": "MATCH ()-[o:T]->(m) MATCH (s)-[t:T]->(m) WHERE t.ts <= o.ts AND o.ts - t.ts <= 5 WITH m, o, " +
			"count(*) AS n WHERE n >= 9 RETURN m, o, n",
		"plain": "MATCH (s)-[t:T]->(m)",
	} {
		w.cpu.Register(w.query(name, cypher))
	}
	kept := w.cpu.Engine.Kept
	play := func(from, to int, hub string) {
		var text []string
		for i := from; i < to; i++ {
			text = append(text, fmt.Sprintf("+ s%d %s T ts=%d", i, hub, i))
		}
		w.cpu.Batch(w.messages(strings.Join(text, "; ")))
	}
	play(0, 50, "m")
	for _, name := range []string{"star", "latest", "window", "plain", "unknown"} {
		require.Zero(t, kept(name), name)
	}
	play(50, 400, "m")
	play(400, 401, "m")
	play(0, 200, "h")
	play(200, 201, "h")
	const entry = 24 // ts, edge, other end and state
	require.Equal(t, 2, kept("star").Hubs)
	require.Less(t, kept("star").Bytes, uint64(1000))
	require.Equal(t, 2, kept("latest").Hubs)
	require.GreaterOrEqual(t, kept("latest").Bytes, uint64(602*entry))
	require.Equal(t, 2, kept("window").Hubs)
	require.GreaterOrEqual(t, kept("window").Bytes, uint64(2*602*entry))
	require.Less(t, kept("window").Bytes, uint64(8*602*entry))
	require.Zero(t, kept("plain"))
	w.cpu.Remove("window")
	require.Zero(t, kept("window"))
}
