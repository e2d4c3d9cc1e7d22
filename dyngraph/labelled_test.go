package dyngraph

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph/property"
)

// TestALabelledVertexIsLimited has a vertex get one label too many: by one update, by several of a batch, by an edge,
// and with labels that it has from an earlier batch.
func TestALabelledVertexIsLimited(t *testing.T) {
	g := NewGraph(Options{Directed: true, Schema: &property.Schema{SeveralLabels: true}})
	g.LimitVertexLabels(3)
	set := func(labels ...string) Update {
		return Update{Op: InsertVertex, Key: "a", Label: property.JoinLabels(labels...)}
	}
	change := func(labels ...string) Update {
		return Update{Op: ReviseVertex, Key: "a", Label: property.JoinLabels(labels...)}
	}
	edge := func(labels ...string) Update {
		return Update{Op: InsertEdge, From: "a", To: "b", FromLabel: property.JoinLabels(labels...)}
	}
	batch := func(refused []int, messages ...[]Update) {
		t.Helper()
		msgs := make([]Message, len(messages))
		for i, updates := range messages {
			msgs[i].Updates = updates
		}
		accepted, rejects := g.Accept(msgs)
		var got []int
		for _, r := range rejects {
			got = append(got, r.Message)
			var refused *UpdateError
			require.ErrorAs(t, r.Err, &refused)
			require.Equal(t, ReasonLabelLimit, refused.Reason)
			require.ErrorContains(t, r.Err, "graph.max_vertex_labels")
		}
		require.Equal(t, refused, got)
		_, err := g.Stage(accepted)
		require.NoError(t, err)
		g.Commit()
	}
	labels := func() string { return fmt.Sprintf("%q", g.View(New).Labels(g.find("a")).String()) }

	batch([]int{0}, []Update{set("A", "B", "C", "D")}, []Update{set("A", "B", "B")})
	require.Equal(t, `"A\x00B"`, labels())
	batch([]int{1}, []Update{change("+A", "+C")}, []Update{change("+D")}, []Update{change("+C", "+B")})
	require.Equal(t, `"A\x00B\x00C"`, labels())
	batch([]int{0}, []Update{edge("D")}, []Update{edge("A")}, []Update{change("-B")})
	require.Equal(t, `"A\x00C"`, labels())
	// A message that is refused takes nothing of the limit.
	batch([]int{0}, []Update{change("+D", "+E")}, []Update{change("+F")})
	require.Equal(t, `"A\x00C\x00F"`, labels())
	g.LimitVertexLabels(0)
	batch(nil, []Update{change("+G", "+H", "+I")})
	require.Equal(t, `"A\x00C\x00F\x00G\x00H\x00I"`, labels())
}
