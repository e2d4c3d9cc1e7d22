package matcher_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
)

// listed is an edge in a list, as text.
var listed = regexp.MustCompile(`(\w+):-T>\w+:(\{[^}]*\})?`)

// TestS24Collect lists the latest payments of a group: by ts, then by identity, those without ts at the end. A match
// changes when its list does.
func TestS24Collect(t *testing.T) {
	w := paymentsWorld(t)
	const star = "MATCH (s)-[t:T]->(m) WITH m, count(*) AS n, "
	w.register(w.query("all", star+"collect(t)[..2] AS l RETURN l", changing))
	w.register(w.query("amounts", star+"collect(t.amount)[..2] AS l RETURN l", changing))
	w.register(w.query("first", star+"collect(t)[..1] AS l RETURN n"))
	// Each payment is in as many rows as m pays on.
	w.register(w.query("pairs", "MATCH (s)-[t:T]->(m)-[:T]->() WITH m, collect(t)[..3] AS l, "+
		"collect(DISTINCT t)[..3] AS d RETURN l, d", changing))
	step := func(text string, want ...string) {
		t.Helper()
		msgs := w.messages(text)
		for _, d := range []*matchertest.Driver{w.cpu, w.other} {
			var got []string
			for _, r := range d.Batch(msgs).Records {
				line := fmt.Sprint(r.Sign, r.Query, " ", r.Match.Vertices[0].Key, " ", r.Aggregates)
				got = append(got, listed.ReplaceAllString(line, "$1"))
			}
			require.Equal(t, want, got)
		}
	}
	step("+ a m T amount=1", "+all m [1 [a]]", "+amounts m [1 [a]]", "+first m [1 [a]]")
	step("+ b m T ts=5", "~all m [2 [b a]]") // it has no amount
	step("+ c m T ts=5 amount=2", "~all m [3 [b c]]", "~amounts m [3 [c a]]")
	step("+ d m T ts=4 amount=3", "~amounts m [4 [c d]]")
	step("+ d m T ts=4 amount=4", "~amounts m [4 [c d]]") // replaced, and shown
	step("+ d m T ts=6 amount=2", "~all m [4 [d b]]", "~amounts m [4 [d c]]")
	step("+ d m T ts=3 amount=2", "~all m [4 [b c]]") // the amounts are 2 and 2, as before
	step("- b m T; - c m T; - d m T; + e m T ts=1", "~all m [2 [e a]]", "~amounts m [2 [a]]")
	step("- a m T; - e m T", "-all m [2 [e a]]", "-amounts m [2 [a]]", "-first m [2 [e]]")
	step("+ a m T ts=1; + b m T ts=2; + m x T; + m y T",
		"+all m [2 [b a]]", "+amounts m [2 []]", "+first m [2 [b]]", "+all x [1 [m]]", "+amounts x [1 []]",
		"+first x [1 [m]]", "+all y [1 [m]]", "+amounts y [1 []]", "+first y [1 [m]]", "+pairs m [[b b a] [b a]]")
}
