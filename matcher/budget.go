package matcher

import (
	"math"
	"sync/atomic"
	"time"
)

// Limits bound what searching may cost (DESIGN S11). A field that is 0 bounds nothing.
type Limits struct {
	// Matches bounds the matches of one group: one anchor and one query. A backfill is one group. A query with a cap
	// is not bounded by it.
	Matches uint64
	// QueryMatches bounds the matches of one query in one batch, found by enumeration, and so what the query writes.
	// When they are found, a reserve of as many opens: each further group of the query may use a hundredth of what
	// remains of it, and leastShare of the limit in any case. A query with a cap is not bounded by it.
	QueryMatches uint64
	// QueryOutput bounds what is written of the matches of one query in one batch: bytes of encoded records, as the
	// receiver of the events tells (Event.Wrote). When they are written, a reserve of a tenth opens: each further group
	// may write a hundredth of what remains of it, leastShare of the limit in any case, and one match. A search ends
	// when the matches of its group would be more, by the mean size of the query's records.
	QueryOutput int64
	// QueryTime bounds the search time of one query in one batch, summed over threads. When it is spent, a reserve of
	// as much opens, as with QueryMatches: small groups go on, and all large ones together take no more than that.
	QueryTime time.Duration
	// BatchTime bounds the search time of all queries in one batch, summed over threads. When it is spent, only those
	// queries are searched on that have taken less than their share: BatchTime divided by the number of queries that
	// the batch concerns. All together take at most twice BatchTime.
	BatchTime time.Duration
	// Spill bounds the temporary files of one batch, in bytes at one time.
	Spill int64
}

// Cause names the limit that a search has reached.
type Cause uint8

// The causes.
const (
	NoCause       Cause = iota
	CauseSteps          // Query.WorkBudget
	CauseMatches        // Limits.Matches
	CauseTime           // Limits.QueryTime
	CauseBatch          // Limits.BatchTime
	CauseSpill          // Limits.Spill
	CauseOperator       // somebody asked for it: Engine.Interrupt, EngineOptions.Suspend
	CauseQuery          // Limits.QueryMatches
	// CauseSpent is CauseSteps of a group that nothing is left for: no later one of the query may begin either. A
	// decision says CauseSteps.
	CauseSpent
	CauseOutput // Limits.QueryOutput
)

var causes = [...]string{
	"",
	"work_budget",
	"group_matches",
	"query_time",
	"batch_time",
	"spill_bytes",
	"operator",
	"query_matches",
	"work_budget",
	"query_output",
}

// String returns the name of the setting that bounds, as the configuration spells it, or "operator".
func (c Cause) String() string {
	if int(c) < len(causes) {
		return causes[c]
	}
	return "unknown"
}

// BatchBudget is the budget that all queries of one batch share. Its methods are safe for concurrent use. A nil
// BatchBudget bounds nothing.
type BatchBudget struct {
	time, spill int64 // limits
	share       int64 // of time, that each query has in any case
	spent       atomic.Int64
	spilled     atomic.Int64
	armed       atomic.Bool
	later       bool // Arm comes in the middle of the batch
}

// NewBatchBudget returns what the queries of one batch may spend together. It measures nothing before Arm.
func NewBatchBudget(l Limits) *BatchBudget {
	return &BatchBudget{time: int64(l.BatchTime), spill: l.Spill}
}

// Divide gives each of n queries its share of the time.
func (b *BatchBudget) Divide(n int) { b.share = b.time / int64(max(1, n)) }

// Arm makes the limits hold from now on. Before, work is neither counted nor refused: recovery repeats what was
// decided.
func (b *BatchBudget) Arm() { b.armed.Store(true) }

// Budget limits what one query may spend in one batch, over both signs and all of its searches. Its methods are safe
// for concurrent use. A nil Budget bounds nothing.
type Budget struct {
	// Steps bounds search steps, Matches the matches of one group, QueryMatches those of all, Time nanoseconds of
	// search; 0 is no bound.
	Steps, Matches, QueryMatches uint64
	Time                         int64
	// Output bounds the bytes that are written; 0 is no bound.
	Output int64
	// Floor lets a group take a hundredth of Steps after they are spent: other groups of the query go on, until twice
	// as many are spent. Without it the first group beyond Steps is over. What is spent by then begins no group.
	Floor bool

	batch   *BatchBudget
	steps   atomic.Uint64
	ns      atomic.Int64
	found   atomic.Uint64 // matches, for those who watch
	rows    atomic.Uint64 // matches that QueryMatches counts
	output  output
	stopped atomic.Bool
}

// floorShare is the share of a spent limit that each further group may still use.
const floorShare = 100

// leastShare is the share of the time or of the matches that each further group may use, however much is spent.
const leastShare = 100_000

// NewBudget returns the budget of one query. The batch's part may be nil.
func NewBudget(l Limits, steps uint64, batch *BatchBudget) *Budget {
	return &Budget{Steps: steps, Matches: l.Matches, QueryMatches: l.QueryMatches, Time: int64(l.QueryTime),
		Output: l.QueryOutput, batch: batch}
}

// Stop makes everything that is searched under the budget end with CauseOperator, from the first record on that is not
// published.
func (b *Budget) Stop() { b.stopped.Store(true) }

// Stopped reports whether nothing more is to be searched, nor emitted, under the budget.
func (b *Budget) Stopped() bool { return b != nil && b.stopped.Load() && b.armed() }

// Metered reports whether a search under the budget is to be metered group by group: it is to be stopped, or the limits
// hold from a record on that was not reached yet.
func (b *Budget) Metered() bool {
	return b != nil && (b.Stopped() || b.batch != nil && b.batch.later && !b.armed())
}

// Patience returns how long a search may take until it is to be looked whether it may go on: what is left of the time,
// 0 for no bound.
func (b *Budget) Patience() time.Duration {
	if b == nil || !b.armed() {
		return 0
	}
	left := int64(0)
	if b.Time > 0 {
		left = max(b.Time-b.ns.Load(), floor(b.Time, b.ns.Load()), 1)
	}
	if b.batch != nil && b.batch.time > 0 {
		rest := max(b.batch.time-b.batch.spent.Load(), b.batch.share-b.ns.Load(), 1)
		if left == 0 || rest < left {
			left = rest
		}
	}
	return time.Duration(left)
}

// sampleNS is the assumed cost of a match's id, in nanoseconds: about a SHA-256 and the reading of keys.
const sampleNS = 1000

// sampled charges the budget for hashing the ids of matches, by which a sample decides.
func (b *Budget) sampled(matches int) {
	if b == nil || !b.armed() {
		return
	}
	ns := sampleNS * int64(matches)
	b.ns.Add(ns)
	if b.batch != nil {
		b.batch.spent.Add(ns)
	}
}

// Beyond returns the limit that a group with this number of matches would exceed, or NoCause. It counts nothing.
func (b *Budget) Beyond(matches uint64) Cause {
	if b == nil || !b.armed() {
		return NoCause
	}
	return b.beyond(matches, b.rows.Load()+matches, b.output.found.Load()+matches)
}

// beyond returns the limit that a group exceeds, or NoCause. matches is the number of its matches, all the number of
// the query's matches in the batch, with those of the group, and kept the number of those that are not left out.
func (b *Budget) beyond(matches, all, kept uint64) Cause {
	switch {
	case b.Matches > 0 && matches > b.Matches:
		return CauseMatches
	case b.QueryMatches > 0 && all > b.QueryMatches && int64(matches) > floor(int64(b.QueryMatches), int64(all)):
		return CauseQuery
	case b.tooLarge(matches, kept):
		return CauseOutput
	}
	return NoCause
}

// Room returns how many more matches a group may have of which some are found: a group whose parts are measured one by
// one, as those of the variants of a query with paths.
func (b *Budget) Room(found uint64) uint64 {
	if b == nil || b.Matches == 0 || !b.armed() {
		return math.MaxUint64
	}
	return b.Matches - min(b.Matches, found)
}

// AddMatches counts matches that no Meter counts, towards the limit of the query.
func (b *Budget) AddMatches(matches uint64) {
	if b != nil && b.armed() {
		b.rows.Add(matches)
		b.output.found.Add(matches)
	}
}

func (b *Budget) armed() bool { return b.batch == nil || b.batch.armed.Load() }

// Spill counts bytes of temporary files that are written (n > 0) or given back (n < 0). It reports whether they are
// within the limit; what is written beyond it is counted all the same.
func (b *Budget) Spill(n int64) bool {
	if b == nil || b.batch == nil {
		return true
	}
	used := b.batch.spilled.Add(n)
	return n <= 0 || b.batch.spill == 0 || used <= b.batch.spill || !b.armed()
}

// exceeded returns the limit that a group is beyond which has spent so much.
func (b *Budget) exceeded(steps, matches uint64, ns int64) Cause {
	if b.Stopped() {
		return CauseOperator
	} else if !b.armed() {
		return NoCause
	} else if c := b.beyond(matches, b.rows.Load(), b.output.found.Load()); c != NoCause {
		return c
	}
	switch {
	case b.Steps > 0 && b.steps.Load() > b.Steps && (!b.Floor || steps > b.Steps/floorShare || b.spent()):
		return CauseSteps
	case b.Time > 0 && b.ns.Load() > b.Time && ns > floor(b.Time, b.ns.Load()):
		return CauseTime
	}
	return b.exhausted()
}

// floor returns how much each further group may take once the limit is spent. It shrinks with what such groups take, so
// that a hub with any number of groups leaves room to others of the batch.
func floor(limit, spent int64) int64 { return reserved(limit, limit, spent) }

// reserved is floor for a reserve of any size.
func reserved(limit, reserve, spent int64) int64 {
	return max((limit+reserve-spent)/floorShare, limit/leastShare)
}

// exhausted returns the limit that leaves nothing for another group.
func (b *Budget) exhausted() Cause {
	if x := b.batch; x != nil && x.time > 0 && x.spent.Load() > x.time && b.ns.Load() >= x.share && b.armed() {
		return CauseBatch
	}
	return NoCause
}

// spent reports whether no step is left for another group.
func (b *Budget) spent() bool {
	most := b.Steps
	if b.Floor {
		most += most
	}
	return b.Steps > 0 && most >= b.Steps && b.steps.Load() > most && b.armed()
}

// Meter measures one group of a query, or all that is searched for a request that has no groups. It is used by any
// number of goroutines between Begin and the last Spend. The zero Meter bounds nothing.
type Meter struct {
	b       *Budget
	capped  bool
	cause   atomic.Uint32
	steps   atomic.Uint64
	matches atomic.Uint64
	ns      atomic.Int64
	charged atomic.Uint64 // of the steps, to the budget
	found   atomic.Uint64 // of the matches, that the budget counts as found
	rows    atomic.Uint64 // of the matches, that the budget counts as the query's
	all     atomic.Uint64 // matches, capped or not
}

// Begin starts the measure of another group. capped tells that the number of its matches is bounded otherwise. It
// returns why nothing of the group may be searched, or NoCause.
func (m *Meter) Begin(b *Budget, capped bool) Cause {
	m.b, m.capped = b, capped
	m.cause.Store(0)
	m.steps.Store(0)
	m.matches.Store(0)
	m.ns.Store(0)
	m.charged.Store(0)
	m.found.Store(0)
	m.rows.Store(0)
	m.all.Store(0)
	if b == nil {
		return NoCause
	}
	c := b.exhausted()
	switch {
	case b.Stopped():
		c = CauseOperator
	case c == NoCause && b.spent():
		c = CauseSpent
	}
	m.cause.Store(uint32(c))
	return c
}

// Spend counts search steps, matches found and nanoseconds of one thread, and reports whether the group may go on.
func (m *Meter) Spend(steps, matches uint64, ns int64) bool {
	b := m.b
	if b == nil {
		return true
	}
	b.found.Add(matches)
	m.all.Add(matches)
	if m.capped {
		matches = 0
	}
	groupSteps, groupMatches, groupNS := m.steps.Add(steps), m.matches.Add(matches), m.ns.Add(ns)
	if b.armed() {
		b.steps.Add(steps)
		b.ns.Add(ns)
		b.rows.Add(matches)
		m.rows.Add(matches)
		m.charged.Add(steps)
		if m.cause.Load() == 0 {
			b.output.found.Add(matches)
			m.found.Add(matches)
		}
	}
	if b.batch != nil && b.armed() {
		b.batch.spent.Add(ns)
	}
	if m.cause.Load() == 0 {
		if c := b.exceeded(groupSteps, groupMatches, groupNS); c != NoCause {
			m.Exceed(c)
		}
	}
	return m.cause.Load() == 0
}

// GiveBack takes steps off the budget whose rows are thrown away: another search makes them again and is charged for
// them. No Spend may follow for the group.
func (m *Meter) GiveBack(steps uint64) {
	if m.b != nil {
		m.b.steps.Add(-min(steps, m.charged.Load()))
	}
}

// Restart takes matches off the budget that are thrown away, since another search for the group finds them again. What
// they took stays on it. No Spend may run meanwhile.
func (m *Meter) Restart() {
	if m.b == nil {
		return
	}
	m.b.found.Add(-m.all.Swap(0))
	m.b.rows.Add(-m.rows.Swap(0))
	m.b.output.found.Add(-m.found.Swap(0))
	m.matches.Store(0)
}

// Exceed notes that the group is over a limit. The first cause stays. The group's matches are not written.
func (m *Meter) Exceed(c Cause) {
	if m.cause.CompareAndSwap(0, uint32(c)) && m.b != nil {
		m.b.output.found.Add(-m.found.Swap(0))
	}
}

// Over returns the limit that the group is over, or NoCause.
func (m *Meter) Over() Cause { return Cause(m.cause.Load()) }
