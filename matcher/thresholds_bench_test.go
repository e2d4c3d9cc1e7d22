package matcher_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/cpu"
	"motifd/matcher/matchertest"
	"motifd/stream/monitor"
)

// thresholdRules returns n rules of two payments in a row, each above a threshold of its own which one payment in 500
// exceeds.
func thresholdRules(b *testing.B, n int, schema *property.Schema) (qs []*matcher.Query) {
	for i := range n {
		q := &matcher.Query{Name: fmt.Sprintf("q%03d", i), Vertices: []matcher.QueryVertex{
			{Name: "a"}, {Name: "m"}, {Name: "c"}}, Edges: []matcher.QueryEdge{{Name: "t", From: 0, To: 1, Label: "T"},
			{Name: "u", From: 1, To: 2, Label: "T"}}}
		c := &matchertest.Case{Schema: schema, Where: matchertest.Where{}}
		var exprs []*condition.Expr
		for _, e := range []string{"t", "u"} {
			exprs = append(exprs, &condition.Expr{Op: condition.OpCompare, Chain: []condition.Relation{condition.Gt},
				Args: []*condition.Expr{{Op: condition.OpProperty, Text: e, Property: "amount"},
					{Op: condition.OpNumber, Text: fmt.Sprint(998_000 + 4*i)}}})
		}
		if err := c.Ask(q, exprs...); err != nil {
			b.Fatal(err)
		}
		qs = append(qs, q)
	}
	return qs
}

// BenchmarkThresholds steps engines with no rule, 5 and 500 rules over the same payments by turns. Each rule has a
// threshold of its own for one property. It reports the processor time for a payment, and its ratio between 500 and 5.
func BenchmarkThresholds(b *testing.B) {
	schema := &property.Schema{Edges: property.Declarations{"T": {"amount": {Kind: property.Int64}}}}
	for _, batch := range []int{1, 1000} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			next := func(n int) (msgs []dyngraph.Message) {
				for range n {
					from := rng.IntN(20_000)
					u := dyngraph.Update{Op: dyngraph.InsertEdge, From: fmt.Sprint(from),
						To: fmt.Sprint((from + 1 + rng.IntN(19_999)) % 20_000), Label: "T",
						Attr: dyngraph.Attr{Values: []property.Value{property.Int(rng.Int64N(1_000_000))}}}
					msgs = append(msgs, dyngraph.Message{Updates: []dyngraph.Update{u}})
				}
				return msgs
			}
			load := next(50_000)
			rules := thresholdRules(b, 500, schema)
			var all []*manyEngine
			for _, n := range []int{0, 5, 500} {
				e, err := monitor.NewEngine(matcher.EngineOptions{
					Graph:   dyngraph.NewGraph(dyngraph.Options{Directed: true, Schema: schema}),
					Backend: cpu.New(cpu.Options{Threads: 1})})
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { e.Close() })
				m := &manyEngine{b: b, e: e}
				m.start(load, rules[:n], matcher.EmitDeltas)
				m.records, m.ns = 0, nil
				all = append(all, m)
			}
			var ratio []float64
			for b.Loop() {
				msgs := next(2000)
				for _, m := range all {
					m.block(msgs, batch)
				}
				last := func(m *manyEngine) float64 { return m.ns[len(m.ns)-1] }
				ratio = append(ratio, last(all[2])/last(all[1]))
			}
			b.ReportMetric(0, "ns/op")
			for i, n := range []int{0, 5, 500} {
				b.ReportMetric(median(all[i].ns), fmt.Sprintf("%d-ns/update", n))
			}
			b.ReportMetric(median(ratio), "ratio")
			b.ReportMetric(float64(all[2].records)/float64(2000*len(ratio)), "500-records/update")
		})
	}
}
