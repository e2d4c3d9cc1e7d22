package admin

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph/property"
	"motifd/matcher"
)

// TestMatchModeGoesThrough holds that the API takes a match mode, shows it, and refuses one that there is not.
func TestMatchModeGoesThrough(t *testing.T) {
	for mode, want := range map[string]matcher.MatchMode{"": matcher.Isomorphism, "isomorphism": matcher.Isomorphism,
		"trail": matcher.Trail, "homomorphism": matcher.Homomorphism} {
		var n NewQuery
		body := `{"name":"q","cypher":"MATCH (a)-[:T]->(b)<-[:T]-(c)","match_mode":"` + mode + `"}`
		require.NoError(t, json.Unmarshal([]byte(body), &n))
		q, err := n.build(true, "", nil)
		require.NoError(t, err)
		require.Equal(t, want, q.MatchMode)
		info := (&Query{QueryState: matcher.QueryState{Query: q}}).Info()
		require.Equal(t, want.String(), info.MatchMode)
	}
	_, err := (&NewQuery{Name: "q", Cypher: "MATCH (a)-[:T]->(b)", MatchMode: "walk"}).build(true, "", nil)
	require.ErrorContains(t, err, "match_mode")
}

// TestInfoShowsAllConditions holds that the API shows what a query asks of the times along paths beside its conditions.
func TestInfoShowsAllConditions(t *testing.T) {
	schema := &property.Schema{Edges: property.Declarations{"T": {"ts": {Kind: property.Timestamp}}}}
	const conditions = "WHERE u.ts > 1700000000000 AND motifd.increasing(t, u) AND motifd.span(t) <= duration('P1D')"
	want := []string{"u.ts > 1700000000000", "motifd.increasing(t, u)", "motifd.span(t) <= duration('P1D')"}
	for _, more := range []string{"", " WITH c, count(*) AS n"} {
		n := NewQuery{Name: "q", Cypher: "MATCH (a)-[t:T*1..3]->(b)-[u:T]->(c) " + conditions + more}
		q, err := n.build(true, "", schema)
		require.NoError(t, err)
		require.Equal(t, want, (&Query{QueryState: matcher.QueryState{Query: q}}).Info().Where, more)
	}
}
