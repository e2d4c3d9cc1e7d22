package dyngraph_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/pattern"
	"motifd/matcher/plan"
)

// gapsGraph has vertices of five labels and edges of two between random ones, after as many deletions and insertions as it has
// edges.
func gapsGraph(b *testing.B, vertices, edges int) (*dyngraph.Graph, func(n int) []dyngraph.Message) {
	rnd := rand.New(rand.NewPCG(4, 4))
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true})
	apply := func(m []dyngraph.Message) {
		u, rejects := g.Accept(m)
		if len(rejects) > 0 {
			b.Fatal(rejects[0].Err)
		}
		if _, err := g.Stage(u); err != nil {
			b.Fatal(err)
		}
		g.Commit()
	}
	name := func() string {
		x := rnd.Float64() // some vertices have more neighbours than others
		return fmt.Sprint("v", int(x*x*float64(vertices)))
	}
	var m []dyngraph.Message
	for v := range vertices {
		m = append(m, dyngraph.Message{Updates: []dyngraph.Update{{Op: dyngraph.InsertVertex, Key: fmt.Sprint("v", v),
			Label: string(rune('A' + rnd.IntN(5)))}}})
	}
	apply(m)
	var live []dyngraph.Update
	insert := func(n int) (m []dyngraph.Message) {
		for len(m) < n {
			u := dyngraph.Update{Op: dyngraph.InsertEdge, From: name(), To: name(), Label: []string{"S", "T"}[rnd.IntN(2)]}
			if u.From != u.To {
				live = append(live, u)
				m = append(m, dyngraph.Message{Updates: []dyngraph.Update{u}})
			}
		}
		return m
	}
	const size = 10_000
	for range edges / size {
		apply(insert(size))
	}
	for range edges / size {
		for range size {
			i := rnd.IntN(len(live))
			u := live[i]
			u.Op = dyngraph.DeleteEdge
			live[i] = live[len(live)-1]
			live = live[:len(live)-1]
			m = append(m[:0], dyngraph.Message{Updates: []dyngraph.Update{u}})
		}
		apply(append(m, insert(size)...))
	}
	return g, insert
}

// BenchmarkGapsInSearch runs the same searches over the churned array and over one without gaps, by turns, each time with
// caches that are cold, and compares the processor time: the least of all rounds.
func BenchmarkGapsInSearch(b *testing.B) {
	const rounds = 7
	g, insert := gapsGraph(b, 100_000, 1_000_000)
	messages := insert(20_000)
	for _, t := range []struct{ name, text string }{
		{"path", "MATCH (a:A)-[:S]->(b:B)-[:T]->(c:C)-[:S]->(d:D)"},
		{"square", "MATCH (a:A)-[:S]->(b:B)-[:T]->(c:C)<-[:S]-(d:D)<-[:T]-(a)"},
		{"star", "MATCH (a:A)-[:S]->(b:B), (a)-[:T]->(c:C), (a)<-[:S]-(d:D)"},
		{"triangle", "MATCH (a)-[:S]->(b)-[:T]->(c), (a)-[:S]->(c)"},
	} {
		b.Run(t.name, func(b *testing.B) {
			must := func(err error) {
				if err != nil {
					b.Fatal(err)
				}
			}
			q, err := pattern.Parse(pattern.Cypher, []byte(t.text), pattern.Options{Name: t.name, Directed: true})
			must(err)
			p, err := plan.New().Plan(q, g)
			must(err)
			for b.Loop() {
				var backends []*cpu.Backend
				for range 2 * rounds {
					be := cpu.New(cpu.Options{Threads: 1})
					must(be.Load(g))
					must(be.Prepare([]*matcher.Plan{p}))
					backends = append(backends, be)
				}
				u, _ := g.Accept(messages)
				d, err := g.Stage(u)
				must(err)
				swap := g.PackedTwin()
				var least [2]time.Duration
				var found [2]matcher.Count
				for i, be := range backends {
					must(be.Stage(d))
					t := dyngraph.CPUTime()
					res, err := be.Search(context.Background(), dyngraph.Inserted, []matcher.Request{{Plan: p, Before: matcher.AllOrders}},
						func(matcher.Group) error { return nil }, func(int, uint32) error { return nil })
					spent := dyngraph.CPUTime() - t
					must(err)
					must(be.Abort())
					must(be.Close())
					if k := i % 2; least[k] == 0 || spent < least[k] {
						least[k] = spent
					}
					found[i%2] = res[0].Count
					swap()
				}
				g.Abort()
				if found[0].String() != found[1].String() {
					b.Fatalf("%v matches with gaps, %v without", found[0], found[1])
				}
				b.ReportMetric(float64(least[0])/float64(least[1]), "gaps/packed")
				b.ReportMetric(float64(least[0].Microseconds())/1e3, "gaps-ms")
				b.ReportMetric(float64(found[0].Lo), "matches")
				b.ReportMetric(g.Density(), "density")
			}
		})
	}
}
