package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/stream/monitor"
)

// TestS25DocumentedNegations runs the queries of docs/patterns.md: each has a match that begins, and one that a blocker
// ends; of the first two one that begins when its blocker goes.
func TestS25DocumentedNegations(t *testing.T) {
	c, queries, m := documented(t, "What must be absent", "How it differs")
	require.Len(t, queries, 5)
	ctx := context.Background()
	for _, q := range queries {
		n := len(q.Negations)
		if q.Groups != nil {
			n = q.Groups.Negations()
		}
		require.Equal(t, 1, n)
	}
	at, ok := c.Graph.Schema().EdgeColumns().Of("TRANSFER", "amount")
	require.True(t, ok)
	const day = 86_400_000
	edge := func(op dyngraph.Op, from, label, to string, ts int64) dyngraph.Update {
		u := dyngraph.Update{Op: op, From: from, To: to, Label: label}
		if op == dyngraph.DeleteEdge {
			return u
		}
		u.FromLabel, u.ToLabel = "Account", map[bool]string{true: "Check", false: "Account"}[label == "CHECKED"]
		u.Attr = dyngraph.Attr{TS: ts, HasTS: true}
		if label == "TRANSFER" {
			u.Attr.Values = make([]property.Value, at+1)
			u.Attr.Values[at] = property.Units(150_000, 2)
		}
		return u
	}
	for _, step := range []struct {
		update dyngraph.Update
		want   []string
	}{
		{edge(dyngraph.InsertEdge, "a", "TRANSFER", "b", 10*day), []string{"+unchecked", "+unchecked", "+kept",
			"+new-acquaintance", "+strangers"}},
		{edge(dyngraph.InsertEdge, "b", "KNOWS", "a", 9*day), []string{"-strangers"}},
		{edge(dyngraph.InsertEdge, "b", "KNOWS", "a", 2*day), []string{"-new-acquaintance"}},
		{edge(dyngraph.DeleteEdge, "b", "KNOWS", "a", 0), []string{"+new-acquaintance", "+strangers"}},
		{edge(dyngraph.InsertEdge, "b", "TRANSFER", "c", 11*day), []string{"-kept", "+unchecked", "+kept",
			"+new-acquaintance", "+strangers"}},
		{edge(dyngraph.InsertEdge, "a", "CHECKED", "file", 0), []string{"-unchecked"}},
	} {
		var got []string
		_, err := m.Apply(ctx, []dyngraph.Update{step.update}, monitor.Each(func(d monitor.Delta) error {
			got = append(got, d.Op()+d.Query)
			return nil
		}))
		require.NoError(t, err)
		require.Equal(t, step.want, got, "%+v", step.update)
	}
}
