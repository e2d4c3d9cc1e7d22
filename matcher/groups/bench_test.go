package groups_test

import (
	"context"
	"fmt"
	"testing"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/cpu"
	"motifd/matcher/groups"
	"motifd/matcher/pattern"
	"motifd/matcher/plan"
)

// payments is an engine with a hub of many payments in order of time, one second after the other, that expire.
type payments struct {
	b       testing.TB
	engine  *matcher.Engine
	batch   uint64
	paid    int64
	keep    int64 // payments
	records int
}

const benchDay = 86_400_000

func newPayments(b testing.TB, keep int64, cypher string) *payments {
	schema := &property.Schema{Edges: property.Declarations{"T": {"ts": {Kind: property.Timestamp},
		"amount": {Kind: property.Decimal, Scale: 2}}}}
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true, Schema: schema, EdgeIDs: true})
	e, err := matcher.NewEngine(matcher.EngineOptions{Graph: g, Planner: plan.New(),
		Backend: groups.New(cpu.New(cpu.Options{Threads: 1}), groups.Options{})})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = e.Close() })
	p := &payments{b: b, engine: e, keep: keep}
	for p.paid < keep {
		p.pay(1000)
	}
	r, err := pattern.ParseRule([]byte(cypher), pattern.Options{Name: "q", Directed: true}, pattern.Declared{
		Schema: schema, Parameters: map[string]condition.Parameter{
			"day": {Values: []property.Value{property.Int(benchDay)}}}})
	if err != nil {
		b.Fatal(err)
	}
	change, err := e.PrepareChange(&matcher.QueryChange{Add: r.Query})
	if err != nil {
		b.Fatal(err)
	}
	p.step(&matcher.Batch{Change: change})
	p.pay(1) // makes the state
	return p
}

// pay steps over a batch of payments: to the hub, and as many between other accounts.
func (p *payments) pay(n int) {
	var updates []dyngraph.Update
	for range n {
		p.paid++
		updates = append(updates, dyngraph.Update{Op: dyngraph.InsertEdge, From: fmt.Sprint("s", p.paid*7919%50_000),
			To: "hub", Label: "T", Attr: dyngraph.Attr{ID: fmt.Sprint(p.paid), TS: 1000 * p.paid, HasTS: true}})
	}
	p.step(&matcher.Batch{Updates: updates,
		Horizons: []dyngraph.Horizon{{Label: "T", Before: 1000 * (p.paid - p.keep)}}})
}

func (p *payments) step(batch *matcher.Batch) {
	p.batch++
	batch.Number = p.batch
	if batch.Updates != nil {
		accepted, rejects := p.engine.Accept([]dyngraph.Message{{Updates: batch.Updates}})
		if len(rejects) > 0 {
			p.b.Fatal(rejects[0])
		}
		batch.Updates = accepted
	}
	_, err := p.engine.Step(context.Background(), batch, func(ev *matcher.Event) error {
		p.records += ev.Records()
		return nil
	}, nil)
	if err != nil {
		p.b.Fatal(err)
	}
}

// BenchmarkHub steps over single payments to a hub, each of which also has one expire: without a query that concerns
// them, and with thresholds.
func BenchmarkHub(b *testing.B) {
	for _, edges := range []int64{10_000, 1_000_000} {
		for _, q := range []struct{ name, cypher string }{
			{"none", "MATCH (s)-[t:U]->(m) WITH m, count(*) AS n WHERE n >= 20"},
			{"senders", "MATCH (s)-[t:T]->(m) WITH m, count(DISTINCT s) AS n WHERE n >= 10"},
			{"window", "MATCH ()-[o:T]->(m) MATCH (s)-[t:T]->(m) WHERE t.ts <= o.ts AND o.ts - t.ts <= $day " +
				"WITH m, o, count(DISTINCT s) AS n WHERE n >= 20"},
		} {
			b.Run(fmt.Sprintf("%d/%s", edges, q.name), func(b *testing.B) {
				p := newPayments(b, edges, q.cypher)
				p.records = 0
				for b.Loop() {
					p.pay(1)
				}
				b.ReportMetric(float64(p.records)/float64(b.N), "records/op")
			})
		}
	}
}
