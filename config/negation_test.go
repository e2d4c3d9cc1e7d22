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
