package stream

import (
	"context"
	"time"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/stream/eventtime"
)

// Record is one input message as a Source read it.
type Record struct {
	Partition int32
	Offset    int64     // Kafka offset, or byte offset in the decompressed file
	Next      int64     // where reading goes on after this record
	Time      time.Time // Kafka record timestamp; zero when there is none
	Key       []byte
	Value     []byte
	// Header is the header row of the CSV file that the record comes from, the same slice for all its records.
	Header []byte
	// Err is set when the source found the record itself unreadable (longer than the limit, say): it goes to the
	// dead letters, with Value cut to what was kept.
	Err error
}

// Positions maps input partitions to the offset that is read next.
type Positions map[int32]int64

// Epochs tell by partition, ascending, under which epochs of their leaders the records of a Kafka topic were written.
type Epochs map[int32][]EpochStart

// EpochStart tells that records from Start on were written under an epoch, up to where the next one starts.
type EpochStart struct {
	Epoch int32
	Start int64
}

// Source reads input records. It has one user; only Close may be called from another goroutine, and makes Read
// return.
type Source interface {
	// Read returns the next records, at least one, in partition order each. The records and what they refer to are
	// the caller's. io.EOF tells that the input ended for good (files); a Kafka source blocks until ctx is done.
	Read(ctx context.Context) ([]Record, error)
	// Seek sets where reading starts, before the first Read; partitions that are not named start where the
	// configuration says. ErrDataLoss tells that a position is no longer available.
	Seek(ctx context.Context, at Positions) error
	Close() error
}

// Decoder turns one record into a message. It is used by one goroutine at a time and may keep state (a CSV
// header).
type Decoder interface {
	// Decode appends the record's updates to dst, with their positions. An error is a *DecodeError; the record is
	// then a dead letter as a whole (DESIGN S10). A record without updates (a blank line) is an empty message.
	Decode(rec Record, dst []dyngraph.Update) ([]dyngraph.Update, error)
}

// DecodeError says why a record could not be decoded.
type DecodeError struct {
	Reason  string // a code for metrics: "json", "utf8", "field", "size", ...
	Element int    // of an array, or -1
	Msg     string // what is wrong, where in the record, and what would be right
}

func (e *DecodeError) Error() string { return e.Msg }

// Encoder turns results into output records. It is safe for concurrent use.
type Encoder interface {
	// Append encodes rows i to j of a matches event (or the one record of another event) and appends the records to
	// dst.
	Append(dst []OutRecord, ev *matcher.Event, i, j int) ([]OutRecord, error)
	// DeadLetter encodes a refused record, BatchRecord the record of a batch for the control output.
	DeadLetter(d DeadLetter) (OutRecord, error)
	BatchRecord(b *BatchReport) (OutRecord, error)
}

// OutRecord is an encoded record. (Stream, Batch, Index) names a record of the main output for good (DESIGN S7).
type OutRecord struct {
	Key   []byte // the match id for deltas
	Value []byte // nil is a tombstone (upsert mode)
	Batch uint64
	Index uint64
	Query string
	Sign  dyngraph.Sign
	// Snapshot marks records of registration, Notice those that tell what a limit has left out.
	Snapshot, Notice bool
}

// DeadLetter is an input record that was refused, or one with an update that came too late.
type DeadLetter struct {
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
	Element   int    `json:"element"` // offending element of an array, or -1
	Reason    string `json:"reason"`  // code
	Error     string `json:"error"`
	Key       []byte `json:"key,omitempty"` // nil when the record has none, or an empty one
	Value     []byte `json:"value"`
	// Size is the record's true size when Value was cut to the configured length.
	Size int `json:"size"`
}

// Refused tells whether the record was refused. One with a late update was accepted (TimeOptions.ReportLate).
func (d *DeadLetter) Refused() bool { return d.Reason != ReasonLate }

// Batch is an entry of the batch log: the matcher's batch and its input positions, dead letters and times (DESIGN P3).
type Batch struct {
	matcher.Batch
	// Time is the batch's watermark and horizons, nil where no edge expires, and for query changes.
	Time        *eventtime.Cut
	DeadLetters []DeadLetter
	// Positions are the offsets at which reading goes on after the batch.
	Positions Positions
	// OutputPartitions is the partition count of the output topic when the batch was cut; 0 when it does not matter.
	OutputPartitions int32
	// Messages and Bytes are the size of the input that the batch was cut from.
	Messages, Bytes int
}

// BatchReport is the content of a batch record on the control output. It is a function of the batch log alone.
type BatchReport struct {
	Stream      string           `json:"stream"`
	Batch       uint64           `json:"batch"`
	Messages    int              `json:"messages"`
	Updates     int              `json:"updates"`
	Inserted    int              `json:"inserted"` // net edges
	Deleted     int              `json:"deleted"`
	Records     uint64           `json:"records"`
	DeadLetters int              `json:"dead_letters"`
	Positions   map[string]int64 `json:"positions"`
	Change      *ChangeReport    `json:"change,omitempty"`
	Time        *TimeReport      `json:"time,omitempty"` // where edges expire
	Properties  *DeclaredReport  `json:"properties,omitempty"`
	Queries     []QueryReport    `json:"queries,omitempty"` // those with a count, a truncation or a suspension
}

// DeclaredReport is a step of a change of the declared properties in a batch record.
type DeclaredReport struct {
	Edges    property.Declarations `json:"edges"` // those that hold from the step on
	Vertices property.Declarations `json:"vertices"`
	Changed  int                   `json:"changed"` // edges and vertices that the step has brought to them
	Last     bool                  `json:"last"`    // no step is left
}

// TimeReport is event time in a batch record.
type TimeReport struct {
	Watermark *int64           `json:"watermark,omitempty"` // nil: not known yet
	Horizons  map[string]int64 `json:"horizons,omitempty"`  // by label, those before which something may have expired
	Expired   int              `json:"expired"`             // edges, which are among Deleted
	Late      int              `json:"late"`                // updates without effect
	// Retention is set when the batch changes it: milliseconds by label.
	Retention *map[string]int64 `json:"retention,omitempty"`
}

// ChangeReport is a query change in a batch record.
type ChangeReport struct {
	Op      string `json:"op"` // "add", "replace" or "remove"
	Query   string `json:"query"`
	Version uint64 `json:"version"`
}

// Total is a number of matches, or that it is not known: counting was beyond a limit.
type Total struct {
	matcher.Count
	Unknown bool
}

// MarshalJSON writes the number, or "unknown".
func (t Total) MarshalJSON() ([]byte, error) {
	if t.Unknown {
		return []byte(`"unknown"`), nil
	}
	return t.Count.MarshalJSON()
}

// QueryReport is one query's part of a batch record.
type QueryReport struct {
	Query     string `json:"query"`
	Version   uint64 `json:"version"`
	Positive  Total  `json:"positive"`
	Negative  Total  `json:"negative"`
	Truncated bool   `json:"truncated,omitempty"`
	Suspended bool   `json:"suspended,omitempty"`
	Snapshot  bool   `json:"snapshot,omitempty"`
	// Skipped counts what was left out since it was beyond a limit, Limit names the last such limit.
	Skipped uint64 `json:"skipped,omitempty"`
	Limit   string `json:"limit,omitempty"`
	// LossySince is the batch since which some positives of the query were left out.
	LossySince uint64 `json:"lossy_since,omitempty"`
	// Once counts the positives that the query's once dropped; they are in Positive.
	Once uint64 `json:"once,omitempty"`
	// Changed counts the matches that went on with other values, of a query that emits these.
	Changed matcher.Count `json:"changed,omitzero"`
}

// Mark is the durable extent of a sink's output: opaque bytes that the Store keeps with each commit (the lengths of the
// output files, say).
type Mark []byte

// Tail closes a batch: what is published after its last match record.
type Tail struct {
	DeadLetters []OutRecord
	BatchRecord *OutRecord // nil when no control output is configured
	Positions   Positions
}

// Progress is the place at which publishing stopped: records before (Batch, Index) are out.
type Progress struct {
	Stream string
	Batch  uint64
	Index  uint64
	// Known is false when the sink cannot tell: the batch in progress is then published again as a whole, with the same
	// (stream, batch, index) (DESIGN P3, at-least-once).
	Known bool
	// Begun tells that the output holds something behind the committed mark, which the sink will remove before it
	// writes: it can only be of a batch whose intent is open.
	Begun bool
	// Digest is the IntentDigest of the batch Last. Empty: not known.
	Digest string
}

// Last returns the number of the batch that was published last, whole or in part; 0 is none.
func (p *Progress) Last() uint64 {
	if p.Index > 0 || p.Batch == 0 {
		return p.Batch
	}
	return p.Batch - 1
}

// Sink publishes encoded records. It has one user.
type Sink interface {
	// Open makes the sink ready. committed is the mark of the last committed batch (nil at the first start) and batch
	// its number. It tells where publishing stopped, and changes nothing that was published; where it can, the first
	// Begin removes what was published after the mark. fresh tells that the checkpoint is empty: an output that is
	// not empty is then ErrOutputNotEmpty, unless the sink was told to go on.
	Open(ctx context.Context, streamID string, batch uint64, committed Mark, fresh bool) (Progress, error)
	// Begin starts batch n; Write publishes records of it, in order; the records are borrowed until Write returns.
	Begin(ctx context.Context, batch uint64) error
	Write(ctx context.Context, recs []OutRecord) error
	// End publishes the tail and makes the batch durable. The mark goes into Store.Commit.
	End(ctx context.Context, t Tail) (Mark, error)
	// Partitions is the partition count of the main output, 0 when it does not matter.
	Partitions() int32
	Close() error
}

// DigestingSink is implemented by sinks that keep the digest of a batch's intent with their progress, so that two
// copies of one checkpoint that have cut different batches of one number are told apart (DESIGN P3).
type DigestingSink interface {
	Sink
	// CheckProgress is called before Open. Open calls check before it takes the output over from another daemon, and
	// fails with its error: what is refused harms nobody.
	CheckProgress(check func(Progress) error)
	// NextDigest is called before each Begin with the IntentDigest of the batch; empty is not known.
	NextDigest(digest string)
}

// IntentDigester is implemented by stores that know digests of their intents.
type IntentDigester interface {
	// IntentDigest returns the digest of the sealed intent of the last committed batch, or of an open one whose
	// intent is durable, chained to those before it: equal digests mean equal batches up to that one. Decisions that
	// are added to an intent while its batch is searched do not change it. Empty: not known.
	IntentDigest(batch uint64) string
}

// State is the recovered content of a Store.
type State struct {
	StreamID string
	Fresh    bool   // no batch was ever committed nor intended: the checkpoint was just created
	Batch    uint64 // last committed batch
	Graph    *dyngraph.Graph
	Queries  []matcher.QueryState
	// Positions as of the last committed batch.
	Positions Positions
	Mark      Mark
	// Time is event time as of the last committed batch, nil when no edge ever expired.
	Time *eventtime.State
	// Declaration is the last step of a change of the declared properties that is not done, nil for none.
	Declaration *dyngraph.Declaration
	// Open are the intents after Batch, ascending: they are stepped again before anything else.
	Open []Batch
}

// CommitInfo is the data that becomes durable when a batch is done.
type CommitInfo struct {
	Batch     uint64
	Effect    dyngraph.Effect
	Positions Positions
	Mark      Mark
	// Queries is the full set after the batch, when the batch changed it (a change or a suspension); else nil.
	Queries []matcher.QueryState
	// Time is event time after the batch, nil when no edge ever expired.
	Time *eventtime.State
	// Once lists, in order, the batch's changes of the keys that queries with once remember.
	Once []matcher.OnceChange
	// Declaration is that of the batch.
	Declaration *dyngraph.Declaration
	// Report is the batch record.
	Report *BatchReport
}

// Store makes the daemon's state durable; package checkpoint implements it. Intent, Decide and Commit are called
// from different goroutines, Intent(n+1) possibly before Commit(n); each is synced when it returns. Intent and Commit
// may wait for room on the disk. When ctx is done they give up with its cause, and nothing is written.
type Store interface {
	// Recover loads the state, once, before anything else is called.
	Recover(ctx context.Context) (*State, error)
	// Bootstrap stores a graph that was loaded from a file as batch 0, in a fresh checkpoint.
	Bootstrap(ctx context.Context, g *dyngraph.Graph) error
	Intent(ctx context.Context, b *Batch) error
	// Decide adds a decision to the open intent of the batch, before anything that it concerns is published.
	Decide(batch uint64, x matcher.Decision) error
	Commit(ctx context.Context, c *CommitInfo) error
	Close() error
}

// IntentStarter is implemented by stores that write an intent while its batch is searched. The Pipeline publishes
// nothing of the batch before the intent is durable, which is all that DESIGN P3 asks of it: a crash before leaves the
// output as it was, and the input is read again from where the batch before it ended; one after finds the intent.
type IntentStarter interface {
	// StartIntent is Intent, but the batch is durable only once logged has returned nil. What begins with it (Decide,
	// StartIntent or Intent of the next batch, Close) waits for it by itself; Commit comes after logged. b is not
	// changed until then. logged may be called more than once, or never.
	StartIntent(ctx context.Context, b *Batch) (logged func() error)
}
