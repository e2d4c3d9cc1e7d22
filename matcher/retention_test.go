package matcher_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher"
	"motifd/matcher/pattern"
)

// TestS25RetentionWarning: a blocker that is kept for a shorter time than the match is warned of.
func TestS25RetentionWarning(t *testing.T) {
	kept := map[string]int64{"PAID": 3_600_000, "KNOWS": 60_000}
	for text, want := range map[string]string{
		"MATCH (a)-[:PAID]->(b) WHERE NOT (a)-[:KNOWS]-(b)": "NOT EXISTS { (a)-[_e1:KNOWS]-(b) }: edges _e1 are kept " +
			"for 1m0s, and those of the match for 1h0m0s (graph.retention); a match begins when they expire",
		"MATCH (a)-[:KNOWS]->(b) WHERE NOT (a)-[:PAID]->()":          "",
		"MATCH (a)-[:PAID]->(b) WHERE NOT (b)-[:PAID]->(a)":          "",
		"MATCH (a)-[:OWNS]->(b) WHERE NOT (b)-[:OWNS]->()":           "",
		"MATCH (a)-[:PAID|KNOWS]->(b) WHERE NOT (a)-[:KNOWS]-(b)":    "1m0s, and those of the match for 1h0m0s",
		"MATCH (a)-[:PAID]->(b) WHERE NOT (a)-[:OWNS|KNOWS]-(b)":     "1m0s",
		"MATCH (a)-[:OWNS]->(b) WHERE NOT (a)-[:KNOWS]-(b)":          "edges of the match do not expire",
		"MATCH (a)-->(b) WHERE NOT (a)-[:KNOWS]->()":                 "edges of the match do not expire",
		"MATCH (a)-[:PAID]->(b) WHERE NOT (b)-->(a)":                 "1m0s",
		"MATCH (a)-[:PAID]->(b)-[:KNOWS]->() WHERE NOT (b)-->(a)":    "",
		"MATCH (a)-[:PAID]->(b)-[:KNOWS]->() WHERE NOT (a)<-[:X]-()": "",
	} {
		q, err := pattern.Parse(pattern.Cypher, []byte(text), pattern.Options{Name: "q", Directed: true})
		require.NoError(t, err, text)
		got := matcher.RetentionWarnings(q, []string{"KNOWS", "PAID"}, func(label string) (int64, bool) {
			ms, ok := kept[label]
			return ms, ok
		})
		if want == "" {
			require.Empty(t, got, text)
			continue
		}
		require.Len(t, got, 1, text)
		require.Contains(t, got[0], want, text)
	}
}
