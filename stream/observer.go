package stream

import (
	"time"

	"motifd/dyngraph"
	"motifd/matcher"
)

// Observer is told what the pipeline did, for metrics and timelines. Its methods are called from one goroutine each
// (Read from the reader, Step from the engine's, Commit from the publisher's), but Span from all of them, and from
// encoders. They return quickly and keep nothing that they are given. What is a state rather than an event is in
// Status.
type Observer interface {
	Read(ReadStats)
	Step(StepStats)
	Commit(CommitStats)
	Span(Span)
}

// Span is a piece of work on a batch, or a wait. A batch's spans come before its CommitStats; those of one lane do not
// overlap, and come in the order of time.
type Span struct {
	Lane       Lane
	What       string
	Batch      uint64    // 0 on the reader's lane, where batches are not cut yet
	Read       time.Time // there: when the records were there; StepStats tells which reads a batch is of
	Begin, End time.Time
	Busy       time.Duration // of the encoder, which is interrupted by the search: how long it worked
}

// Lane is the worker of a span, a row of the timeline: a goroutine, or a part of one.
type Lane string

// The lanes, and what is done on them.
const (
	LaneReader Lane = "reader" // read, decode, room: waiting for some in the queue
	LaneEngine Lane = "engine" // accept, slot: waiting for earlier batches to be committed, intent, step
	// within step, what the search waits for: encode, room. What encoders do beside it has lanes of theirs: encoder
	// 1, encoder 2, ...
	LaneEncoder   Lane = "encoder"
	LanePublisher Lane = "publisher" // intent: waiting for it, publish, commit
)

// ReadStats is one read of the source.
type ReadStats struct {
	Records, Updates, Bytes int
	Read                    time.Duration // waiting for the source
	Decode                  time.Duration
	Wait                    time.Duration // waiting for room in the queue
}

// StepStats is one batch that the engine stepped over. Dead letters, truncations, suspensions and search times are in
// Batch and Summary.
type StepStats struct {
	Batch     *Batch
	Summary   *matcher.Summary
	Records   []RecordCount
	Recovered bool // an intent that a start found open
	// FirstRead and LastRead are Span.Read of its first and last message with content; zero for others than input
	// batches.
	FirstRead time.Time
	LastRead  time.Time
	Accept    time.Duration
	Intent    time.Duration // logging the batch; what is left of it when the search ends is in CommitStats
	Slot      time.Duration // waiting until fewer than MaxInFlight batches were uncommitted
	Step      time.Duration // all of Engine.Step, Encode and Publish included
	Encode    time.Duration // encoding records, or handing them to encoders and waiting for these
	Publish   time.Duration // waiting for room in the queue to the publisher
}

// RecordCount counts the output records of one query and sign in a batch.
type RecordCount struct {
	Query    string
	Sign     dyngraph.Sign
	Snapshot bool
	Records  uint64
}

// CommitStats is one batch that was published and committed.
type CommitStats struct {
	Batch    uint64
	Records  uint64
	Inserted int
	Deleted  int
	Intent   time.Duration // waiting until the batch was logged, before anything of it was written to the sink
	Publish  time.Duration // writing to the sink and ending the batch there
	Commit   time.Duration
	// from the read of the batch's first message to its commit; 0 for others than input batches
	Latency       time.Duration
	InputTime     time.Time // latest record timestamp in the batch; zero when there is none
	Positions     Positions // shared: not to be changed
	CommittedOnly bool      // recovery found the batch published already
}

// nopObserver ignores everything.
type nopObserver struct{}

func (nopObserver) Read(ReadStats)     {}
func (nopObserver) Step(StepStats)     {}
func (nopObserver) Commit(CommitStats) {}
func (nopObserver) Span(Span)          {}

// Positioner is implemented by sources that choose where partitions without a stored position start. Positions, after
// Seek, tells where every partition stands that is read, in a map that is the caller's, so that the first batch, which
// is that of a query as a rule, stores what was chosen: what arrives in an idle partition meanwhile is then not skipped
// by a restart.
type Positioner interface {
	Positions() Positions
}

// Advancer is implemented by sources whose offsets are not all records': a Kafka partition holds transaction markers,
// records of aborted transactions, and gaps that compaction left.
type Advancer interface {
	// Advance moves each position that stands before such offsets behind them. Otherwise retention, which removes them
	// like records, would make them look like lost input. It is safe for concurrent use with Read.
	Advance(at Positions)
}

// Lagger is implemented by sources that know where the input ends.
type Lagger interface {
	// Lag returns how many records of each partition lie behind the positions; where the partition ends is asked for
	// now and then, also while nobody reads. A partition whose end is not known is absent, one without a position
	// stands where reading began. It is safe to call from any goroutine.
	Lag(at Positions) map[int32]int64
}
