package matcher_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/matchertest"
)

// payments declares an amount, a number, a rate and a time for edges of every label.
func payments() *property.Schema {
	return &property.Schema{Edges: property.Declarations{property.Any: {
		"amount": {Kind: property.Decimal, Scale: 2}, "n": {Kind: property.Int64}, "rate": {Kind: property.Float64},
		"ts": {Kind: property.Timestamp}}}}
}

// anchors returns the offsets of the updates that records are anchored at.
func anchors(out *matchertest.Output) (offsets []int64) {
	for _, r := range out.Records {
		offsets = append(offsets, r.Anchor.Offset)
	}
	return offsets
}

// TestS15AnEdgeIsReplaced: a declared value that changes ends the match over the old version and begins that over the
// new one, each only if its own values meet the conditions (trap 1); what comes back within a batch changes nothing.
func TestS15AnEdgeIsReplaced(t *testing.T) {
	w := newWorldOf(t, true, payments())
	w.register(w.query("q", "MATCH (a)-[t:T]->(b) WHERE t.amount > 5 RETURN a, b"))
	w.register(w.query("r", "MATCH (a)-[t:T]->(b) RETURN a, b"))
	w.batch("+ a b T amount=10", "+q a b", "+r a b")
	w.batch("+ a b T amount=3", "-q a b", "-r a b", "+r a b")
	w.batch("+ a b T amount=10", "-r a b", "+q a b", "+r a b")
	w.batch("+ a b T amount=11", "-q a b", "-r a b", "+q a b", "+r a b")
	w.batch("+ a b T amount=11.00")
	w.batch("+ a b T amount=3; + a b T amount=11")
	w.batch("- a b T; + a b T amount=11")
	w.batch("- a b T; + a b T amount=1; + a b T amount=12", "-q a b", "-r a b", "+q a b", "+r a b")
	w.batch("+ a b T", "-q a b", "-r a b", "+r a b") // missing is null
	w.batch("+ a b T amount=12", "-r a b", "+q a b", "+r a b")
	w.batch("+ a b T amount=2; - a b T", "-q a b", "-r a b")
}

// TestS15BothVersionsShareAPlace: two edges of a match that are replaced in one batch end it once, at the first, and
// begin it once, at the last. A value that does not differ in the end moves no place.
func TestS15BothVersionsShareAPlace(t *testing.T) {
	w := newWorldOf(t, true, payments())
	w.register(w.query("q", "MATCH (a)-[t:T]->(b)-[u:T]->(c) WHERE t.ts < u.ts RETURN a, b, c"))
	w.batch("+ a b T ts=1 n=1; + b c T ts=2 n=1", "+q a b c") // offsets 0, 1
	out := w.batch("+ b c T ts=4 n=1; + a b T ts=3 n=1; + b c T ts=4 n=2; + b c T ts=4 n=1", "-q a b c", "+q a b c")
	require.Equal(t, []int64{2, 3}, anchors(out)) // the back and forth of n is no change
	out = w.batch("+ b c T ts=4 n=7; + a b T ts=3 n=5; + b c T ts=4 n=8", "-q a b c", "+q a b c")
	require.Equal(t, []int64{7, 8}, anchors(out)) // b-c at its last change of n
	w.batch("+ a b T ts=9 n=5", "-q a b c")
}

// TestS15CountsAndExistence: counts are of what deltas would say, and a query that has a match before and after says
// nothing, whatever was replaced; where its witness does not meet the conditions any more, another match is looked for.
func TestS15CountsAndExistence(t *testing.T) {
	w := newWorldOf(t, true, payments())
	w.register(w.query("c", "MATCH (a)-[t:T]->(b)-[u:T]->(c) RETURN a, b, c", counts))
	w.register(w.query("d", "MATCH (a)-[t:T]->(b)-[u:T]->(c) WHERE t.n = u.n RETURN a, b, c", counts))
	w.register(w.query("e", "MATCH (a)-[t:T]->(b) WHERE t.n > 1 RETURN a, b", exists))
	w.register(w.query("f", "MATCH (a)-[t:T]->(b) RETURN a, b", exists))
	w.batch("+ a b T n=2; + b c T n=2; + b d T n=1", "+c #2", "+d #1", "+e exists", "+f exists")
	w.batch("+ a b T n=1", "-c #2", "-d #1", "+c #2", "+d #1")
	w.batch("+ b c T n=0", "-c #1", "-e exists", "+c #1")
	w.batch("+ b d T n=3", "-c #1", "-d #1", "+c #1", "+e exists")
	w.batch("+ b d T n=1; + a b T n=2", "-c #2", "+c #2")
	w.batch("- a b T", "-c #2", "-e exists")
	w.batch("- b c T; - b d T", "-f exists")
}

// TestS17Unknown: a comparison with null is neither true nor false, under NOT (trap 4) and in a window.
func TestS17Unknown(t *testing.T) {
	w := newWorldOf(t, true, payments())
	w.register(w.query("not", "MATCH (a)-[t:T]->(b) WHERE NOT t.amount > 5 RETURN a, b"))
	w.register(w.query("null", "MATCH (a)-[t:T]->(b) WHERE t.amount IS NULL RETURN a, b"))
	w.register(w.query("within", "MATCH (a)-[t:T]->(b)-[u:T]->(c) RETURN a, b, c",
		func(q *matcher.Query) { q.Within = 10 }))
	w.batch("+ a b T", "+null a b")
	w.batch("+ a b T amount=5", "-null a b", "+not a b")
	w.batch("+ b c T amount=6 ts=5")
	w.batch("+ a b T amount=6 ts=15", "-not a b", "+within a b c")
	w.batch("+ a b T amount=6 ts=16", "-within a b c")
	w.batch("+ b c T amount=6 ts=26", "+within a b c")
	w.batch("+ b c T amount=6", "-within a b c")
}

// TestS17MixedNumbers: an int64 and a float64 compare as numbers (trap 5).
func TestS17MixedNumbers(t *testing.T) {
	w := newWorldOf(t, true, payments())
	w.register(w.query("q", "MATCH (a)-[t:T]->(b)-[u:U]->(c) WHERE t.n = u.rate RETURN a, b, c"))
	w.batch("+ a b T n=9007199254740993; + b c U rate=9007199254740992")
	w.batch("+ a b T n=9007199254740992", "+q a b c")
}

// TestS18Window: the span of all edges counts, whatever the order in which they are mapped.
func TestS18Window(t *testing.T) {
	w := newWorldOf(t, true, payments())
	w.register(w.query("q", "MATCH (a)-[t:T]->(b)-[u:T]->(c)-[v:T]->(a) RETURN a, b, c", subgraphs,
		func(q *matcher.Query) { q.Within = 10 }))
	w.batch("+ a b T ts=0; + b c T ts=5; + c a T ts=10", "+q a b c")
	w.batch("+ c a T ts=11", "-q a b c")
	w.batch("+ a b T ts=1", "+q a b c")
	w.batch("+ b c T ts=-9223372036854775808", "-q a b c") // the span is no int64
	w.batch("+ b c T ts=11", "+q a b c")
}

// TestS4RenewalKeepsTheRepresentative: neither a new time nor another order of arrival swaps the representative of an
// orbit (trap 9); it goes by vertex ids and the identities of edges.
func TestS4RenewalKeepsTheRepresentative(t *testing.T) {
	w := newWorldOf(t, false, payments())
	w.register(w.query("star", "MATCH (m)-[t:T]-(a), (m)-[u:T]-(b) WHERE t.amount = u.amount RETURN m, a, b",
		subgraphs))
	w.register(w.query("two", "MATCH (a)-[t]-(b), (a)-[u]-(b) RETURN a, b", subgraphs))
	w.batch("+ m x T amount=1 ts=5; + m y T amount=1 ts=1", "+star m x y")
	w.batch("+ m x T amount=1 ts=0", "-star m x y", "+star m x y")
	w.batch("+ m y T amount=1 ts=9", "-star m x y", "+star m x y")
	before := w.batch("+ m x U ts=3", "+two m x").Records[0].Match
	after := w.batch("+ m x U ts=-3; + m x T amount=1 ts=7", "-two m x", "-star m x y", "+star m x y", "+two m x")
	for _, r := range after.Records {
		if r.Query == "two" {
			for i, e := range before.Edges {
				require.Equal(t, e.Label, r.Match.Edges[i].Label)
			}
		}
	}
	// A condition that the two do not share leaves no symmetry.
	w.register(w.query("order", "MATCH (m)-[t:T]-(a), (m)-[u:T]-(b) WHERE t.ts < u.ts RETURN m, a, b", subgraphs,
		backfill), "+order snapshot m x y")
	w.batch("+ m x T amount=1 ts=70", "-order m x y", "-star m x y", "-two m x", "+order m y x", "+star m x y",
		"+two m x")
}

// TestS15ReplacedThenDeleted: an edge that was replaced goes from both sides of the graph (trap 12).
func TestS15ReplacedThenDeleted(t *testing.T) {
	w := newWorldOf(t, true, payments())
	w.register(w.query("in", "MATCH (x)-[t:T]->(m)<-[u:T]-(y) WHERE t.n < u.n RETURN x, m, y"))
	w.register(w.query("out", "MATCH (x)<-[t:T]-(m)-[u:T]->(y) WHERE t.n < u.n RETURN x, m, y"))
	w.batch("+ a b T n=1; + c b T n=2; + a d T n=3", "+in a b c", "+out b a d")
	w.batch("+ a b T n=2", "-in a b c", "-out b a d", "+out b a d")
	w.batch("- a b T", "-out b a d")
	w.batch("+ c b T n=5; + a d T n=6")
	w.batch("+ a b T n=4", "+in a b c", "+out b a d")
}
