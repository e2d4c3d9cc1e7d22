package matcher

import (
	"math"
	"sync/atomic"

	"motifd/dyngraph"
)

// output measures what is written of the matches of a query in a batch. Records are encoded behind the engine, so the
// engine goes by their mean size: that of the batch's records as far as they are encoded, before that of the last batch
// that had any, and at first by the least that records of the query have.
type output struct {
	found   atomic.Uint64 // matches, but for those of groups that are left out
	given   uint64        // records handed on; for the engine's goroutine alone
	before  float64
	sample  float64 // matches of which one is written
	records atomic.Uint64
	bytes   atomic.Int64
}

// Records have at least this many bytes, and as many for each vertex and edge of the pattern: names of members, quotes
// and braces.
const (
	leastRecord = 100
	leastVertex = 14
	leastEdge   = 25
	// leastTombstone is the least size of the record with which upsert mode removes a match, in bytes.
	leastTombstone = 32
)

// leastBytes returns the least that a record of the query has.
func leastBytes(q *Query, upsert bool) float64 {
	if upsert {
		return leastTombstone
	}
	return float64(leastRecord + leastVertex*len(q.Vertices) + leastEdge*len(q.Edges))
}

// outputReserve is the share of the limit that further groups may write together once it is reached.
const outputReserve = 10

// mean returns the size of a record.
func (o *output) mean() float64 {
	if n := o.records.Load(); n > 0 {
		return max(1, float64(o.bytes.Load())/float64(n))
	}
	return o.before
}

// begin has the budget measure what is written of the query's matches. Nothing is written of a shadow's, and next to
// nothing of counts and transitions.
func (b *Budget) begin(r *registered, upsert bool) {
	q := r.state.Query
	if q.Emit != EmitDeltas || q.Shadow {
		b.Output = 0
		return
	}
	b.output.sample = float64(max(1, q.Sample))
	if b.output.before = r.recordBytes; b.output.before == 0 {
		b.output.before = leastBytes(q, upsert)
	}
}

// bytesOf returns what is written of some matches, by the mean.
func (o *output) bytesOf(matches uint64) int64 {
	return int64(min(float64(matches)*o.mean()/o.sample, math.MaxInt64/4))
}

// tooLarge reports whether a group of matches is not to be written; all are those that the query writes with it.
func (b *Budget) tooLarge(matches, all uint64) bool {
	if b.Output == 0 {
		return false
	}
	total := b.output.bytesOf(all)
	return total > b.Output && b.output.bytesOf(matches) > reserved(b.Output, b.Output/outputReserve, total)
}

// unmeasured is the assumed ratio between the size of a record and its least size before any record is encoded. Rows
// whose assumed size exceeds the limit are then handed on one by one.
const unmeasured = 64

// fits returns how many of the next n rows of a group, of which handed were handed on before, may be handed on before
// it is asked again; 0: the group ends here.
func (b *Budget) fits(handed uint64, n int) int {
	if b == nil || b.Output == 0 || !b.armed() {
		return n
	}
	mean := b.output.mean()
	row, total := mean/b.output.sample, int64(mean*float64(b.output.given))
	if left := float64(b.Output-total) / row; left > 0 {
		if b.output.records.Load() == 0 && unmeasured*float64(n) > left {
			return 1
		}
		return min(n, max(1, int(min(left, math.MaxInt32))))
	}
	most := float64(reserved(b.Output, b.Output/outputReserve, total)) / row
	// One match of each group is written: a replay then searches the group as it was searched.
	return min(n, max(0, int(most-float64(handed)), int(1-min(handed, 1))))
}

// giving counts records that are handed on.
func (b *Budget) giving(records int) {
	if b != nil && b.Output > 0 && b.armed() {
		b.output.given += uint64(records)
	}
}

// Wrote tells that records of an event of matches were encoded, and how many bytes they have. Any goroutine may call it
// until the callback of Step named settle returns. A receiver that never does leaves Limits.QueryOutput to the least
// size of records.
func (e *Event) Wrote(records int, bytes int64) {
	if e.output != nil {
		e.output.bytes.Add(bytes)
		e.output.records.Add(uint64(records))
	}
}

// noteRecordBytes keeps the mean size of the query's records for the next batch.
func (w *work) noteRecordBytes() {
	if w.budget != nil && w.budget.output.records.Load() > 0 {
		w.recordBytes = w.budget.output.mean()
	}
}

// cut ends a group in front of its next row: the rest is left out, or the query suspended.
func (s *stepper) cut(w *work, sign dyngraph.Sign, order uint32, action Action, cause Cause) error {
	if err := s.decide(w, Decision{Sign: sign, Order: order, Action: action, Cause: cause, Kept: w.rows}); err != nil {
		return err
	}
	s.pending = append(s.pending, s.notices(w, &w.decisions[len(w.decisions)-1])...)
	s.sortNotices()
	return s.flushNotices(sign, order, w.state.Query)
}

// cutOutput ends a group of which no more is to be written. A query that is suspended is not searched any more.
func (s *stepper) cutOutput(w *work, sign dyngraph.Sign, order uint32) error {
	if w.state.Query.OverBudget != SuspendQuery && !s.voidsMore(w, &Decision{Sign: sign, Order: order, Action: Skip}) {
		return s.cut(w, sign, order, Skip, CauseOutput)
	}
	if err := s.cut(w, sign, order, Suspend, CauseOutput); err != nil {
		return err
	}
	w.budget.Stop()
	return nil
}

// groupOf names a group of a query.
type groupOf struct {
	sign  dyngraph.Sign
	order uint32
}
