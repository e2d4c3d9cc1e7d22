package matcher_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
)

// accounts declares a risk, a country and a flag for accounts, a note for every vertex, and an amount for edges.
func accounts() *property.Schema {
	return &property.Schema{Edges: property.Declarations{"T": {"amount": {Kind: property.Int64}}},
		Vertices: property.Declarations{"A": {"risk": {Kind: property.Int64}, "country": {Kind: property.String},
			"blocked": {Kind: property.Bool}}, property.Any: {"note": {Kind: property.String}}}}
}

// TestS16NewValuesDoNotShowInTheOldView: the negative of a match is found by the values that it had (trap 1).
func TestS16NewValuesDoNotShowInTheOldView(t *testing.T) {
	w := newWorldOf(t, true, accounts())
	w.register(w.query("q", "MATCH (a:A)-[t:T]->(b:A) WHERE a.risk > 5 RETURN a, b"))
	w.batch("+v a:A risk=10; + a b:A T", "+q a b")
	out := w.batch("=v a risk=3", "-q a b")
	require.Equal(t, []int64{2}, anchors(out))
	w.batch("=v a risk=10", "+q a b")
	w.batch("=v a risk=null", "-q a b") // null removes, and is not above 5
	w.batch("=v a risk=6", "+q a b")
	w.batch("+v a note=x", "-q a b") // +v sets all
	w.batch("+v a risk=9", "+q a b")
	w.batch("=v a risk=1; =v a risk=9") // there and back
	w.batch("-v a; +v a:A risk=9; + a b T")
	w.batch("-v a; + a:A b T", "-q a b") // an edge brings a vertex without values
	w.batch("=v nobody risk=9")
	require.Equal(t, 1, w.cpu.Batches[len(w.cpu.Batches)-1].Summary.Absent)
}

// TestS16BothViewsAtOnce: a bit that is old or new is no test: the edge comes as the risk goes, and the other way round
// (trap 2).
func TestS16BothViewsAtOnce(t *testing.T) {
	w := newWorldOf(t, true, accounts())
	w.register(w.query("q", "MATCH (a:A)-[t:T]->(b:A) WHERE a.risk > 5 RETURN a, b"))
	w.batch("+v a:A risk=9; +v b:A")
	w.batch("=v a risk=1; + a b T")
	w.batch("=v a risk=9; - a b T")
	w.batch("+ a b T", "+q a b")
	w.batch("- a b T; =v a risk=1; =v b risk=3", "-q a b")
	w.batch("+ a b T; =v a risk=7", "+q a b")
}

// TestS19RevisedVerticesAreOrdered: two accounts of one match that are flagged in one batch complete it once, at the
// last; they break it once, at the first (trap 3).
func TestS19RevisedVerticesAreOrdered(t *testing.T) {
	w := newWorldOf(t, true, accounts())
	for _, unit := range []func(*matcher.Query){subgraphs, func(*matcher.Query) {}} {
		w.register(w.query("q", "MATCH (a:A {blocked: true})-[t:T]->(b:A {blocked: true}) RETURN a, b", unit))
		w.batch("+ a:A b:A T")
		at := w.offset
		out := w.batch("=v b blocked=true; =v a blocked=true; =v b note=x", "+q a b")
		require.Equal(t, []int64{at + 2}, anchors(out)) // a later change of b, which no query reads, moves its place
		at = w.offset
		out = w.batch("=v a risk=7; =v b blocked=false; =v a blocked=false; =v b blocked=null", "-q a b")
		require.Equal(t, []int64{at + 2}, anchors(out)) // b changes last at its null; a first
		at = w.offset
		out = w.batch("- a b T; =v b blocked=true; + a b T; =v a blocked=true; - a b T; + a b T amount=1", "+q a b")
		require.Equal(t, []int64{at + 5}, anchors(out)) // the edge is replaced, last of all
		w.batch("- a b T; =v a blocked=false; =v b blocked=false note=null", "-q a b")
		w.remove("q")
	}
}

// TestS16PlacesAreShared: one update can bring a revised vertex and an edge. Among what appears the vertex comes before
// the edge, among what disappears behind it.
func TestS16PlacesAreShared(t *testing.T) {
	w := newWorldOf(t, true, accounts())
	w.register(w.query("q", "MATCH (a)-[t:T]->(b:A) WHERE b.risk IS NULL RETURN a, b"))
	w.register(w.query("r", "MATCH (a)-[t:T]->(b:A) WHERE b.risk > 5 RETURN a, b"))
	w.batch("+v b:A risk=9; + a b T amount=1", "+r a b")
	at := w.offset
	out := w.batch("-v b; + a b:A T amount=2", "-r a b", "+q a b")
	require.Equal(t, []int64{at + 1, at + 1}, anchors(out))
	require.False(t, out.Records[0].AnchorEdge.From == out.Records[0].AnchorEdge.To, "the old version of the edge")
	require.False(t, out.Records[1].AnchorEdge.From == out.Records[1].AnchorEdge.To, "the new version of the edge")
	out = w.batch("-v b; + a b:A T amount=2")
	require.Empty(t, out.Records) // all is as it was
}

// TestS16WhatDoesNotMatter: a match that holds in both views is in neither sign, whatever was revised in it, and a
// value that no condition reads matters nowhere.
func TestS16WhatDoesNotMatter(t *testing.T) {
	w := newWorldOf(t, true, accounts())
	w.register(w.query("own", "MATCH (a:A)-[t:T]->(b:A) WHERE a.risk > 5 RETURN a, b"))
	w.register(w.query("pair", "MATCH (a:A)-[t:T]->(b:A) WHERE a.country <> b.country RETURN a, b"))
	w.register(w.query("mixed", "MATCH (a:A)-[t:T]->(b:A) WHERE t.amount > a.risk RETURN a, b"))
	w.batch("+v a:A risk=7 country=x; +v b:A country=y; + a b T amount=10", "+mixed a b", "+own a b", "+pair a b")
	w.batch("=v a risk=8 note=n")
	w.batch("=v a country=z; =v b country=w")
	w.batch("=v a country=w", "-pair a b")
	w.batch("=v a country=u; =v b country=u")
	w.batch("=v a country=v; =v b country=v note=m")
	w.batch("=v a risk=10", "-mixed a b")
	w.batch("=v a risk=6 country=u", "+mixed a b", "+pair a b")
	at := w.offset
	out := w.batch("=v a risk=2; + a b T amount=11", "-mixed a b", "-own a b", "-pair a b", "+mixed a b", "+pair a b")
	require.Equal(t, []int64{at, at, at + 1, at + 1, at + 1}, anchors(out))
}

// TestS16CountsExistenceAndCaps asks for the same in other ways.
func TestS16CountsExistenceAndCaps(t *testing.T) {
	w := newWorldOf(t, true, accounts())
	const flagged = "MATCH (a:A)-[t:T]->(b:A)-[u:T]->(c:A) WHERE b.blocked RETURN a, b, c"
	w.register(w.query("c", flagged, counts))
	w.register(w.query("e", flagged, exists))
	w.register(w.query("one", flagged, capped(1), exactTotal))
	w.batch("+ a:A m:A T; + b:A m T; + m c:A T; + m d:A T")
	w.batch("=v m blocked=true", "+c #4", "+e exists", "+one a m c", "+one ! truncated")
	w.register(w.query("later", flagged, backfill, subgraphs), "+later snapshot a m c", "+later snapshot a m d",
		"+later snapshot b m c", "+later snapshot b m d")
	w.batch("=v m blocked=false; - m c T", "-c #4", "-e exists", "-later a m c", "-later a m d", "-later b m c",
		"-later b m d", "-one a m c", "-one a m d", "-one b m c", "-one b m d")
}

// TestS16LabelsKeepValues: a vertex that gets its label is another vertex with the values that it had.
func TestS16LabelsKeepValues(t *testing.T) {
	w := newWorldOf(t, true, accounts())
	w.register(w.query("q", "MATCH (a)-[t:T]->(b) WHERE a.note = 'x' RETURN a, b"))
	w.batch("+v a note=x; + a b T", "+q a b")
	w.batch("+ a:A b T", "-q a b", "+q a b")
	w.batch("=v a risk=3")
	g := w.cpu.Engine.Graph()
	id, ok := g.Lookup("a")
	require.True(t, ok)
	risk, _ := g.VertexColumns().Of("A", "risk")
	require.Equal(t, property.Int(3), g.View(dyngraph.New).VertexValue(id, risk))
	w.batch("-v a; +v a:A", "-q a b")
	w.batch("+ a b T")
	w.batch("=v a note=x", "+q a b")
}
