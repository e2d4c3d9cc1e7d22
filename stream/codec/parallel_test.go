package codec

import (
	"crypto/sha256"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream"
)

// TestS14MatchIDsTellParallelEdges computes the ids of the matches over parallel edges by hand, field by field, and
// through the encoder.
func TestS14MatchIDsTellParallelEdges(t *testing.T) {
	_, q := transfer()
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true, EdgeIDs: true})
	field := func(fields ...string) (b []byte) {
		for _, f := range fields {
			b = append(append(b, 0, 0, 0, byte(len(f))), f...)
		}
		return b
	}
	var updates []dyngraph.Update
	ids := []string{"", "#", "1", "10", "2"}
	for _, id := range ids {
		u := insert("a1", "a2", "TRANSFER")
		u.ToLabel, u.Attr.ID = "", id
		updates = append(updates, u)
	}
	apply(t, g, updates...)
	view, seen := g.View(dyngraph.New), map[[16]byte]bool{}
	for e := range view.EdgesSeq() {
		from, to, _ := view.Edge(e)
		last, id := "", view.ID(e)
		if id != "" {
			last = "#" + id
		}
		sum := sha256.Sum256(field("motifd-match-2", "pay", "1", "a1", "Account", "a2", "", "a1", "a2", "TRANSFER",
			last))
		row := []uint32{uint32(from), uint32(to), uint32(e)}
		got, err := MatchID(q, view, row)
		require.NoError(t, err)
		require.Equal(t, [16]byte(sum[:16]), got, "id %q", id)
		require.Equal(t, string(appendHex(nil, got)),
			string(encode(t, EncoderOptions{}, matchEvent(g, dyngraph.New, q, dyngraph.Inserted, row)).Key))
		seen[got] = true
	}
	require.Len(t, seen, len(ids))
}

// TestS14NoticesNameTheEdge holds that a record about what a limit left out tells parallel edges apart.
func TestS14NoticesNameTheEdge(t *testing.T) {
	_, q := transfer()
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true, EdgeIDs: true})
	named := insert("a1", "a2", "TRANSFER")
	named.Attr.ID = "tx"
	d := apply(t, g, insert("a1", "a2", "TRANSFER"), named)
	for i, want := range []string{`"edge":{"from":"a1","to":"a2","label":"TRANSFER"}`,
		`"edge":{"from":"a1","to":"a2","label":"TRANSFER","id":"tx"}`} {
		ev := &matcher.Event{Kind: matcher.EventNotice, Query: q, Sign: dyngraph.Deleted, View: g.View(dyngraph.New),
			AnchorEdge: &d.Net[i], Anchor: &dyngraph.Update{Op: dyngraph.InsertEdge},
			Notice: matcher.Notice{Reason: matcher.ReasonEnded}}
		out, err := NewEncoder(EncoderOptions{}).Append(nil, ev, 0, 0)
		require.NoError(t, err)
		require.Contains(t, string(out[0].Value), want)
	}
}

func TestS14EmptyIDIsRefused(t *testing.T) {
	const text = `{"op":"+","from":"a","to":"b","id":""}`
	require.Empty(t, decodeOne(t, FormatJSON, DecoderOptions{}, text).Attr.ID)
	d, err := NewDecoder(FormatJSON, DecoderOptions{EdgeIDs: true})
	require.NoError(t, err)
	_, err = d.Decode(stream.Record{Value: []byte(text)}, nil)
	require.ErrorContains(t, err, "id is empty")
}
