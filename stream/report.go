package stream

import (
	"strconv"

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
		if q.Positive.IsZero() && q.Negative.IsZero() && !q.Truncated && q.Suspended == nil && q.Skipped == 0 &&
			!q.NoPositive &&
			!q.NoNegative {
			continue
		}
		r.Queries = append(r.Queries, QueryReport{
			Query: q.Query.Name, Version: q.Query.Version,
			Positive: Total{q.Positive, q.NoPositive}, Negative: Total{q.Negative, q.NoNegative},
			Truncated: q.Truncated, Suspended: q.Suspended != nil, Snapshot: q.Snapshot,
			Skipped: q.Skipped, Limit: limitOf(q), LossySince: q.LossySince,
		})
	}
	return r
}

// limitOf names the limit that a query exceeded in a batch.
func limitOf(q *matcher.QuerySummary) string {
	if q.Suspended != nil {
		return q.Suspended.Cause.String()
	}
	return q.Cause.String()
}
