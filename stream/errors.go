package stream

import (
	"errors"
	"fmt"
)

// Errors that callers decide on.
var (
	// ErrDataLoss: a position to read from is no longer available in the input.
	ErrDataLoss = errors.New("input data lost")
	// ErrOutputNotEmpty: the output holds records, but the checkpoint is new (DESIGN P3).
	ErrOutputNotEmpty = errors.New("output is not empty")
	// ErrOutputDamaged: the output holds less than the checkpoint says was published to it.
	ErrOutputDamaged = errors.New("output is damaged")
	// ErrMismatch: the checkpoint and the output do not belong together (DESIGN P3).
	ErrMismatch = errors.New("checkpoint and output do not belong together")
	// ErrOldCheckpoint: the output goes beyond the checkpoint, which must be an old copy.
	ErrOldCheckpoint = fmt.Errorf("%w: the checkpoint is older than the output", ErrMismatch)
	// ErrDiverged: the output holds a batch that differs from the checkpoint's batch of that number. The checkpoint is
	// one of two copies that both went on.
	ErrDiverged = fmt.Errorf("%w: the output was written from another copy of the checkpoint", ErrMismatch)
	// ErrFenced: another daemon writes to the same output.
	ErrFenced = errors.New("fenced by another daemon")
	// ErrLocked: another process holds the output file or the checkpoint.
	ErrLocked = errors.New("in use by another process")
	// ErrStopped: the pipeline has stopped or is stopping, and takes no more requests.
	ErrStopped = errors.New("pipeline stopped")
)

// Reasons of records that a source could not read.
const (
	ReasonSize        = "size"        // the record is too long
	ReasonFraming     = "framing"     // where the record ends is not known
	ReasonDamaged     = "damaged"     // its checksum or its form is wrong
	ReasonCompression = "compression" // compressed data is damaged, or expands beyond the limit
	ReasonUnreadable  = "unreadable"  // another error
)

// RecordError says why a source found a record unreadable. Record.Err holds it.
type RecordError struct {
	Reason string // a code for metrics: ReasonSize, ...
	Size   int64  // the record's true size in bytes, or 0 when it is not known
	Msg    string // what is wrong, and what would be right
}

func (e *RecordError) Error() string { return fmt.Sprintf("%s: %s", e.Reason, e.Msg) }
