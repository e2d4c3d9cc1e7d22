package matcher_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// TestS11ARevisedVertexEndsNoOtherMatches: a group of negatives beyond a limit, whose anchor is a revised vertex, is
// told in one notice that voids the matches with the vertex. Where some of these hold still the query is suspended
// instead: they would be lost.
func TestS11ARevisedVertexEndsNoOtherMatches(t *testing.T) {
	for cypher, suspended := range map[string]bool{
		"MATCH (a:A)-[t:T]->(b) WHERE a.risk > 5 RETURN a, b":                   true, // v is b as well
		"MATCH (a:A)-[t:T]->(b:B) WHERE a.risk > 5 RETURN a, b":                 false,
		"MATCH (a:A)-[t:T]->(b:B) WHERE a.risk > 5 OR t.amount = 7 RETURN a":    true, // one edge holds still
		"MATCH (a:A)-[t:T]->(b:B)<-[u:T]-(c:A) WHERE a.risk > 5 RETURN a, b":    true, // v is c as well
		"MATCH (a:A)-[t:T]->(b:B)<-[u:T]-(c:A) WHERE a.risk > 5 AND c.risk > 5": false,
	} {
		t.Run(cypher, func(t *testing.T) {
			w := newWorldOf(t, true, accounts())
			d := matchertest.NewDriverWith(t, matcher.EngineOptions{Backend: newCPU(t, 1, false), Planner: plan.New(),
				Graph:  dyngraph.NewGraph(dyngraph.Options{Directed: true, Schema: accounts()}),
				Limits: matcher.Limits{Matches: 1}})
			d.Register(w.query("q", cypher))
			believed := consumer{}
			for _, text := range []string{"+v v:A risk=9; +v u:A risk=9", "+ u:A v:A T", "+ v:A w1:B T amount=7",
				"+ v:A w2:B T", "+ v:A w3:B T", "+ u:A w1:B T", "+ u:A w2:B T"} {
				believed.read(d.Batch(w.messages(text)).Records, "q")
			}
			out := d.Batch(w.messages("=v v risk=1"))
			believed.read(out.Records, "q")
			require.Equal(t, suspended, out.Queries[0].Suspended, "%v", out.Lines())
			require.Len(t, out.Decided, 1)
			for _, m := range believed {
				require.True(t, suspended || m.Vertices[0].Key != "v", "%v", m)
			}
		})
	}
}
