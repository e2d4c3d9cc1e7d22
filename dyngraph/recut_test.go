package dyngraph

import (
	"fmt"
	"maps"
	"testing"
)

// content returns the content of the new view, in terms that do not depend on ids.
func content(g *Graph) map[string]string {
	v := g.View(New)
	m := map[string]string{}
	for id := range v.VerticesSeq() {
		m[v.Key(id)] = v.LabelName(v.Label(id))
	}
	for e := range v.EdgesSeq() {
		from, to, l := v.Edge(e)
		a, b := v.Key(from), v.Key(to)
		if !g.Directed() && a > b {
			a, b = b, a
		}
		m[fmt.Sprintf("%s -%s- %s", a, v.LabelName(l), b)] = fmt.Sprint(v.Attr(e))
	}
	return m
}

// TestS2RecutStreamsEndTheSame cuts one stream of messages into batches in two ways, with aborted stages in one.
func TestS2RecutStreamsEndTheSame(t *testing.T) {
	for seed := range uint64(60) {
		pick := seeded(seed)
		opt := Options{Directed: seed%2 == 0}
		if seed%3 == 0 {
			opt.Schema = twinSchema
		}
		msgs := make([]Message, 300)
		for i := range msgs {
			for range 1 + pick(2) {
				msgs[i].Updates = append(msgs[i].Updates, makeUpdate(pick, 8, 3, opt.Schema != nil, 0))
			}
		}
		run := func(most int) map[string]string {
			g := NewGraph(opt)
			for i := 0; i < len(msgs); {
				n := min(1+pick(most), len(msgs)-i)
				accepted, _ := g.Accept(msgs[i : i+n])
				i += n
				for {
					if _, err := g.Stage(accepted); err != nil {
						t.Fatal(err)
					}
					if pick(4) > 0 {
						break
					}
					g.Abort()
				}
				g.Commit()
			}
			return content(g)
		}
		a, b, c := run(1), run(20), run(300)
		if !maps.Equal(a, b) || !maps.Equal(a, c) {
			t.Fatalf("seed %d: %v\n%v\n%v", seed, a, b, c)
		}
	}
}

// TestA9InsertAllDeleteAll goes to many edges and back to none, by edges or by vertices, in small or large batches.
func TestA9InsertAllDeleteAll(t *testing.T) {
	for _, size := range []int{7, 500, 100000} {
		for _, byVertex := range []bool{false, true} {
			g := NewGraph(Options{Directed: true})
			var all []Update
			for i := range 5000 {
				all = append(all, ins(fmt.Sprint("v", i*7919%1000), fmt.Sprint("w", i), "x"))
			}
			run := func() {
				for i := 0; i < len(all); i += size {
					stage(t, g, all[i:min(i+size, len(all))]...)
					g.Commit()
				}
			}
			run()
			checkArray(t, g)
			if g.Edges() != 5000 || g.Vertices() != 6000 || g.adj.leaves() < 150 {
				t.Fatalf("%d edges, %d vertices, %d leaves", g.Edges(), g.Vertices(), g.adj.leaves())
			}
			for i := range all {
				all[i].Op = DeleteEdge
				if byVertex {
					all[i] = gone(all[i].To)
				}
			}
			run()
			checkArray(t, g)
			if g.Edges() != 0 || g.adj.leaves() != 1 || len(g.Triples()) != 0 {
				t.Fatalf("%d edges, %d leaves, triples %v", g.Edges(), g.adj.leaves(), g.Triples())
			}
		}
	}
}
