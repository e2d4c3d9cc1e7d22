package matcher_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/paths"
	"motifd/matcher/plan"
)

// BenchmarkPaths searches chains of payments, each later than the one before and all within an hour: of one to six
// payments as one query with a path, and of each length alone. Updates come one by one.
func BenchmarkPaths(b *testing.B) {
	schema := &property.Schema{Edges: property.Declarations{"T": {"ts": {Kind: property.Timestamp}}}}
	query := func(least, most int) *matcher.Query {
		return &matcher.Query{Name: "q", Version: 1, Emit: matcher.EmitCounts,
			Vertices: []matcher.QueryVertex{{Name: "a"}, {Name: "b"}},
			Edges: []matcher.QueryEdge{{Name: "t", To: 1, Label: "T",
				Hops: &matcher.Hops{Least: least, Most: most}}},
			Rises: []matcher.Rise{{Edges: []int{0}}}, Spans: []matcher.Span{{Edges: []int{0}, Most: 3_600_000}}}
	}
	for _, lengths := range [][2]int{{1, 6}, {1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}, {6, 6}} {
		b.Run(fmt.Sprintf("%d..%d", lengths[0], lengths[1]), func(b *testing.B) {
			const vertices, window = 2000, 20_000
			rng := rand.New(rand.NewPCG(26, 1))
			g := dyngraph.NewGraph(dyngraph.Options{Directed: true, Schema: schema, EdgeIDs: true})
			e, err := matcher.NewEngine(matcher.EngineOptions{Graph: g, Planner: plan.New(),
				Backend: paths.New(cpu.New(cpu.Options{Threads: 1}))})
			if err != nil {
				b.Fatal(err)
			}
			step := func(batch *matcher.Batch) *matcher.Summary {
				sum, err := e.Step(context.Background(), batch, func(*matcher.Event) error { return nil }, nil)
				if err != nil {
					b.Fatal(err)
				}
				return sum
			}
			at := 0
			pay := func() dyngraph.Message {
				from := rng.IntN(vertices)
				u := dyngraph.Update{Op: dyngraph.InsertEdge, From: fmt.Sprint(from), Label: "T",
					To: fmt.Sprint((from + 1 + rng.IntN(vertices-1)) % vertices)}
				u.Attr.ID, u.Attr.TS, u.Attr.HasTS = fmt.Sprint(at), int64(at)*1200, true // 3,000 in an hour
				at++
				return dyngraph.Message{Updates: []dyngraph.Update{u}}
			}
			var load []dyngraph.Message
			for range window {
				load = append(load, pay())
			}
			accepted, _ := e.Accept(load)
			step(&matcher.Batch{Number: 1, Updates: accepted})
			change, err := e.PrepareChange(&matcher.QueryChange{Add: query(lengths[0], lengths[1])})
			if err != nil {
				b.Fatal(err)
			}
			step(&matcher.Batch{Number: 2, Change: change})
			found, number := matcher.Count{}, uint64(2)
			for b.Loop() {
				number++
				updates, _ := e.Accept([]dyngraph.Message{pay()})
				for _, q := range step(&matcher.Batch{Number: number, Updates: updates}).Queries {
					found = found.Add(q.Positive)
				}
			}
			b.ReportMetric(float64(found.Lo)/float64(b.N), "matches/op")
		})
	}
}
