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

// gapsGraph has vertices of five labels and edges of some between random ones, after as many deletions and insertions
// as it has edges.
func gapsGraph(
	b *testing.B,
	vertices, edges int,
	directed bool,
	labels ...string,
) (*dyngraph.Graph, func(n int) []dyngraph.Message) {
	rnd := rand.New(rand.NewPCG(4, 4))
	g := dyngraph.NewGraph(dyngraph.Options{Directed: directed})
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
			u := dyngraph.Update{Op: dyngraph.InsertEdge, From: name(), To: name(),
				Label: labels[rnd.IntN(len(labels))]}
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

// BenchmarkGapsInSearch runs the same searches over the churned array and over one without gaps, by turns, each time
// with caches that are cold, and compares the processor time: the least of all rounds. Where the graph has no
// directions and one edge label they run over one that a search cannot tell from a plain CSR's, too.
func BenchmarkGapsInSearch(b *testing.B) {
	const vertices, edges = 100_000, 1_000_000
	directed, insert := gapsGraph(b, vertices, edges, true, "S", "T")
	messages := insert(20_000)
	for _, t := range []struct{ name, text string }{
		{"path", "MATCH (a:A)-[:S]->(b:B)-[:T]->(c:C)-[:S]->(d:D)"},
		{"square", "MATCH (a:A)-[:S]->(b:B)-[:T]->(c:C)<-[:S]-(d:D)<-[:T]-(a)"},
		{"star", "MATCH (a:A)-[:S]->(b:B), (a)-[:T]->(c:C), (a)<-[:S]-(d:D)"},
		{"triangle", "MATCH (a)-[:S]->(b)-[:T]->(c), (a)-[:S]->(c)"},
	} {
		b.Run(t.name, func(b *testing.B) { gapsInSearch(b, directed, messages, t.text) })
	}
	plain, insert := gapsGraph(b, vertices, edges, false, "S")
	messages = insert(20_000)
	for _, t := range []struct{ name, text string }{
		{"path", "MATCH (a:A)-[:S]-(b:B)-[:S]-(c:C)-[:S]-(d:D)"},
		{"square", "MATCH (a:A)-[:S]-(b:B)-[:S]-(c:C)-[:S]-(d:D)-[:S]-(a)"},
		{"star", "MATCH (a:A)-[:S]-(b:B), (a)-[:S]-(c:C), (a)-[:S]-(d:D)"},
		{"triangle", "MATCH (a:A)-[:S]-(b:B)-[:S]-(c:C)-[:S]-(a)"},
	} {
		b.Run("plain/"+t.name, func(b *testing.B) { gapsInSearch(b, plain, messages, t.text) })
	}
}

func gapsInSearch(b *testing.B, g *dyngraph.Graph, messages []dyngraph.Message, text string) {
	const rounds = 7
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	q, err := pattern.Parse(pattern.Cypher, []byte(text), pattern.Options{Name: "q", Directed: g.Directed()})
	must(err)
	p, err := plan.New().Plan(q, g)
	must(err)
	for b.Loop() {
		kinds := 2
		if !g.Directed() {
			kinds = 3
		}
		var backends []*cpu.Backend
		for range kinds * rounds {
			be := cpu.New(cpu.Options{Threads: 1})
			must(be.Load(g))
			must(be.Prepare([]*matcher.Plan{p}))
			backends = append(backends, be)
		}
		u, _ := g.Accept(messages)
		d, err := g.Stage(u)
		must(err)
		swap := [3]func(){func() {}, g.PackedTwin(), g.FlatTwin()}
		var least [3]time.Duration
		var found [3]matcher.Count
		for i, be := range backends {
			k := i % kinds
			swap[k]()
			must(be.Stage(d))
			t := dyngraph.CPUTime()
			res, err := be.Search(
				context.Background(),
				dyngraph.Inserted,
				[]matcher.Request{{Plan: p, Before: matcher.AllOrders}},
				func(matcher.Group) error { return nil },
				func(int, uint32, matcher.Cause) (bool, error) { return true, nil },
			)
			spent := dyngraph.CPUTime() - t
			must(err)
			must(be.Abort())
			must(be.Close())
			swap[k]()
			if least[k] == 0 || spent < least[k] {
				least[k] = spent
			}
			found[k] = res[0].Count
		}
		g.Abort()
		for k := range kinds {
			if found[k] != found[0] {
				b.Fatalf("%v matches with gaps, %v without, %v in the CSR", found[0], found[1], found[2])
			}
		}
		b.ReportMetric(float64(least[0])/float64(least[1]), "gaps/packed")
		if kinds == 3 {
			b.ReportMetric(float64(least[0])/float64(least[2]), "gaps/flat")
		}
		b.ReportMetric(float64(least[0].Microseconds())/1e3, "gaps-ms")
		b.ReportMetric(float64(found[0].Lo), "matches")
		b.ReportMetric(g.Density(), "density")
	}
}
