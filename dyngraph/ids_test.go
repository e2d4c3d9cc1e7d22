package dyngraph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

func ids(t *testing.T, g *Graph, keys ...string) []VertexID {
	t.Helper()
	var r []VertexID
	for _, k := range keys {
		id, ok := g.Lookup(k)
		if !ok {
			t.Fatalf("%s is not there", k)
		}
		r = append(r, id)
	}
	return r
}

func TestS7IdsInOrderOfAppearance(t *testing.T) {
	g := NewGraph(Options{Directed: true})
	batch(
		t,
		g,
		ins("b", "a", "x"),
		gone("nobody"),
		del("no", "body", "q"),
		vert("t", ""),
		gone("t"),
		ins("c", "a", "y"),
		vert("d", "L"),
	)
	if got := ids(t, g, "b", "a", "c", "d"); !slices.Equal(got, []VertexID{0, 1, 2, 3}) {
		t.Fatalf("ids %v", got)
	}
	for i, name := range []string{"", "x", "y", "L"} {
		if g.LabelName(LabelID(i)) != name {
			t.Fatalf("label %d is %q, want %q", i, g.LabelName(LabelID(i)), name)
		}
	}
}

// TestS7FreedIdsComeBackLowestFirst: ids freed by batch n are free from batch n+2 on (A12), and empty batches count.
func TestS7FreedIdsComeBackLowestFirst(t *testing.T) {
	g := NewGraph(Options{Directed: true})
	batch(t, g, ins("a", "b", ""), ins("c", "d", ""))
	batch(t, g, gone("c"), gone("a")) // frees 2 and 0
	if _, newer := g.PendingFree(); !slices.Equal(newer, []VertexID{0, 2}) {
		t.Fatalf("pending %v", newer)
	}
	if v := g.View(New); v.Key(0) != "a" || v.Key(2) != "c" {
		t.Fatal("a freed id lost its key")
	}
	batch(t, g, vert("e", "")) // not yet: 4
	stage(t, g, vert("f", ""), vert("g", ""), vert("h", ""))
	if got := ids(t, g, "e", "f", "g", "h"); !slices.Equal(got, []VertexID{4, 0, 2, 5}) {
		t.Fatalf("ids %v", got)
	}
	g.Abort()
	if v := g.View(New); v.Key(0) != "a" || v.Key(2) != "c" || g.IDBound() != 5 {
		t.Fatal("Abort did not restore the freed ids")
	}
	batch(t, g)
	batch(t, g, vert("h", ""))
	if got := ids(t, g, "h"); got[0] != 0 {
		t.Fatalf("ids %v", got)
	}
}

// TestA12ChurnDoesNotGrow inserts and deletes other keys for ever.
func TestA12ChurnDoesNotGrow(t *testing.T) {
	g := NewGraph(Options{Directed: true})
	for i := range 300 {
		key := func(i, j int) string { return fmt.Sprintf("k%d-%d", i, j) }
		var u []Update
		for j := range 10 {
			u = append(u, ins(key(i, j), key(i, j+1), "x"))
			if i > 0 {
				u = append(u, gone(key(i-1, j)))
			}
		}
		u = append(u, gone(key(i-1, 10)))
		batch(t, g, u...)
	}
	if g.IDBound() > 50 || g.EdgeBound() > 50 || g.Vertices() != 11 || g.Edges() != 10 {
		t.Fatalf("ids %d, edge indexes %d, vertices %d, edges %d", g.IDBound(), g.EdgeBound(), g.Vertices(), g.Edges())
	}
}

func TestS11LimitsAreAnswered(t *testing.T) {
	g := NewGraph(Options{Directed: true, MaxVertices: 3, MaxLabels: 3})
	g.maxEdges = 3
	batch(t, g, ins("a", "b", "x"), vert("c", "L"))
	wantRefused(t, g, ReasonVertexLimit, vert("d", ""))
	wantRefused(t, g, ReasonVertexLimit, vert("a", "L")) // a new id beside the old one
	wantRefused(t, g, ReasonLabelLimit, ins("a", "b", "y"))
	wantRefused(t, g, ReasonEdgeLimit, ins("a", "c", "x"), ins("b", "c", "x"), ins("c", "b", "x"))
	batch(t, g, ins("a", "c", "x"), ins("b", "c", "x"), gone("a"))
	wantRefused(t, g, ReasonVertexLimit, vert("d", "")) // freed by the last batch, not free before the next but one
	batch(t, g)
	batch(t, g, vert("d", "L"))
	if id := ids(t, g, "d"); id[0] != 0 {
		t.Fatalf("ids %v", id)
	}
}

// TestS11AcceptedBatchesAlwaysFit plays random updates against narrow limits: what Accept takes, Stage can do.
func TestS11AcceptedBatchesAlwaysFit(t *testing.T) {
	for seed := range uint64(200) {
		pick := seeded(seed)
		g := NewGraph(Options{Directed: seed%2 == 0, MaxVertices: 6, MaxLabels: 3})
		g.maxEdges = 9
		refused := 0
		for range 30 {
			msgs := make([]Message, pick(10))
			for i := range msgs {
				for range 1 + pick(3) {
					msgs[i].Updates = append(msgs[i].Updates, makeUpdate(pick, 9, 3, false, 0))
				}
			}
			accepted, rejects := g.Accept(msgs)
			refused += len(rejects)
			if _, err := g.Stage(accepted); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if g.IDBound() > 6 || g.EdgeBound() > 9 || g.Labels() > 3 {
				t.Fatalf("seed %d: %d ids, %d edge indexes, %d labels", seed, g.IDBound(), g.EdgeBound(), g.Labels())
			}
			g.Commit()
		}
		if refused == 0 {
			t.Fatalf("seed %d: nothing was refused", seed)
		}
	}
}

// TestViewsAreReadByMany reads both views from many goroutines while a batch is staged.
func TestViewsAreReadByMany(t *testing.T) {
	g := NewGraph(Options{Directed: true})
	rnd := rand.New(rand.NewPCG(1, 1))
	edge := func(op Op) Update {
		from := rnd.IntN(50)
		return Update{Op: op, From: fmt.Sprint(from), To: fmt.Sprint(from + 1 + rnd.IntN(20)),
			Label: fmt.Sprint(rnd.IntN(3)),
			Attr:  Attr{TS: rnd.Int64(), HasTS: true}}
	}
	for range 20 {
		var u []Update
		for range 200 {
			u = append(u, edge(InsertEdge), edge(DeleteEdge))
		}
		stage(t, g, u...)
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				v := g.View(Which(i % 2))
				n := 0
				for id := range v.VerticesSeq() {
					for d := Out; d <= In; d++ {
						for _, l := range g.LabelsOf(id, d, nil) {
							r := g.Range(id, d, l)
							for nbr, ent, ok := r.Next(); ok; nbr, ent, ok = r.Next() {
								for k := range nbr {
									if !v.Visible(ent[k].Index()) {
										continue
									}
									n++
									v.Attr(ent[k].Index())
									if _, ok := r.Find(nbr[k]); !ok {
										t.Errorf("%d is not found", nbr[k])
									}
								}
							}
						}
					}
				}
				for range v.EdgesSeq() {
					n -= 2
				}
				if n != 0 {
					t.Errorf("the entries do not add up: %d", n)
				}
			})
		}
		wg.Wait()
		g.Commit()
	}
}

func TestLoaderRefusesBadRecords(t *testing.T) {
	fresh := func() *Loader {
		l := NewLoader(Options{Directed: true, MaxVertices: 10, MaxLabels: 3})
		for _, err := range []error{l.Label("x"), l.Vertex(VertexRecord{ID: 0, Key: "a", Label: 0}),
			l.Vertex(VertexRecord{ID: 1, Key: "b", Label: 1})} {
			if err != nil {
				t.Fatal(err)
			}
		}
		return l
	}
	bad := map[string]func(l *Loader) error{
		"empty label":    func(l *Loader) error { return l.Label("") },
		"same label":     func(l *Loader) error { return l.Label("x") },
		"labels":         func(l *Loader) error { return cmpErr(l.Label("y"), l.Label("z")) },
		"same id":        func(l *Loader) error { return l.Vertex(VertexRecord{ID: 1, Key: "c", Label: 0}) },
		"same key":       func(l *Loader) error { return l.Vertex(VertexRecord{ID: 2, Key: "a", Label: 0}) },
		"vertex label":   func(l *Loader) error { return l.Vertex(VertexRecord{ID: 2, Key: "c", Label: 2}) },
		"id bound":       func(l *Loader) error { return l.Vertex(VertexRecord{ID: 10, Key: "c", Label: 0}) },
		"no vertex":      func(l *Loader) error { return l.Edge(EdgeRecord{From: 0, To: 2}) },
		"self-loop":      func(l *Loader) error { return l.Edge(EdgeRecord{From: 1, To: 1}) },
		"edge label":     func(l *Loader) error { return l.Edge(EdgeRecord{From: 0, To: 1, Label: 2}) },
		"pending in use": func(l *Loader) error { l.Pending(nil, []VertexID{1}); return finish(l) },
		"pending twice":  func(l *Loader) error { l.Pending([]VertexID{3}, []VertexID{3}); return finish(l) },
		"pending bound":  func(l *Loader) error { l.Pending([]VertexID{10}, nil); return finish(l) },
		"edge twice": func(l *Loader) error {
			e := EdgeRecord{From: 0, To: 1}
			return cmpErr(l.Edge(e), l.Edge(e), finish(l))
		},
	}
	for name, do := range bad {
		if do(fresh()) == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := finish(fresh()); err != nil {
		t.Error(err)
	}
}

func finish(l *Loader) error {
	_, err := l.Graph()
	return err
}

func cmpErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestS11RefusedMessagesCountForNothing: what a refused message asked for is not held against the next ones.
func TestS11RefusedMessagesCountForNothing(t *testing.T) {
	g := NewGraph(Options{Directed: true, MaxVertices: 2, MaxLabels: 2})
	g.maxEdges = 1
	good := []Update{ins("a", "b", "x")}
	bad := []Update{ins("c", "d", "y"), del("e", "e", "")}
	accepted, rejects := g.Accept([]Message{{Updates: bad}, {Updates: bad}, {Updates: good}})
	if len(accepted) != 1 || len(rejects) != 2 || rejects[0].Update != 1 || rejects[1].Update != 1 {
		t.Fatalf("accepted %v, refused %v", accepted, rejects)
	}
}

// TestS11StageCountsWhatComes: Stage, too, refuses more edges than there are indexes, whether or not their ends are
// new, more vertices than there are ids and more labels than the table holds, and no fewer.
func TestS11StageCountsWhatComes(t *testing.T) {
	g := NewGraph(Options{Directed: true, MaxVertices: 4, MaxLabels: 3})
	g.maxEdges = 3
	batch(t, g, ins("a", "b", "x"), vert("c", ""))
	for _, u := range [][]Update{
		{ins("a", "c", "x"), ins("b", "c", "x"), ins("c", "b", "x")},
		{ins("d", "a", "x"), ins("d", "b", "x"), ins("d", "c", "x")},
		{ins("a", "c", "x"), ins("d", "b", "x"), ins("d", "c", "x")},
		{vert("d", ""), vert("e", "")},
		{vert("d", ""), vert("c", "L")}, // a new id beside the old one
		{ins("a", "c", "y"), ins("c", "b", "z"), del("c", "b", "z")},
	} {
		if _, err := g.Stage(u); err == nil || g.Labels() != 2 || g.IDBound() != 3 || g.Edges() != 1 {
			t.Fatalf("%v: %v; %d labels, %d ids, %d edges", u, err, g.Labels(), g.IDBound(), g.Edges())
		}
	}
	fits := []Update{
		ins("a", "c", "x"),
		ins("c", "b", "x"),
		del("c", "b", "x"),
		del("a", "b", "x"),
		ins("a", "b", "x"),
		ins("d", "b", "x"),
	}
	if _, err := g.Stage(fits); err != nil {
		t.Fatal(err)
	}
	g.Commit()
	if g.Edges() != 3 {
		t.Fatalf("%d edges", g.Edges())
	}
}
