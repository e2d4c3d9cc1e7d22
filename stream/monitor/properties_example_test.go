package monitor_test

import (
	"context"
	"fmt"
	"log"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher/condition"
	"motifd/stream/monitor"
)

func ExampleMonitor_ParseWith() {
	ctx := context.Background()
	payments := &property.Schema{Edges: property.Declarations{
		"TRANSFER": {"amount": {Kind: property.Decimal, Scale: 2}},
	}}
	m, err := monitor.Open(monitor.Options{Properties: payments})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	big, err := m.ParseWith("big", "MATCH (a)-[t:TRANSFER]->(b) WHERE t.amount >= $least RETURN 2 * t.amount AS twice",
		map[string]condition.Parameter{"least": {Values: []property.Value{property.Int(1000)}}})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := m.Add(ctx, big, nil); err != nil {
		log.Fatal(err)
	}
	amount, _ := payments.Edges.Columns().Of("TRANSFER", "amount")
	pay := func(cents int64) dyngraph.Update {
		u := dyngraph.Update{Op: dyngraph.InsertEdge, From: "alice", To: "bob", Label: "TRANSFER"}
		u.Attr.Values = make([]property.Value, amount+1)
		u.Attr.Values[amount] = property.Units(cents, 2)
		return u
	}
	for _, cents := range []int64{99_999, 100_000, 250_000, 50} {
		_, err := m.Apply(ctx, []dyngraph.Update{pay(cents)}, monitor.Each(func(d monitor.Delta) error {
			fmt.Println(d.Batch, d.Op(), d.Edges[0].Attr.Value(amount), d.Fields[0].Name, d.Fields[0].Value)
			return nil
		}))
		if err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// 3 + 1000.00 twice 2000.00
	// 4 - 1000.00 twice 2000.00
	// 4 + 2500.00 twice 5000.00
	// 5 - 2500.00 twice 5000.00
}
