package matcher_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
)

// TestS19AVertexAlone: a match of a pattern without edges begins as a vertex is inserted or revised, and ends as it is
// revised or deleted; the anchor is that update, or the last that made the vertex appear.
func TestS19AVertexAlone(t *testing.T) {
	w := newWorldOf(t, true, accounts())
	w.register(w.query("b", "MATCH (a:A {blocked: true}) RETURN a"))
	w.register(w.query("c", "MATCH (a:A {blocked: true}) RETURN a", counts))
	w.register(w.query("e", "MATCH (a:A {blocked: true}) RETURN a", exists))
	w.register(w.query("n", "MATCH (a) WHERE a.note IS NULL RETURN a", subgraphs))
	out := w.batch("+ x:A y T; +v x:A blocked=true", "+c #1", "+e exists", "+b x", "+n x", "+n y")
	require.Equal(t, []int64{0, 0, 0, 0, 0}, anchors(out), "x and y come with the edge")
	w.batch("+v y:A blocked=true", "-n y", "+c #1", "+b y", "+n y") // with a label y is another vertex
	w.batch("=v x blocked=false", "-c #1", "-b x")
	w.batch("=v x blocked=true, =v x note=p", "-n x", "+c #1", "+b x")
	w.batch("-v y; +v y:A blocked=true") // nothing: the key ends with the label and the values that it had
	w.batch("-v y; + y x T", "-c #1", "-b y", "-n y", "+n y")
	w.batch("-v x", "-c #1", "-e exists", "-b x")
	w.batch("+v z:B; -v z")
	w.batch("+v z:A blocked=true", "+c #1", "+e exists", "+b z", "+n z")
	w.register(w.query("f", "MATCH (a:A {blocked: true}) RETURN a", backfill), "+f snapshot z")
	w.remove("b")
	w.batch("-v z", "-c #1", "-e exists", "-f z", "-n z")
}

// TestS16VerticesAtOnePlace: of one update, matches that end with a deleted vertex come after those that end with one
// of its edges; matches that begin with a vertex come before those that begin with an edge.
func TestS16VerticesAtOnePlace(t *testing.T) {
	w := newWorldOf(t, true, accounts())
	w.register(w.query("a", "MATCH (a) WHERE a.note IS NULL RETURN a"))
	w.register(w.query("b", "MATCH (a)-[t]->(b) RETURN a, b"))
	w.batch("+ x y T; + y z", "+a x", "+a y", "+b x y", "+a z", "+b y z")
	w.batch("-v y", "-b x y", "-b y z", "-a y")
}

// TestS20IsolatedVertexAlone: a vertex that is removed since its last edge is gone ends its match behind all else, with
// an anchor of no input; a query may be silent about that.
func TestS20IsolatedVertexAlone(t *testing.T) {
	silentExpiry := func(q *matcher.Query) { q.SilentExpiry = true }
	w := newWorldOf(t, true, accounts())
	w.cpu.Isolated, w.other.Isolated = true, true
	w.register(w.query("a", "MATCH (a) WHERE a.note IS NULL RETURN a"))
	w.register(w.query("c", "MATCH (a) WHERE a.note IS NULL RETURN a", counts, silentExpiry))
	w.register(w.query("s", "MATCH (a) WHERE a.note IS NULL RETURN a", silentExpiry))
	w.batch("+ x y T; +v z", "+c #3", "+a x", "+s x", "+a y", "+s y", "+a z", "+s z")
	out := w.batch("- x y T; -v z", "-c #1", "-a z", "-s z", "-a x", "-a y")
	for _, r := range out.Records[3:] {
		require.True(t, r.Expired)
		require.Equal(t, uint32(dyngraph.AtIsolation), r.UpdateIndex)
	}
	w.batch("+ x y T; - x y T") // never there
}

// TestS11AVertexAloneBeyondALimit: what a limit leaves out is a notice with the vertex, and a replay says the same.
func TestS11AVertexAloneBeyondALimit(t *testing.T) {
	w := newWorldOf(t, true, accounts())
	opt := func(be matcher.Backend) matcher.EngineOptions {
		return matcher.EngineOptions{Backend: be, Planner: plan.New(),
			Graph: dyngraph.NewGraph(dyngraph.Options{Directed: true, Schema: accounts()})}
	}
	q := w.query("q", "MATCH (a:A {blocked: true}) RETURN a")
	q.WorkBudget = 1
	d := matchertest.NewDriverWith(t, opt(newCPU(t, 1, false)))
	d.Register(q)
	d.Batch(w.messages("+v x:A blocked=true; +v y:A blocked=true; +v z:A blocked=true"))
	d.Batch(w.messages("-v x; =v y blocked=false; -v z"))
	for _, be := range []matcher.Backend{reference.New(), newCPU(t, 2, true)} {
		again := matchertest.Replay(t, d.Log, opt(be))
		require.Empty(t, matchertest.Diff(d.Transcript(), again.Transcript()), be.Name())
	}
	require.NotEmpty(t, d.Batches[2].Decided)
}
