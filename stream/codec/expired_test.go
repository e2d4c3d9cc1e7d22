package codec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
)

// TestS20ExpiredRecord: the anchor of an edge that expired has its time and no position, and the record its reason; a
// notice keeps the reason that it has.
func TestS20ExpiredRecord(t *testing.T) {
	g, q, row := ringGraph(t, true)
	ev := matchEvent(g, dyngraph.Old, q, dyngraph.Deleted, row)
	ev.Anchor = &dyngraph.Update{Op: dyngraph.ExpireEdge, Attr: dyngraph.Attr{TS: -5, HasTS: true}}
	ev.LossySince = 3
	rec := encode(t, EncoderOptions{}, ev)
	require.True(t, strings.HasSuffix(string(rec.Value),
		`}},"anchor":{"op":"expire","ts":-5},"reason":"expired","lossy_since":3}`), "%s", rec.Value)

	ev.Kind, ev.Notice, ev.LossySince = matcher.EventNotice, matcher.Notice{Reason: matcher.ReasonEnded}, 0
	ev.AnchorEdge = &dyngraph.NetEdge{From: 0, To: 1, UpdateIndex: dyngraph.AtExpiry}
	rec = encode(t, EncoderOptions{}, ev)
	require.Contains(t, string(rec.Value), `"op":"!","reason":"ended","sign":"-"`)
	require.True(t, strings.HasSuffix(string(rec.Value), `,"anchor":{"op":"expire","ts":-5}}`), "%s", rec.Value)
}

// TestS24ChangedRecord: a match that goes on with other values has a record with its id, in upsert mode too.
func TestS24ChangedRecord(t *testing.T) {
	g, q, row := ringGraph(t, true)
	appeared := encode(t, EncoderOptions{}, matchEvent(g, dyngraph.New, q, dyngraph.Inserted, row))
	ev := matchEvent(g, dyngraph.New, q, dyngraph.Changed, row)
	for _, upsert := range []bool{false, true} {
		rec := encode(t, EncoderOptions{Upsert: upsert}, ev)
		require.Equal(t, appeared.Key, rec.Key)
		require.Equal(t, strings.Replace(string(appeared.Value), `"op":"+"`, `"op":"~"`, 1), string(rec.Value))
		require.Equal(t, dyngraph.Changed, rec.Sign)
	}
	ev.Kind, ev.Notice = matcher.EventNotice, matcher.Notice{Reason: matcher.ReasonSkipped}
	require.Contains(t, string(encode(t, EncoderOptions{}, ev).Value), `"op":"!","reason":"skipped","sign":"~"`)
	ev.Kind, ev.Count = matcher.EventCount, matcher.CountOf(3)
	require.Contains(t, string(encode(t, EncoderOptions{}, ev).Value), `"op":"~","emit":"counts","count":3`)
}
