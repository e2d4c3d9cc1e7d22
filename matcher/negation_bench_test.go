package matcher_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/pattern"
	"motifd/matcher/plan"
)

// BenchmarkNegation has payments between 10,000 accounts, each of which knows 8 others, one payment a batch: without a
// negation, with one edge denied, with a path of two; and then each batch a change of who knows whom.
func BenchmarkNegation(b *testing.B) {
	const accounts = 10_000
	account := func(rng *rand.Rand) string { return fmt.Sprint(rng.IntN(accounts)) }
	update := func(op dyngraph.Op, from, label, to string) []dyngraph.Message {
		return []dyngraph.Message{{Updates: []dyngraph.Update{{Op: op, From: from, To: to, Label: label}}}}
	}
	for _, c := range []struct{ name, where, label string }{
		{"plain", "", "PAID"},
		{"edge", " WHERE NOT (a)-[:KNOWS]-(b)", "PAID"},
		{"path", " WHERE NOT EXISTS { (a)-[:KNOWS]-(x)-[:KNOWS]-(b) }", "PAID"},
		{"blocker", " WHERE NOT (a)-[:KNOWS]-(b)", "KNOWS"},
		{"blocker-path", " WHERE NOT EXISTS { (a)-[:KNOWS]-(x)-[:KNOWS]-(b) }", "KNOWS"},
	} {
		b.Run(c.name, func(b *testing.B) {
			q, err := pattern.Parse(pattern.Cypher, []byte("MATCH (a)-[:PAID]->(b)"+c.where),
				pattern.Options{Name: "q", Directed: true})
			if err != nil {
				b.Fatal(err)
			}
			d := matchertest.NewDriverWith(b, matcher.EngineOptions{Backend: newCPU(b, 1, false), Planner: plan.New(),
				Graph: dyngraph.NewGraph(dyngraph.Options{Directed: true})})
			rng := rand.New(rand.NewPCG(25, 1))
			var msgs []dyngraph.Message
			for range 8 * accounts {
				msgs = append(msgs, update(dyngraph.InsertEdge, account(rng), "KNOWS", account(rng))...)
				msgs = append(msgs, update(dyngraph.InsertEdge, account(rng), "PAID", account(rng))...)
			}
			d.Batch(msgs)
			d.Register(q)
			batches := make([]*matcher.Batch, 0, 2*b.N)
			for range b.N {
				from, to := account(rng), account(rng)
				for _, op := range []dyngraph.Op{dyngraph.InsertEdge, dyngraph.DeleteEdge} {
					batches = append(batches, &matcher.Batch{Updates: update(op, from, c.label, to)[0].Updates})
				}
			}
			drop := func(*matcher.Event) error { return nil }
			b.ResetTimer()
			for i, batch := range batches {
				batch.Number = uint64(i) + 10
				if batch.Updates[0].From == batch.Updates[0].To {
					continue
				}
				if _, err := d.Engine.Step(b.Context(), batch, drop, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
