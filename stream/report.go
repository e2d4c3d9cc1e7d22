package stream

import (
	"strconv"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
)

// NewReport builds the record of a batch. It depends on the batch log and the results alone, so that a replay builds
// the same. removedVersion is the version of the query that a removal takes away.
func NewReport(streamID string, b *Batch, s *matcher.Summary, removedVersion uint64) *BatchReport {
	r := &BatchReport{
		Stream: streamID, Batch: b.Number,
		Messages: b.Messages, Updates: s.Updates,
		Inserted: s.NetInserted, Deleted: s.NetDeleted,
		Records: s.Records, DeadLetters: len(b.DeadLetters),
		Positions: make(map[string]int64, len(b.Positions)),
	}
	for p, next := range b.Positions {
		r.Positions[strconv.Itoa(int(p))] = next
	}
	if b.Time != nil {
		r.Time = newTimeReport(b, s)
	}
	if d := b.Declaration; d != nil {
		r.Properties = newDeclaredReport(d, s)
	}
	if ch := b.Change; ch != nil {
		switch {
		case ch.Add == nil:
			r.Change = &ChangeReport{Op: "remove", Query: ch.Remove, Version: removedVersion}
		case ch.Remove != "":
			r.Change = &ChangeReport{Op: "replace", Query: ch.Add.Name, Version: ch.Add.Version}
		default:
			r.Change = &ChangeReport{Op: "add", Query: ch.Add.Name, Version: ch.Add.Version}
		}
	}
	for i := range s.Queries {
		q := &s.Queries[i]
		if q.Positive.IsZero() && q.Negative.IsZero() && q.Changed.IsZero() && !q.Truncated && q.Suspended == nil &&
			q.Skipped == 0 && q.Once == 0 && !q.NoPositive && !q.NoNegative {
			continue
		}
		r.Queries = append(r.Queries, QueryReport{
			Query: q.Query.Name, Version: q.Query.Version,
			Positive: Total{q.Positive, q.NoPositive}, Negative: Total{q.Negative, q.NoNegative},
			Truncated: q.Truncated, Suspended: q.Suspended != nil, Snapshot: q.Snapshot,
			Skipped: q.Skipped, Limit: limitOf(q), LossySince: q.LossySince,
			Once: q.Once, Changed: q.Changed,
		})
	}
	return r
}

func newDeclaredReport(d *dyngraph.Declaration, s *matcher.Summary) *DeclaredReport {
	r := &DeclaredReport{Edges: d.Schema.EdgeDeclarations(), Vertices: d.Schema.VertexDeclarations(),
		Changed: s.Redeclared, Last: d.Last()}
	if r.Edges == nil {
		r.Edges = property.Declarations{}
	}
	if r.Vertices == nil {
		r.Vertices = property.Declarations{}
	}
	return r
}

func newTimeReport(b *Batch, s *matcher.Summary) *TimeReport {
	t := &TimeReport{Horizons: knownHorizons(b.Horizons), Expired: s.Expired, Late: s.Late}
	if b.Time.Watermark.Known {
		t.Watermark = &b.Time.Watermark.TS
	}
	if r := b.Time.Retention; r != nil {
		m := r.ByLabel()
		t.Retention = &m
	}
	return t
}

// limitOf names the limit that a query exceeded in a batch.
func limitOf(q *matcher.QuerySummary) string {
	if q.Suspended != nil {
		return q.Suspended.Cause.String()
	}
	return q.Cause.String()
}
