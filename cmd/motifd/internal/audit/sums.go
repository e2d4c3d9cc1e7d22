package audit

import (
	"fmt"
	"iter"

	"motifd/matcher"
	"motifd/stream"
	"motifd/stream/checkpoint"
)

// version names a version of a query.
type version struct {
	query  string
	number uint64
}

// sums are the totals of one version of a query in the batch log.
type sums struct {
	// registered is the batch that registered it, 0 for one before the log. graph is the batch that made the graph in
	// which it was registered.
	registered, graph uint64
	// snapshot tells that what was there at registration was emitted: Baseline.
	snapshot                     bool
	baseline, positive, negative matcher.Count
	inexact                      *stream.QueryReport // the first one that is, nil for none
	inexactIn                    uint64
}

// why says why the sums are not exact for a query; "" if they are. A total may be exact although not all was emitted.
func (s *sums) why(q *matcher.Query) string {
	r := s.inexact
	switch {
	case r == nil, r.Truncated && q.ExactTotal && r.Skipped == 0 && !r.Positive.Unknown && !r.Negative.Unknown:
		return ""
	case r.Truncated:
		return fmt.Sprintf("lossy: batch %d has more matches than max_matches_per_batch", s.inexactIn)
	case r.Limit != "":
		return fmt.Sprintf("lossy: batch %d left matches out, beyond the limit %s", s.inexactIn, r.Limit)
	}
	return fmt.Sprintf("lossy: batch %d left matches out", s.inexactIn)
}

// note adds what a batch did.
func (s *sums) note(batch uint64, r *stream.QueryReport) {
	if s.inexact == nil && (r.Truncated || r.Skipped > 0 || r.Positive.Unknown || r.Negative.Unknown) {
		s.inexact, s.inexactIn = r, batch
	}
	if r.Snapshot && batch == s.registered {
		s.baseline = r.Positive.Count
		return
	}
	s.positive, s.negative = s.positive.Add(r.Positive.Count), s.negative.Add(r.Negative.Count)
}

// sumsOf adds up the log. first is its first batch.
func sumsOf(batches iter.Seq2[*checkpoint.Logged, error], first uint64) (map[version]*sums, error) {
	all := map[version]*sums{}
	graph := first - 1
	for l, err := range batches {
		if err != nil {
			return nil, err
		}
		if !l.Committed {
			break
		}
		if l.Report == nil {
			return nil, fmt.Errorf("batch %d has no record in the log", l.Number)
		}
		if ch := l.Change; ch == nil {
			graph = l.Number
		} else if q := ch.Add; q != nil {
			all[version{q.Name, q.Version}] = &sums{registered: l.Number, graph: graph,
				snapshot: q.Backfill == matcher.BackfillFull}
		}
		for i := range l.Report.Queries {
			r := &l.Report.Queries[i]
			v := version{r.Query, r.Version}
			if all[v] == nil {
				all[v] = &sums{graph: first - 1}
			}
			all[v].note(l.Number, r)
		}
	}
	return all, nil
}
