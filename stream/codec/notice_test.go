package codec

import (
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream"
)

// TestS11NoticeRecords holds the bytes and the keys of what tells that something was left out. In upsert mode, what
// voids the matches of an edge has a key of its own for each version and edge, so that compaction keeps it.
func TestS11NoticeRecords(t *testing.T) {
	g, q, row := ringGraph(t, true)
	edge := &dyngraph.NetEdge{From: dyngraph.VertexID(row[1]), To: dyngraph.VertexID(row[2])}
	_, _, edge.Label = g.View(dyngraph.New).Edge(dyngraph.EdgeIndex(row[4]))
	const (
		head   = `{"stream":"s1","batch":7,"index":3,"query":"ring3","version":1,"op":"!",`
		edgeIs = `{"from":"acc-0000002","to":"acc-0000003","label":"TRANSFER"}`
		anchor = `,"anchor":{"op":"-","partition":2,"offset":5,"element":1}}`
	)
	for _, x := range []struct {
		sign                 dyngraph.Sign
		notice               matcher.Notice
		anchored, snapshot   bool
		want, changelog, key string
	}{
		{dyngraph.Inserted, matcher.Notice{Reason: matcher.ReasonSkipped, Cause: matcher.CauseBatch, Rest: true}, true,
			false, `"reason":"skipped","sign":"+","limit":"batch_time","rest":true,"edge":` + edgeIs + anchor, "ring3",
			"!ring3/1"},
		{dyngraph.Deleted, matcher.Notice{Reason: matcher.ReasonEnded, Cause: matcher.CauseSteps}, true, false,
			`"reason":"ended","sign":"-","limit":"work_budget","edge":` + edgeIs + anchor, "ring3",
			"!ring3/1/" + edgeIs},
		{dyngraph.Deleted, matcher.Notice{Reason: matcher.ReasonEnded, Cause: matcher.CauseMatches}, false, true,
			`"reason":"ended","sign":"-","limit":"group_matches","snapshot":true}`, "ring3", "!ring3/1"},
		{dyngraph.Inserted, matcher.Notice{Reason: matcher.ReasonTruncated}, true, false,
			`"reason":"truncated","sign":"+","edge":` + edgeIs + anchor, "ring3", "!ring3/1"},
		{dyngraph.Inserted, matcher.Notice{Reason: matcher.ReasonSuspended, Cause: matcher.CauseOperator, End: true},
			false, false, `"reason":"suspended","sign":"+","limit":"operator"}`, "ring3", "!ring3/1"},
	} {
		ev := &matcher.Event{Kind: matcher.EventNotice, Query: q, Sign: x.sign, Snapshot: x.snapshot, FirstIndex: 3,
			View: g.View(dyngraph.New), Notice: x.notice}
		if x.anchored {
			ev.AnchorEdge = edge
			ev.Anchor = &dyngraph.Update{Op: dyngraph.DeleteEdge,
				Pos: dyngraph.Position{Partition: 2, Offset: 5, Element: 1}}
		}
		for upsert, key := range map[bool]string{false: x.changelog, true: x.key} {
			rec := encode(t, EncoderOptions{Upsert: upsert}, ev)
			require.Equal(t, head+x.want, string(rec.Value))
			require.Equal(t, stream.OutRecord{Key: []byte(key), Value: rec.Value, Batch: 7, Index: 3, Query: "ring3",
				Sign: x.sign, Snapshot: x.snapshot, Notice: true}, rec)
		}
	}
}

// TestS11NegativesOfALossyQuerySaySo: a consumer is to ignore a negative whose match it was not told of.
func TestS11NegativesOfALossyQuerySaySo(t *testing.T) {
	g, q, row := ringGraph(t, true)
	ev := matchEvent(g, dyngraph.New, q, dyngraph.Deleted, row)
	require.NotContains(t, string(encode(t, EncoderOptions{}, ev).Value), "lossy_since")
	ev.LossySince = 5
	require.Contains(t, string(encode(t, EncoderOptions{}, ev).Value), `,"lossy_since":5}`)
}

// TestS11BatchRecordOfWhatIsNotKnown holds what a batch record says of limits.
func TestS11BatchRecordOfWhatIsNotKnown(t *testing.T) {
	query := func(change func(*matcher.QuerySummary)) string {
		s := &matcher.Summary{Queries: []matcher.QuerySummary{{Query: &matcher.Query{Name: "q", Version: 2}}}}
		change(&s.Queries[0])
		b := &stream.Batch{}
		b.Number = 4
		rec, err := NewEncoder(EncoderOptions{StreamID: "s1"}).BatchRecord(stream.NewReport("s1", b, s, 0))
		require.NoError(t, err)
		return string(rec.Value)
	}
	for want, change := range map[string]func(*matcher.QuerySummary){
		`"positive":"unknown","negative":0,"truncated":true}]}`: func(q *matcher.QuerySummary) {
			q.NoPositive, q.Truncated = true, true
		},
		`"positive":0,"negative":"unknown"}]}`: func(q *matcher.QuerySummary) { q.NoNegative = true },
		`"positive":0,"negative":0,"skipped":3,"limit":"query_time","lossy_since":2}]}`: func(q *matcher.QuerySummary) {
			q.Skipped, q.Cause, q.LossySince = 3, matcher.CauseTime, 2
		},
		`"positive":0,"negative":0,"suspended":true,"limit":"operator"}]}`: func(q *matcher.QuerySummary) {
			q.Suspended = &matcher.Decision{Action: matcher.Suspend, Cause: matcher.CauseOperator}
		},
	} {
		require.Contains(t, query(change), `"queries":[{"query":"q","version":2,`+want)
	}
	require.NotContains(t, query(func(*matcher.QuerySummary) {}), "queries")
}
