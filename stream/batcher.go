package stream

import (
	"fmt"
	"time"

	"motifd/dyngraph"
)

// BatcherOptions says where batches are cut (DESIGN S2): at whichever bound is reached first.
type BatcherOptions struct {
	// MaxUpdates closes a batch by count of updates. A message is never split: one with more updates is a batch of
	// its own. Default 10,000.
	MaxUpdates int
	// MaxBytes closes a batch by bytes of input: keys and values, and recordOverhead for each message, so that a
	// flood of records without updates is bounded too. Default 8 MiB.
	MaxBytes int
	// Linger closes a batch by time, counted from when its first message was read. Negative: never by time, so that
	// the cuts depend on the input alone. Default 50 ms.
	Linger time.Duration
}

// recordOverhead is the number of bytes that a message counts in BatcherOptions.MaxBytes beside its key and value.
const recordOverhead = 64

// EnsureDefaults replaces zero values by the defaults.
func (o *BatcherOptions) EnsureDefaults() {
	if o.MaxUpdates == 0 {
		o.MaxUpdates = 10_000
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 8 << 20
	}
	if o.Linger == 0 {
		o.Linger = 50 * time.Millisecond
	}
}

// Validate checks the options after EnsureDefaults.
func (o *BatcherOptions) Validate() error {
	if o.MaxUpdates < 1 {
		return fmt.Errorf("max updates per batch is %d; it must be at least 1", o.MaxUpdates)
	}
	if o.MaxBytes < 1 {
		return fmt.Errorf("max bytes per batch is %d; it must be at least 1", o.MaxBytes)
	}
	return nil
}

// Decoded is an input record after decoding.
type Decoded struct {
	Record  Record
	Updates []dyngraph.Update
	Err     error // the record is a dead letter: a *DecodeError, or what Record.Err holds
	Read    time.Time
}

// size returns the bytes that the message counts in a batch.
func (d *Decoded) size() int { return len(d.Record.Key) + len(d.Record.Value) + recordOverhead }

// RawBatch is a run of messages as the Batcher cut it, before acceptance.
type RawBatch struct {
	Messages []Decoded // in input order, without those that hold neither updates nor an error
	Count    int       // messages, those without content included
	Updates  int
	Bytes    int       // keys and values
	Next     Positions // where reading goes on after the batch, for the partitions that it touched
	First    time.Time // when its first message was read
}

// Batcher cuts the stream of messages into batches. It is a plain state machine: its owner asks Deadline when to Cut
// by time.
type Batcher struct {
	opt  BatcherOptions
	cur  *RawBatch
	size int // counted against MaxBytes
}

// NewBatcher returns a Batcher; opt has been validated.
func NewBatcher(opt BatcherOptions) *Batcher { return &Batcher{opt: opt} }

// Add takes a message. When it does not fit into the batch at hand, that batch is cut and returned, and the message
// opens the next one. The caller then asks Full.
func (b *Batcher) Add(d Decoded) (cut *RawBatch) {
	blank := d.Err == nil && len(d.Updates) == 0
	if !blank && !b.Empty() && (b.cur.Updates+len(d.Updates) > b.opt.MaxUpdates || b.size+d.size() > b.opt.MaxBytes) {
		cut = b.Cut()
	}
	if b.cur == nil {
		b.cur = &RawBatch{Next: Positions{}}
	}
	c := b.cur
	c.Count++
	c.Bytes += len(d.Record.Key) + len(d.Record.Value)
	c.Next[d.Record.Partition] = d.Record.Next
	if blank {
		return cut // nothing to keep: only the position moves
	}
	if len(c.Messages) == 0 {
		c.First = d.Read
	}
	b.size += d.size()
	c.Updates += len(d.Updates)
	c.Messages = append(c.Messages, d)
	return cut
}

// Empty reports that there is no message with content in the batch at hand: there is nothing to cut.
func (b *Batcher) Empty() bool { return b.cur == nil || len(b.cur.Messages) == 0 }

// Blank returns where reading goes on after messages without content, when there are no others in the batch at hand,
// and forgets them.
func (b *Batcher) Blank() Positions {
	if b.cur == nil || !b.Empty() {
		return nil
	}
	next := b.cur.Next
	b.cur = nil
	return next
}

// Full reports that the batch at hand has reached a bound of size.
func (b *Batcher) Full() bool {
	return !b.Empty() && (b.cur.Updates >= b.opt.MaxUpdates || b.size >= b.opt.MaxBytes)
}

// Updates returns the number of updates in the batch at hand.
func (b *Batcher) Updates() int {
	if b.cur == nil {
		return 0
	}
	return b.cur.Updates
}

// Deadline tells when the batch at hand is to be cut by time; ok is false when it is not.
func (b *Batcher) Deadline() (at time.Time, ok bool) {
	if b.Empty() || b.opt.Linger < 0 {
		return time.Time{}, false
	}
	return b.cur.First.Add(b.opt.Linger), true
}

// Cut closes the batch at hand and returns it, or nil when it is Empty.
func (b *Batcher) Cut() *RawBatch {
	if b.Empty() {
		return nil
	}
	c := b.cur
	b.cur, b.size = nil, 0
	return c
}
