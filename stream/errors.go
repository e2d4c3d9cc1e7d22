package stream

import "errors"

// Errors that callers decide on.
var (
	// ErrDataLoss: a position to read from is no longer available in the input.
	ErrDataLoss = errors.New("input data lost")
	// ErrOutputNotEmpty: the output holds records, but the checkpoint is new (DESIGN P3).
	ErrOutputNotEmpty = errors.New("output is not empty")
	// ErrFenced: another daemon writes to the same output.
	ErrFenced = errors.New("fenced by another daemon")
	// ErrLocked: another process holds the output file or the checkpoint.
	ErrLocked = errors.New("in use by another process")
)
