package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestS25RetentionIsWarnedOf: the configuration warns of a query whose blockers are kept for a shorter time than the
// match.
func TestS25RetentionIsWarnedOf(t *testing.T) {
	for retention, want := range map[string]bool{"{PAID: 30d, KNOWS: 7d}": true, "{PAID: 7d, KNOWS: 7d}": false,
		"{PAID: 7d}": false, "{KNOWS: 7d}": true, "{PAID: 7d, \"*\": 1d}": true} {
		c, err := load(t, sound+`
graph: {retention: `+retention+`}
queries:
  - name: strangers
    cypher: "MATCH (a)-[:PAID]->(b) WHERE NOT (a)-[:KNOWS]-(b)"
`, nil)
		require.NoError(t, err)
		_, err = c.BuildQueries()
		require.NoError(t, err)
		require.Equal(t, want, strings.Contains(strings.Join(c.Warnings(), "\n"), "are kept for"), retention)
	}
}

// TestQueriesThatHardlyMatchAreWarnedOf: the configuration warns of what the pattern alone tells, and only of that.
func TestQueriesThatHardlyMatchAreWarnedOf(t *testing.T) {
	for where, want := range map[string]string{
		"t.ts <= $hour":        "queries[0]: t.ts <= 3600000 compares a time with 1970-01-01T01:00:00Z",
		"u.ts - t.ts <= $hour": "",
		"$hour > 1 AND NOT EXISTS { (a)-[v:PAID]->(b) WHERE v.ts <= t.ts }": "queries[0]: every match has what NOT ",
	} {
		c, err := load(t, sound+`
graph: {properties: {edges: {PAID: {ts: timestamp}}}}
queries:
  - name: fast
    cypher: "MATCH (a)-[t:PAID]->(b)-[u:PAID]->(c) WHERE `+where+`"
    params: {hour: 1h}
`, nil)
		require.NoError(t, err, where)
		if want == "" {
			require.Empty(t, c.Warnings(), where)
			continue
		}
		require.Len(t, c.Warnings(), 1, where)
		require.Contains(t, c.Warnings()[0], want)
	}
}
