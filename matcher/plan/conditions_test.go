package plan

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/matchertest"
	"motifd/matcher/pattern"
)

// TestExplainConditions compares the text of plans with conditions with golden files.
func TestExplainConditions(t *testing.T) {
	schema := &property.Schema{Edges: property.Declarations{"TRANSFER": {
		"amount": {Kind: property.Decimal, Scale: 2}, "ts": {Kind: property.Timestamp},
		"currency": {Kind: property.String}}},
		Vertices: property.Declarations{"Account": {"risk": {Kind: property.Int64}, "blocked": {Kind: property.Bool}}}}
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true, Schema: schema})
	for name, text := range map[string]string{
		"where-own": "MATCH (a:Account)-[t:TRANSFER]->(b:Account)-[u:TRANSFER]->(c:Account)-[w:TRANSFER]->(a) " +
			"WHERE t.amount > 10 AND u.amount > 10 AND w.amount > 10",
		"where-chain": "MATCH (a:Account)-[t:TRANSFER]->(b:Account)-[u:TRANSFER]->(c:Account)-[w:TRANSFER]->(a) " +
			"WHERE t.ts < u.ts < w.ts AND w.amount >= t.amount",
		"where-either": "MATCH (m:Account)-[t:TRANSFER]->(a:Account), (m)-[u:TRANSFER]->(b:Account) " +
			"WHERE t.amount = u.amount",
		"where-vertices": "MATCH (a:Account)-[t:TRANSFER]->(m:Account {blocked: true})-[u:TRANSFER]->(b:Account) " +
			"WHERE a.risk > 5 AND b.risk > 5 AND t.amount > a.risk",
		"where-text": "MATCH (a:Account)-[t:TRANSFER]->(m:Account)-[u:TRANSFER]->(b:Account) " +
			"WHERE t.currency = u.currency AND 10 * u.amount >= 9 * t.amount",
		"where-path": "MATCH (a)-[t:TRANSFER*2..3]->(b) " +
			"WHERE motifd.increasing(t)",
	} {
		r, err := pattern.ParseRule([]byte(text), pattern.Options{Name: name, Directed: true},
			pattern.Declared{Schema: schema})
		require.NoError(t, err)
		q := r.Query
		q.Version, q.Conditions = 1, r.Conditions
		switch name {
		case "where-chain":
			q.Within, q.Emit = 86_400_000, matcher.EmitCounts
		case "where-either", "where-vertices":
			q.Unit = matcher.Subgraphs
		}
		p, err := New().Plan(q, g)
		require.NoError(t, err)
		file := filepath.Join("testdata", name+".txt")
		if *rewrite {
			require.NoError(t, os.WriteFile(file, []byte(p.String()), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want), p.String(), name)
	}
}

// TestS17AutomorphismsPreserveConditions plays the constraints of plans with conditions against all automorphisms that
// preserve them, found by trying: their number, and that of all images of an assignment of ids exactly one meets the
// constraints, the smallest.
func TestS17AutomorphismsPreserveConditions(t *testing.T) {
	seen := [2]int{} // with conditions between edges: patterns with symmetry, and with less of it than labels allow
	enough := func() bool { return seen[0] > 0 && seen[1] > 0 }
	matchertest.ForSeedsUntil(t, 60, enough, func(t *testing.T, rng *rand.Rand) {
		labels := matchertest.RandomLabels(rng)
		c := &matchertest.Case{Directed: rng.IntN(2) == 0, Schema: matchertest.RandomSchema(rng, labels),
			Where: matchertest.Where{}}
		g := dyngraph.NewGraph(dyngraph.Options{Directed: c.Directed, Schema: c.Schema})
		for range 10 {
			q := matchertest.RandomQuery(rng, "q", c.Directed, labels)
			if rng.IntN(3) == 0 { // parallel edges
				q.Edges = append(q.Edges, q.Edges[0])
				q.Edges[len(q.Edges)-1].Name = "more"
			}
			bare := matchertest.Automorphisms(q)
			c.AskRandomly(rng, q, rng.IntN(4) == 0)
			p, err := New().Plan(q, g)
			require.NoError(t, err)
			group := matchertest.Automorphisms(q)
			require.Equal(t, matcher.CountOf(uint64(len(group))), p.Automorphisms, "%+v", q)
			if slices.ContainsFunc(q.Conditions, func(c *condition.Condition) bool { return !c.Own() }) {
				if len(group) > 1 {
					seen[0]++
				}
				if len(group) < len(bare) {
					seen[1]++
				}
			}
			vertices, edges := rng.Perm(len(q.Vertices)), rng.Perm(len(q.Edges))
			image := func(a matchertest.Automorphism) (ids []int) {
				for _, v := range a.Vertices {
					ids = append(ids, vertices[v])
				}
				for _, e := range a.Edges {
					ids = append(ids, edges[e])
				}
				return ids
			}
			n, met := len(q.Vertices), [][]int(nil)
			least := image(group[0])
			for _, a := range group {
				ids := image(a)
				if slices.Compare(ids, least) < 0 {
					least = ids
				}
				ok := true
				for _, l := range p.VertexLess {
					ok = ok && ids[l[0]] < ids[l[1]]
				}
				for _, l := range p.EdgeLess {
					ok = ok && ids[n+l[0]] < ids[n+l[1]]
				}
				if ok {
					met = append(met, ids)
				}
			}
			require.Equal(t, [][]int{least}, met, "%+v", q)
		}
	})
}
