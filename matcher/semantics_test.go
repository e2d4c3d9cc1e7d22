package matcher_test

import (
	"strings"
	"testing"

	"motifd/dyngraph"
)

func TestS1EdgesAreDirectedOrNot(t *testing.T) {
	w := newWorld(t, true)
	w.register(w.query("q", "MATCH (x)-[:T]->(y) RETURN x, y"))
	w.batch("+ a b T", "+q a b")
	w.batch("+ b a T", "+q b a")
	w.batch("- a b T", "-q a b")

	w = newWorld(t, false)
	w.register(w.query("q", "MATCH (x)-[:T]-(y) RETURN x, y"))
	w.batch("+ a b T", "+q a b", "+q b a")
	w.batch("+ b a T") // the same edge
	w.batch("- b a T", "-q a b", "-q b a")
}

func TestS1ParallelEdgesDifferByLabel(t *testing.T) {
	w := newWorld(t, true)
	w.register(w.query("q", "MATCH (x)-->(y) RETURN x, y"))
	w.batch("+ a b T, + a b U; + a b T", "+q a b", "+q a b")
	w.batch("+ a b", "+q a b") // one without a label is another one
	w.batch("- a b T; - a b U", "-q a b", "-q a b")
	w.batch("- a b", "-q a b")
}

func TestS3RenewalHasNoEffect(t *testing.T) {
	w := newWorld(t, true)
	w.register(w.query("q", "MATCH (x)-->(y) RETURN x, y"))
	w.batch("+ a b", "+q a b")
	w.batch("+ a b; + a b")
}

func TestS3OnlyTheLastOperationCounts(t *testing.T) {
	w := newWorld(t, true)
	w.register(w.query("q", "MATCH (x)-->(y) RETURN x, y"))
	w.batch("+ a b; - a b")                  // never was
	w.batch("- a b; - c d; -v e")            // absent
	w.batch("- a b; + a b", "+q a b")        // is new
	w.batch("- a b; + a b")                  // stays
	w.batch("- a b; + a b; - a b", "-q a b") // goes
	w.batch("+ a b; - a b; + a b; - a b; + a b", "+q a b")
}

func TestS3RefusedMessageLeavesNoTrace(t *testing.T) {
	w := newWorld(t, true)
	w.register(w.query("q", "MATCH (x)-->(y) RETURN x, y"))
	out := w.batch("+ a b, + c c, + d e; + a:A f; + f a:B, + a g; + h i", "+q a f", "+q h i")
	if len(out.Rejects) != 2 || out.Rejects[0].Message != 0 || out.Rejects[0].Update != 1 ||
		out.Rejects[1].Message != 2 {
		t.Fatalf("rejects %+v", out.Rejects)
	}
	if w.id("a") != 0 || w.id("f") != 1 || w.id("h") != 2 || w.id("i") != 3 {
		t.Fatal("a refused message used up ids")
	}
}

func TestS3ALabelMayBeSetOnce(t *testing.T) {
	w := newWorld(t, true)
	w.register(w.query("any", "MATCH (x)-->(y) RETURN x, y"))
	w.register(w.query("lab", "MATCH (x:A)-->(y) RETURN x, y"))
	w.batch("+ a b; + c a", "+any a b", "+any c a")
	before := w.id("a")
	// The surviving edges count as deleted with the old label and inserted with the new one.
	w.batch("+v a:A", "-any a b", "-any c a", "+any c a", "+any a b", "+lab a b")
	if w.id("a") == before {
		t.Fatal("a vertex with another label kept its id")
	}
	w.batch("+v a:A; + a:A b")
	if out := w.batch("+v a:B"); len(out.Rejects) != 1 {
		t.Fatal("a second label was accepted")
	}
}

func TestS3RelabellingReplacesTheVertex(t *testing.T) {
	w := newWorld(t, true)
	w.register(w.query("any", "MATCH (x)-->(y) RETURN x, y"))
	w.register(w.query("lab", "MATCH (x:A)-->(y) RETURN x, y"))
	w.batch("+ a:A b; + a c", "+any a b", "+lab a b", "+any a c", "+lab a c")
	id := w.id("a")
	w.batch("-v a; +v a:B; + a b", "-any a b", "-lab a b", "-any a c", "-lab a c", "+any a b")
	if w.id("a") == id {
		t.Fatal("a vertex with another label kept its id")
	}
	// What ends a batch with the label it began with keeps its id, and edges that are put back do not change.
	id = w.id("a")
	w.batch("-v a; +v a:C; + a b; -v a; + a:B b; + a d", "+any a d")
	if w.id("a") != id {
		t.Fatal("a vertex with the same label got another id")
	}
}

func TestS3DeletingAVertexDeletesItsEdges(t *testing.T) {
	w := newWorld(t, true)
	w.register(w.query("q", "MATCH (x)-->(y) RETURN x, y"))
	w.batch("+ a b; + c a; + c b", "+q a b", "+q c a", "+q c b")
	w.batch("-v a", "-q a b", "-q c a")
	w.batch("-v c; - c b", "-q c b")
}

func TestS4MatchesAreNotInduced(t *testing.T) {
	w := newWorld(t, true)
	w.register(w.query("path", "MATCH (x)-->(y)-->(z) RETURN x, y, z"))
	w.batch("+ a c; + a b; + b c", "+path a b c")
}

func TestS4VerticesAreDistinct(t *testing.T) {
	w := newWorld(t, true)
	w.register(w.query("path", "MATCH (x)-->(y)-->(z) RETURN x, y, z"))
	w.batch("+ a b; + b a")
}

func TestS4ParallelPatternEdgesNeedDistinctEdges(t *testing.T) {
	w := newWorld(t, true)
	w.register(w.query("two", "MATCH (x)-->(y), (x)-->(y) RETURN x, y"))
	w.register(w.query("one", "MATCH (x)-->(y), (x)-->(y) RETURN x, y", subgraphs))
	w.batch("+ a b T")
	w.batch("+ b a T")
	w.batch("+ a b U", "+one a b", "+two a b", "+two a b")
	w.batch("+ a b V", "+one a b", "+one a b", "+two a b", "+two a b", "+two a b", "+two a b")
}

func TestS4EitherDirection(t *testing.T) {
	w := newWorld(t, true)
	w.register(w.query("q", "MATCH (x:A)-[:T]-(y:B) RETURN x, y"))
	w.batch("+ a:A b:B T", "+q a b")
	w.batch("+ b a T", "+q a b") // another edge, another match
	w.register(w.query("pair", "MATCH (x)-[:T]-(y), (x)-[:T]-(y) RETURN x, y", backfill, subgraphs),
		"+pair snapshot a b")
	w.batch("- a b T", "-pair a b", "-q a b")
}

func TestS4SubgraphsHaveTheSmallestRepresentative(t *testing.T) {
	w := newWorld(t, false)
	w.register(w.query("tri", "MATCH (x)--(y)--(z)--(x) RETURN x, y, z", subgraphs))
	w.register(w.query("star", "MATCH (x)--(y), (z)--(x) RETURN x, y, z", subgraphs))
	w.batch("+ c b; + b a; + c a",
		"+star b c a", "+star c b a", "+star a c b", "+tri c b a") // ids by first appearance: c, b, a
}

// TestS4LabelsAreRespected tries labels of vertices and edges, known and unknown, and none, which is any.
func TestS4LabelsAreRespected(t *testing.T) {
	w := newWorld(t, true)
	w.register(w.query("a", "MATCH (x:A)-[:T]->(y:B) RETURN x, y"))
	w.register(w.query("b", "MATCH (x:A)-->(y) RETURN x, y"))
	w.register(w.query("c", "MATCH (x)-[:U]->(y) RETURN x, y"))
	w.register(w.query("d", "MATCH (x:Nowhere)-->(y) RETURN x, y"))
	w.batch("+ a:A b:B T; + a c:C T; + c a U; + b c", "+a a b", "+b a b", "+b a c", "+c c a")
}

func TestS5NoTransientMatch(t *testing.T) {
	w := newWorld(t, true)
	w.register(w.query("q", "MATCH (x)-->(y)-->(z) RETURN x, y, z"))
	w.batch("+ a b; + b c; - a b; + b d; - b c")
	w.batch("+ a b; - b d")
	w.batch("- a b; + b e; + a b", "+q a b e")
	w.batch("- b e; + b f", "-q a b e", "+q a b f")
}

// TestS5OneEdgeInManyRoles inserts and deletes edges that fit several pattern edges of one match, in one batch and in
// several: each match once.
func TestS5OneEdgeInManyRoles(t *testing.T) {
	for _, sep := range []string{";", "\n"} {
		w := newWorld(t, true)
		w.register(w.query("ring", "MATCH (x)-->(y)-->(z)-->(x) RETURN x, y, z"))
		batches := strings.Split(strings.ReplaceAll("+ a b; + b c; + c a", ";", sep), "\n")
		for i, b := range batches {
			var want []string
			if i == len(batches)-1 {
				want = []string{"+ring a b c", "+ring b c a", "+ring c a b"}
			}
			w.batch(b, want...)
		}
		w.batch("- b c; - a b; - c a", "-ring a b c", "-ring b c a", "-ring c a b")
	}
}

func TestS7NegativesFirstThenByAnchorThenByQuery(t *testing.T) {
	w := newWorld(t, true)
	w.register(w.query("p", "MATCH (x)-->(y)-->(z) RETURN x, y, z"))
	w.register(w.query("e", "MATCH (x)-->(y) RETURN x, y"))
	w.register(w.query("n", "MATCH (x)-->(y) RETURN x, y", counts))
	w.batch("+ a b; + b c; + b d; + e a", "+n #4", "+e a b", "+e b c", "+p a b c", "+e b d", "+p a b d", "+e e a",
		"+p e a b")
	// The anchor is the last inserted edge of a positive, the first deleted one of a negative.
	w.batch("+ d f; - b c; + f g; - a b", "-n #2", "-e b c", "-p a b c", "-e a b", "-p a b d", "-p e a b",
		"+n #2", "+e d f", "+p b d f", "+e f g", "+p d f g")
}

// TestS7OrderOfNetEdges anchors at the place of the last operation that changed the edge's presence.
func TestS7OrderOfNetEdges(t *testing.T) {
	w := newWorld(t, true)
	w.register(w.query("e", "MATCH (x)-->(y) RETURN x, y"))
	w.batch("+ a b; + c d; + a b; - c d; + e f; + c d", "+e a b", "+e e f", "+e c d")
	w.batch("- a b; - c d; - a b; - e f; + c d; - c d", "-e a b", "-e e f", "-e c d")
}

// TestS7IDs gives dense ids in order of first appearance, the lowest free one first, and one freed by batch n from
// n+2 on.
func TestS7IDs(t *testing.T) {
	w := newWorld(t, true)
	w.batch("- x y; -v z; + a b, + c c; + d e; +v f; + e g")
	for i, key := range []string{"d", "e", "f", "g"} {
		if w.id(key) != dyngraph.VertexID(i) {
			t.Fatalf("%s has id %d", key, w.id(key))
		}
	}
	w.batch("-v e; -v d")
	w.batch("+v h")
	if w.id("h") != 4 {
		t.Fatalf("an id freed by the batch before was given to h: %d", w.id("h"))
	}
	w.batch("+v i; +v j; +v k")
	if w.id("i") != 0 || w.id("j") != 1 || w.id("k") != 5 {
		t.Fatalf("ids %d %d %d", w.id("i"), w.id("j"), w.id("k"))
	}
}

// TestA6PrioritisedEdgeCounterexample is the case of DESIGN A6 in which filtering by the prioritised edge before
// permuting loses the match.
func TestA6PrioritisedEdgeCounterexample(t *testing.T) {
	w := newWorld(t, false)
	cypher := "MATCH (u0:B)--(u1:B)--(u2:A)--(u0), (u0)--(u3:C) RETURN u0, u1, u2, u3"
	w.register(w.query("all", cypher))
	w.register(w.query("one", cypher, subgraphs))
	w.batch("+ v0:B v1:B; + v1 v2:A; + v1 v3:C")
	w.batch("+ v0 v2", "+all v1 v0 v2 v3", "+one v1 v0 v2 v3")
	w.batch("- v0 v2", "-all v1 v0 v2 v3", "-one v1 v0 v2 v3")
}

// TestA6StabiliserCounterexample has an edge that automorphisms of the pattern leave in place: applying all of them
// would report matches twice.
func TestA6StabiliserCounterexample(t *testing.T) {
	w := newWorld(t, false)
	cypher := "MATCH (x)--(y), (y)--(z), (z)--(x) RETURN x, y, z"
	w.register(w.query("all", cypher))
	w.register(w.query("one", cypher, subgraphs))
	w.register(w.query("two", cypher, counts))
	w.register(w.query("ten", cypher, counts, subgraphs))
	w.batch("+ a b; + b c; + c a", "+ten #1", "+two #6",
		"+all a b c", "+all a c b", "+all b a c", "+all b c a", "+all c a b", "+all c b a", "+one a b c")
}

func TestS12CountsAndTransitions(t *testing.T) {
	w := newWorld(t, true)
	w.register(w.query("n", "MATCH (x)-->(y)-->(z) RETURN x, y, z", counts))
	w.register(w.query("x", "MATCH (x)-->(y)-->(z) RETURN x, y, z", exists))
	w.batch("+ a b; + b c; + b d", "+n #2", "+x exists")
	w.batch("- b c; + b e", "-n #1", "+n #1")        // the witness may break, a match is left
	w.batch("- b d; - b e; + b f", "-n #2", "+n #1") // a positive takes over
	w.batch("- b f; + c d; + d e", "-n #1", "+n #1")
	w.batch("- c d; - d e", "-n #1", "-x exists")
	w.batch("+ d e; + c d", "+n #1", "+x exists")
	w.batch("-v d; +v d:D; + c d; + d e", "-n #1", "+n #1") // another match, but there is one throughout
}

func TestS12ExistsAfterRegistration(t *testing.T) {
	w := newWorld(t, true)
	w.batch("+ a b")
	w.register(w.query("quiet", "MATCH (x)-->(y) RETURN x, y", exists))
	w.register(w.query("told", "MATCH (x)-->(y) RETURN x, y", exists, backfill), "+told snapshot exists")
	w.register(w.query("none", "MATCH (x:A)-->(y) RETURN x, y", exists, backfill))
	w.register(w.query("sum", "MATCH (x)-->(y) RETURN x, y", counts, backfill), "+sum snapshot #1")
	w.register(w.query("zero", "MATCH (x:A)-->(y) RETURN x, y", counts, backfill))
	w.batch("+ b c", "+sum #1")
	w.batch("- a b; - b c", "-quiet exists", "-sum #2", "-told exists")
}
