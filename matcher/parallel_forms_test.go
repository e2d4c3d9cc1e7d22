package matcher_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/pattern"
	"motifd/matcher/plan"
)

// TestA17ParallelEdgesAreCounted holds numbers of matches over parallel edges against closed forms: d edges from a to b
// and e from b to c, of one label: two edges over d are d(d-1), and not d^2 (trap 8). Counts and deltas say the same.
func TestA17ParallelEdgesAreCounted(t *testing.T) {
	matchertest.ForSeeds(t, 3, func(t *testing.T, rng *rand.Rand) {
		d, e := uint64(2+rng.IntN(36)), uint64(1+rng.IntN(12)) // ids are looked up in a map, or not
		forms := map[string]uint64{
			"MATCH (x)-[:T]->(y)":                                       d + e,
			"MATCH (x)-[:T]->(y), (x)-[:T]->(y)":                        d*(d-1) + e*(e-1),
			"MATCH (x)-[:T]->(y), (x)-[:T]->(y), (x)-[:T]->(y)":         d*(d-1)*(d-2) + e*max(e-1, 0)*(max(e, 2)-2),
			"MATCH (x)-[:T]->(y)-[:T]->(z)":                             d * e,
			"MATCH (x)-[:T]->(y)-[:T]->(z), (x)-[:T]->(y)":              d * (d - 1) * e,
			"MATCH (x)-->(y)-[:T]->(z), (y)-->(z)":                      d * e * (e - 1),
			"MATCH (x)-[:T]->(y)<-[:T]-(z)":                             0,
			"MATCH (x)-[:T]-(y)-[:T]-(z)":                               2 * d * e,
			"MATCH (y)<-[:T]-(x)-[:T]->(y), (y)-[:T]->(z)-[:T]->(:Nil)": 0,
		}
		texts := map[string]string{} // by query
		var queries []*matcher.Query
		for text := range forms {
			for _, emit := range []matcher.Emit{matcher.EmitCounts, matcher.EmitDeltas} {
				q, err := pattern.Parse(pattern.Cypher, []byte(text),
					pattern.Options{Name: fmt.Sprint("q", len(queries)), Directed: true})
				require.NoError(t, err)
				q.Emit, texts[q.Name] = emit, text
				queries = append(queries, q)
			}
		}
		g := dyngraph.NewGraph(dyngraph.Options{Directed: true, EdgeIDs: true})
		run := matchertest.NewDriverWith(t, matcher.EngineOptions{Graph: g, Backend: newCPU(t, 2, false),
			Planner: plan.New()})
		for _, q := range queries {
			run.Register(q)
		}
		var updates []dyngraph.Update
		add := func(op dyngraph.Op, from, to string, n uint64) {
			for i := range n {
				u := dyngraph.Update{Op: op, From: from, To: to, Label: "T"}
				if i > 0 { // one has no id
					u.Attr.ID = fmt.Sprint(i)
				}
				updates = append(updates, u)
			}
		}
		check := func(sign dyngraph.Sign) {
			t.Helper()
			totals := map[string]uint64{}
			for len(updates) > 0 {
				n := min(len(updates), 1+rng.IntN(60))
				for _, r := range run.Batch([]dyngraph.Message{{Updates: updates[:n]}}).Records {
					by := uint64(1)
					if r.Kind == matcher.EventCount {
						by, _ = r.Count.Uint64()
					}
					if r.Sign != sign {
						t.Fatalf("sign %d of %v", r.Sign, r.Match)
					}
					totals[r.Query] += by
				}
				updates = updates[n:]
			}
			for _, q := range queries {
				require.Equal(t, forms[texts[q.Name]], totals[q.Name], "%s, d=%d e=%d emit %d", texts[q.Name], d, e,
					q.Emit)
			}
		}
		add(dyngraph.InsertEdge, "a", "b", d)
		add(dyngraph.InsertEdge, "b", "c", e)
		check(dyngraph.Inserted)
		add(dyngraph.DeleteEdge, "a", "b", d)
		add(dyngraph.DeleteEdge, "b", "c", e)
		rng.Shuffle(len(updates), func(i, j int) { updates[i], updates[j] = updates[j], updates[i] })
		check(dyngraph.Deleted)
		require.Zero(t, g.Edges())
	})
}
