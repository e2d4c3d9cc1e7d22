package codec

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
)

// looseUpdate is an update as encoding/json reads it.
type looseUpdate struct {
	Op        string
	Key       string
	From      string
	To        string
	Label     string
	FromLabel string `json:"from_label"`
	ToLabel   string `json:"to_label"`
	ID        string
	TS        *int64
	Props     json.RawMessage
}

// apply runs updates through a graph as one batch, up to the staged state; commit ends it.
func apply(t testing.TB, g *dyngraph.Graph, updates ...dyngraph.Update) *dyngraph.Delta {
	t.Helper()
	accepted, rejects := g.Accept([]dyngraph.Message{{Updates: updates}})
	require.Empty(t, rejects)
	d, err := g.Stage(accepted)
	require.NoError(t, err)
	return d
}

func insert(from, to, label string) dyngraph.Update {
	return dyngraph.Update{
		Op:        dyngraph.InsertEdge,
		From:      from,
		To:        to,
		Label:     label,
		FromLabel: "Account",
		ToLabel:   "Account",
	}
}

// ringGraph is a ring of three accounts, the query that it matches, and the match.
func ringGraph(t testing.TB, directed bool) (*dyngraph.Graph, *matcher.Query, []uint32) {
	t.Helper()
	g := dyngraph.NewGraph(dyngraph.Options{Directed: directed})
	a, b, c := insert(
		"acc-0000001",
		"acc-0000002",
		"TRANSFER",
	), insert(
		"acc-0000002",
		"acc-0000003",
		"TRANSFER",
	), insert(
		"acc-0000003",
		"acc-0000001",
		"TRANSFER",
	)
	a.Attr = dyngraph.Attr{ID: "tx-1", TS: 1700000000000, HasTS: true, Props: []byte(`{"amount":12.5}`)}
	b.Attr = dyngraph.Attr{TS: -5, HasTS: true}
	apply(t, g, a, b, c)
	g.Commit()
	q := ring3(directed)
	return g, q, rowOf(t, g.View(dyngraph.New), q, []string{"acc-0000001", "acc-0000002", "acc-0000003"})
}

func ring3(directed bool) *matcher.Query {
	q := &matcher.Query{Name: "ring3", Version: 1}
	for _, n := range []string{"a", "b", "c"} {
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: n, Label: "Account"})
	}
	for i, n := range []string{"e1", "e2", "e3"} {
		q.Edges = append(q.Edges, matcher.QueryEdge{Name: n, From: i, To: (i + 1) % 3, Label: "TRANSFER",
			Either: !directed})
	}
	return q
}

// rowOf is the match that maps the pattern's vertices to keys.
func rowOf(t testing.TB, v dyngraph.View, q *matcher.Query, keys []string) []uint32 {
	t.Helper()
	var row []uint32
	for _, k := range keys {
		before := len(row)
		for id := range v.VerticesSeq() {
			if v.Key(id) == k {
				row = append(row, uint32(id))
			}
		}
		require.Len(t, row, before+1, k)
	}
	for _, e := range q.Edges {
		found := false
		for i := range v.EdgesSeq() {
			from, to, l := v.Edge(i)
			same := uint32(from) == row[e.From] && uint32(to) == row[e.To]
			turned := e.Either && uint32(from) == row[e.To] && uint32(to) == row[e.From]
			if (same || turned) && (e.Label == "" || v.LabelName(l) == e.Label) {
				row, found = append(row, uint32(i)), true
				break
			}
		}
		require.True(t, found, e.Name)
	}
	return row
}
