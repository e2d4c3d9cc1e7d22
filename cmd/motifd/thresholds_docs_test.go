package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/stream/monitor"
)

// TestS24DocumentedThresholds runs the queries of docs/patterns.md on payments that 24 accounts send to one within a
// day, that 6 accounts pass on, and that the one pays out again: each has matches, and begins with the payment that it
// waits for.
func TestS24DocumentedThresholds(t *testing.T) {
	c, queries, m := documented(t, "Thresholds", "How it differs")
	require.Len(t, queries, 5)
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(24, 1))
	columns := c.Graph.Schema().EdgeColumns()
	at, ok := columns.Of("TRANSFER", "amount")
	require.True(t, ok)
	now := int64(1_700_000_000_000)
	pay := func(from, to string) dyngraph.Update {
		now += 60_000
		u := dyngraph.Update{Op: dyngraph.InsertEdge, From: from, To: to, Label: "TRANSFER", FromLabel: "Account",
			ToLabel: "Account", Attr: dyngraph.Attr{TS: now, HasTS: true}}
		u.Attr.Values = make([]property.Value, at+1)
		u.Attr.Values[at] = property.Units(50_000+rng.Int64N(1000), 2)
		return u
	}
	found := map[string][]int{}
	apply := func(i int, u dyngraph.Update) {
		_, err := m.Apply(ctx, []dyngraph.Update{u}, monitor.Each(func(d monitor.Delta) error {
			require.Equal(t, "+", d.Op())
			require.NotEmpty(t, d.Fields)
			if d.Query == "fan-in" {
				sample := d.Fields[len(d.Fields)-1]
				require.Equal(t, "sample", sample.Name)
				require.Len(t, sample.Edges, 5)
				require.Equal(t, d.Edges[0].From, sample.Edges[0].From, "the payment that completed the burst")
			}
			found[d.Query] = append(found[d.Query], i)
			return nil
		}))
		require.NoError(t, err)
	}
	for i := range 24 {
		apply(i, pay(fmt.Sprint("s", i), "hub"))
	}
	for i := range 6 {
		apply(24+2*i, pay("a", fmt.Sprint("m", i)))
		apply(25+2*i, pay(fmt.Sprint("m", i), "b"))
	}
	for i := range 8 {
		apply(36+i, pay("hub", fmt.Sprint("d", i)))
	}
	for i := range 20 {
		apply(44+i, pay("hub", fmt.Sprint("d", 8+i)))
	}
	require.Equal(t, []int{19}, found["busy"])
	require.Equal(t, []int{19, 20, 21, 22, 23}, found["fan-in"])
	require.Equal(t, []int{31}, found["scatter-gather"])
	require.Equal(t, []int{39, 39, 39, 39, 39}, found["gather-scatter"]) // of the five bursts
	require.Len(t, found["pass-through"], 1)
	require.Greater(t, found["pass-through"][0], 50)
}
