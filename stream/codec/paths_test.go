package codec

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/condition"
)

// chain is a query with a path between two edges, and the variant of two hops.
func chain() (q, two *matcher.Query) {
	q = &matcher.Query{Name: "chain", Version: 3,
		Vertices: []matcher.QueryVertex{{Name: "a", Label: "Account"}, {Name: "b"}, {Name: "c"}},
		Edges: []matcher.QueryEdge{
			{Name: "t", From: 0, To: 1, Label: "TRANSFER", Hops: &matcher.Hops{Least: 1, Most: 2}},
			{Name: "z", From: 1, To: 2, Label: "TRANSFER"}},
		Fields: []matcher.Field{{Name: "path", Element: condition.Ref{Edge: true, Index: 0}},
			{Name: "last", Element: condition.Ref{Edge: true, Index: 1}}}}
	return q, q.Variants()[1]
}

// TestS26PathRecord shows a path under its name, with its edges and inner vertices, and as a field.
func TestS26PathRecord(t *testing.T) {
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true})
	apply(t, g, insert("k1", "k2", "TRANSFER"), insert("k2", "k3", "TRANSFER"), insert("k3", "k4", "TRANSFER"))
	q, two := chain()
	view := g.View(dyngraph.New)
	row := rowOf(t, view, two, []string{"k1", "k3", "k4", "k2"})
	ev := matchEvent(g, dyngraph.New, two, dyngraph.Inserted, row)
	ev.Query, ev.Rows.Of, ev.Snapshot = q, two, true
	rec := encode(t, EncoderOptions{}, ev)
	id, err := MatchID(two, view, row)
	require.NoError(t, err)
	const path = `{"edges":[{"from":"k1","to":"k2","label":"TRANSFER"},{"from":"k2","to":"k3","label":"TRANSFER"}],` +
		`"vertices":[{"key":"k2","label":"Account"}]}`
	const last = `{"from":"k3","to":"k4","label":"TRANSFER"}`
	require.Equal(t, fmt.Sprintf(`{"stream":"s1","batch":7,"index":0,"query":"chain","version":3,"op":"+",`+
		`"match":"%x","snapshot":true,"vertices":{"a":{"key":"k1","label":"Account"},`+
		`"b":{"key":"k3","label":"Account"},"c":{"key":"k4","label":"Account"}},"edges":{"z":%s},`+
		`"paths":{"t":%s},"fields":{"path":%s,"last":%s}}`,
		id, last, path, path, last), string(rec.Value))

	// The lengths are a field of the id's preimage, behind the version.
	var preimage []byte
	for _, field := range []string{"motifd-match-1", "chain", "3", "2", "k1", "Account", "k3", "Account", "k4",
		"Account", "k2", "Account", "k1", "k2", "TRANSFER", "k2", "k3", "TRANSFER", "k3", "k4", "TRANSFER"} {
		preimage = append(binary.BigEndian.AppendUint32(preimage, uint32(len(field))), field...)
	}
	sum := sha256.Sum256(preimage)
	require.Equal(t, sum[:16], id[:])
}

// TestS26PathWithoutEdges has a path alone: no member edges, and a path of one edge has no inner vertex.
func TestS26PathWithoutEdges(t *testing.T) {
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true})
	apply(t, g, insert("k1", "k2", "TRANSFER"))
	q := &matcher.Query{Name: "p", Version: 1, Vertices: []matcher.QueryVertex{{Name: "a"}, {Name: "b"}},
		Edges: []matcher.QueryEdge{{Name: "t", To: 1, Hops: &matcher.Hops{Least: 1, Most: 3}}}}
	one := q.Variants()[0]
	row := rowOf(t, g.View(dyngraph.New), one, []string{"k1", "k2"})
	ev := matchEvent(g, dyngraph.New, one, dyngraph.Inserted, row)
	ev.Query, ev.Rows.Of = q, one
	rec := encode(t, EncoderOptions{}, ev)
	require.Contains(t, string(rec.Value), `"vertices":{"a":{"key":"k1","label":"Account"},`+
		`"b":{"key":"k2","label":"Account"}},"paths":{"t":{"edges":[{"from":"k1","to":"k2","label":"TRANSFER"}],`+
		`"vertices":[]}}}`)
}
