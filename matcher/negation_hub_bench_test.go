package matcher_test

import (
	"fmt"
	"testing"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/pattern"
	"motifd/matcher/plan"
)

// BenchmarkNegationHub has 300 payments to a hub that 20,000 payments leave: those that come later than another deny
// it, and none does. Each batch is one more payment that leaves the hub, or one less. The payments to the hub are
// matches, or rows of a group.
func BenchmarkNegationHub(b *testing.B) {
	const match = "MATCH (a)-[t:T]->(m)-[o:O]->(z) WHERE NOT EXISTS { (m)-[u:T]->(x) WHERE u.ts > t.ts }"
	b.Run("matches", func(b *testing.B) { negationHub(b, match) })
	b.Run("rows", func(b *testing.B) { negationHub(b, match+" WITH m, count(*) AS n WHERE n > 9") })
}

func negationHub(b *testing.B, cypher string) {
	schema := &property.Schema{Edges: property.Declarations{"*": {"ts": {Kind: property.Timestamp}}}}
	q, err := pattern.Parse(pattern.Cypher, []byte(cypher), pattern.Options{Name: "q", Directed: true,
		Declared: pattern.Declared{Schema: schema}})
	if err != nil {
		b.Fatal(err)
	}
	d := matchertest.NewDriverWith(b, matcher.EngineOptions{Backend: newCPU(b, 1, false), Planner: plan.New(),
		Graph: dyngraph.NewGraph(dyngraph.Options{Directed: true, Schema: schema})})
	update := func(op dyngraph.Op, from, label, to string, ts int64) dyngraph.Message {
		u := dyngraph.Update{Op: op, From: from, To: to, Label: label}
		if u.Attr.HasTS = op == dyngraph.InsertEdge; u.Attr.HasTS {
			u.Attr.TS = ts
		}
		return dyngraph.Message{Updates: []dyngraph.Update{u}}
	}
	msgs := []dyngraph.Message{update(dyngraph.InsertEdge, "hub", "O", "z", 0)}
	for i := range 20_000 {
		msgs = append(msgs, update(dyngraph.InsertEdge, "hub", "T", fmt.Sprint("out", i), int64(i)))
	}
	for i := range 300 {
		msgs = append(msgs, update(dyngraph.InsertEdge, fmt.Sprint("in", i), "T", "hub", 100_000))
	}
	d.Batch(msgs)
	d.Register(q)
	number := uint64(10)
	for b.Loop() {
		for _, op := range []dyngraph.Op{dyngraph.InsertEdge, dyngraph.DeleteEdge} {
			number++
			batch := &matcher.Batch{Number: number, Updates: update(op, "hub", "T", "more", 50_000).Updates}
			if _, err := d.Engine.Step(b.Context(), batch, func(*matcher.Event) error { return nil }, nil); err != nil {
				b.Fatal(err)
			}
		}
	}
}
