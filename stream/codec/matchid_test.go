package codec

import (
	"encoding/hex"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"motifd/dyngraph"
	"motifd/matcher"
)

// transfer is the graph and the query of the worked example in docs/formats.md.
func transfer() (*dyngraph.Graph, *matcher.Query) {
	return dyngraph.NewGraph(dyngraph.Options{Directed: true}), &matcher.Query{
		Name: "pay", Version: 1, Vertices: []matcher.QueryVertex{{Name: "a", Label: "Account"}, {Name: "b"}},
		Edges: []matcher.QueryEdge{{Name: "e1", From: 0, To: 1, Label: "TRANSFER"}},
	}
}

func TestS6WorkedExample(t *testing.T) {
	g, q := transfer()
	apply(t, g, dyngraph.Update{Op: dyngraph.InsertEdge, From: "a1", To: "a2", Label: "TRANSFER", FromLabel: "Account"})
	id, err := MatchID(q, g.View(dyngraph.New), rowOf(t, g.View(dyngraph.New), q, []string{"a1", "a2"}))
	require.NoError(t, err)
	require.Equal(t, "ec107990e3b0c46d4152f46da9a37f22", hex.EncodeToString(id[:]))

	docs, err := os.ReadFile("../../docs/formats.md")
	require.NoError(t, err)
	require.Contains(t, string(docs), hex.EncodeToString(id[:]), "the worked example in docs/formats.md")
}

func TestS6MatchAndCancellationHaveTheSameID(t *testing.T) {
	for _, directed := range []bool{true, false} {
		q := ring3(directed)
		keys := []string{"b", "a", "c"}
		// Two runs that give the vertices other dense ids, and bring and break the ring by other means.
		var ids [][16]byte
		note := func(g *dyngraph.Graph, which dyngraph.Which) {
			v := g.View(which)
			row := rowOf(t, v, q, keys)
			id, err := MatchID(q, v, row)
			require.NoError(t, err)
			ids = append(ids, id)
			require.Equal(
				t,
				hex.EncodeToString(id[:]),
				string(encode(t, EncoderOptions{}, matchEvent(g, which, q, dyngraph.Inserted, row)).Key),
			)
		}
		first := dyngraph.NewGraph(dyngraph.Options{Directed: directed})
		apply(t, first, insert("b", "a", "TRANSFER"), insert("a", "c", "TRANSFER"))
		first.Commit()
		apply(t, first, insert("c", "b", "TRANSFER"))
		note(first, dyngraph.New)
		first.Commit()
		apply(t, first, dyngraph.Update{Op: dyngraph.DeleteVertex, Key: "a"})
		note(first, dyngraph.Old)
		first.Commit()
		// The vertex comes back under another dense id, with other attributes.
		again := insert("b", "a", "TRANSFER")
		again.Attr = dyngraph.Attr{ID: "other", TS: 5, HasTS: true, Props: []byte(`{}`)}
		apply(t, first, insert("x", "y", "TRANSFER"), again, insert("a", "c", "TRANSFER"))
		note(first, dyngraph.New)
		first.Commit()

		second := dyngraph.NewGraph(dyngraph.Options{Directed: directed})
		apply(
			t,
			second,
			insert("c", "b", "TRANSFER"),
			insert("q", "c", "OTHER"),
			insert("a", "c", "TRANSFER"),
			insert("b", "a", "TRANSFER"),
		)
		second.Commit()
		note(second, dyngraph.New)
		for _, id := range ids {
			require.Equal(t, ids[0], id)
		}
	}
}

// idOf is the id of a match of one edge.
func idOf(
	t require.TestingT,
	directed bool,
	name string,
	version uint64,
	fromKey, fromLabel, toKey, toLabel, label string,
) [16]byte {
	g := dyngraph.NewGraph(dyngraph.Options{Directed: directed})
	u := dyngraph.Update{
		Op:        dyngraph.InsertEdge,
		From:      fromKey,
		To:        toKey,
		FromLabel: fromLabel,
		ToLabel:   toLabel,
		Label:     label,
	}
	accepted, rejects := g.Accept([]dyngraph.Message{{Updates: []dyngraph.Update{u}}})
	require.Empty(t, rejects)
	_, err := g.Stage(accepted)
	require.NoError(t, err)
	q := &matcher.Query{
		Name: name, Version: version, Vertices: []matcher.QueryVertex{{Name: "a"}, {Name: "b"}},
		Edges: []matcher.QueryEdge{{Name: "e", From: 0, To: 1, Either: !directed}},
	}
	from, _ := g.Lookup(fromKey)
	to, _ := g.Lookup(toKey)
	v := g.View(dyngraph.New)
	var row []uint32
	for e := range v.EdgesSeq() {
		row = []uint32{uint32(from), uint32(to), uint32(e)}
	}
	id, err := MatchID(q, v, row)
	require.NoError(t, err)
	return id
}

// Keys are hostile: whatever moves a byte from one field to its neighbour is another match.
func TestS6HostileKeys(t *testing.T) {
	type match struct {
		name                                      string
		version                                   uint64
		fromKey, fromLabel, toKey, toLabel, label string
	}
	seen := make(map[[16]byte]match)
	for _, m := range []match{
		{"q", 1, "ab", "c", "d", "", ""},
		{"q", 1, "a", "bc", "d", "", ""},
		{"q", 1, "abc", "", "d", "", ""},
		{"q", 1, "ab", "", "cd", "", ""},
		{"q", 1, "ab", "", "c", "d", ""},
		{"q", 1, "ab", "", "c", "", "d"},
		{"q", 1, "d", "", "ab", "c", ""},
		{"q", 1, "c", "", "ab", "", "d"},
		{"q", 11, "ab", "c", "d", "", ""},
		{"q1", 1, "ab", "c", "d", "", ""},
		{"q", 1, "1ab", "c", "d", "", ""},
		{"q", 1, "ab\x00", "c", "d", "", ""},
		{"q", 1, "ab", "\x00c", "d", "", ""},
		{"q", 1, "ab\x00\x00\x00\x01c", "", "d", "", ""},
		{"q", 1, "ab\x00\x00\x00\x01c", "d", "e", "", ""},
		{"q", 1, "ab", "c\x00\x00\x00\x01d", "e", "", ""},
		{"q", 1, "é", "", "d", "", ""},
		{"q", 1, "e\u0301", "", "d", "", ""},
	} {
		id := idOf(t, true, m.name, m.version, m.fromKey, m.fromLabel, m.toKey, m.toLabel, m.label)
		require.NotContains(t, seen, id, "%+v", m)
		seen[id] = m
	}
}

func TestS6DistinctMatchesDistinctIDs(t *testing.T) {
	piece := rapid.StringOfN(rapid.SampledFrom([]rune{'a', 'b', 0, 1}), 0, 4, -1)
	rapid.Check(t, func(t *rapid.T) {
		draw := func(n string) [5]string {
			m := [5]string{"x" + piece.Draw(t, n), piece.Draw(t, n), "y" + piece.Draw(t, n), piece.Draw(t, n),
				piece.Draw(t, n)}
			if rapid.Bool().Draw(t, n+" turned") {
				m[0], m[2] = m[2], m[0]
			}
			return m
		}
		directed := rapid.Bool().Draw(t, "directed")
		a, b := draw("a"), draw("b")
		x := idOf(t, directed, "q", 1, a[0], a[1], a[2], a[3], a[4])
		y := idOf(t, directed, "q", 1, b[0], b[1], b[2], b[3], b[4])
		require.Equal(t, a == b, x == y)
	})
}
