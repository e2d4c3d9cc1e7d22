package matcher_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/pattern"
)

// TestS25BlockedByItself holds that a query is warned of whose own edges meet what must be absent, and no other one:
// such a query has no match where no value is missing, and each other one here has some. Without conditions it is
// refused.
func TestS25BlockedByItself(t *testing.T) {
	for cypher, met := range map[string]string{
		"MATCH (a)-[t:T]->(b) WHERE NOT (a)<-[:T]-(b)":                                        "",
		"MATCH (a)-[t:T]->(b) WHERE NOT (a)-[:U]->(b)":                                        "",
		"MATCH (a)-[t:T]-(b) WHERE NOT (a)-[:T]->(b)":                                         "",
		"MATCH (a)-[t:T]->(b) WHERE NOT (a)-[:T]->(:B)":                                       "",
		"MATCH (a)-[t:T|S]->(b) WHERE NOT (a)-[:T]->(b)":                                      "",
		"MATCH (a)-[t:T]->(b) WHERE NOT (a)-[:T]->()-[:T]->(b)":                               "",
		"MATCH (a)-[t:T]->(b)-[u:T]->(c) WHERE NOT EXISTS { (a)-[v:T]->(x), (b)-[w:T]->(c) }": "",
		"MATCH (a)-[t:T]->(b) WHERE NOT EXISTS { (a)-[u:T]->(b) WHERE u.n <= t.n }":           "t as u",
		"MATCH (a)-[t:T]->(b) WHERE NOT EXISTS { (a)-[u:T]->(b) WHERE u.n < t.n }":            "",
		"MATCH (a)-[t:T]->(b) WHERE t.n > 1 AND NOT EXISTS { (a)-[u:T]->(b) WHERE u.n >= 2 }": "t as u",
		"MATCH (a)-[t:T]->(b) WHERE t.n > 1 AND NOT EXISTS { (a)-[u:T]->(b) WHERE u.n >= 3 }": "",
		"MATCH (a)-[t:T]->(b) WHERE NOT EXISTS { (a)-[u:T]->(b) WHERE u.ts - t.ts <= 5 }":     "t as u",
		"MATCH (a)-[t:T]->(b) WHERE NOT EXISTS { (a)-[u:T]-() WHERE u.ts <= t.ts }":           "t as u",
		"MATCH (a)-[t:T]->(b) WHERE NOT EXISTS { (a)-[u:T]->(b) WHERE u.ts > t.ts }":          "",
		"MATCH (a)-[t:T]->(b)-[u:T]->(c) WHERE NOT EXISTS { (a)-[v]->(x)-[w]->(c) WHERE v.n <= t.n }": "t as v, " +
			"u as w",
		"MATCH (b)<-[t:T]-(a) WHERE NOT EXISTS { (b)<-[u:T]-() WHERE u.n >= t.n } " +
			"WITH b, count(*) AS n WHERE n > 0 RETURN b, n": "t as u",
		"MATCH (b)<-[t:T]-(a) WHERE NOT EXISTS { (b)<-[u:T]-() WHERE u.n > t.n } " +
			"WITH b, count(*) AS n WHERE n > 0 RETURN b, n": "",
	} {
		w := newWorldOf(t, true, negationSchema())
		q := w.query("q", cypher)
		w.register(q)
		got := matcher.Warnings(q, dyngraph.Options{Directed: true, EdgeIDs: true}, nil)
		out := w.cpu.Batch(w.messages("+ x:A y:A T n=2 ts=7; + y:A z:A T n=2 ts=8; + x:A z:A S n=2 ts=9"))
		if met == "" {
			require.Empty(t, got, cypher)
			require.NotEmpty(t, out.Records, cypher)
			continue
		}
		require.Len(t, got, 1, cypher)
		require.Contains(t, got[0], "its own "+met, cypher)
		require.Empty(t, out.Records, cypher)
	}
	for _, cypher := range []string{
		"MATCH (a)-[t:T]->(b) WHERE NOT (a)-[:T]->(b)",
		"MATCH (a)-[t:T]->(b) WHERE NOT (a)-[]-()",
		"MATCH (a)-[t:T]->(b:A) WHERE NOT (a)-[:T|S]->(:A|B)",
		"MATCH (a)-[t:T]->(b)-[u:T]->(c) WHERE NOT (a)-[:T]->()-[:T]->(c)",
	} {
		_, err := pattern.Parse(pattern.Cypher, []byte(cypher), pattern.Options{Name: "q", Directed: true})
		require.ErrorContains(t, err, `every match has what this denies: its edge "t"`, cypher)
	}
}
