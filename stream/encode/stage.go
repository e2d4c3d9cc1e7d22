package encode

import (
	"context"
	"fmt"
	"sync"
	"time"

	"motifd/matcher"
)

// Options are what a Stage needs. Append, Cost and Span are called from several goroutines at once, Send from the one
// that emits.
type Options[R any] struct {
	// Append appends the records of rows i to j of an event.
	Append func(recs []R, batch uint64, ev *matcher.Event, i, j int) ([]R, error)
	// Cost estimates the memory of a record, in bytes.
	Cost func(*R) int64
	// Send hands a chunk on, waiting for room. Free takes it back.
	Send func(ctx context.Context, batch uint64, chunk *[]R, cost int64) error
	// Span is told of pieces of work and waits.
	Span func(Span)
	// Threads is how many goroutines encode; with 1 there is none beside the one that emits.
	Threads int
	// ChunkRecords is how many records a chunk holds at most.
	ChunkRecords int
}

// Span is a piece of work, or a wait for room.
type Span struct {
	Worker     int    // 0 is the goroutine that emits; the others are counted from 1
	What       string // encode, room
	Batch      uint64
	Begin, End time.Time
	Busy       time.Duration // of worker 0, which is interrupted by the search: how long it encoded
}

// Stage is the encoding of a pipeline's batches: what one leaves for the next. Its methods but Free are for one
// goroutine.
type Stage[R any] struct {
	opt    Options[R]
	chunks sync.Pool // of *[]R
	tasks  sync.Pool // of *task[R]
	mean   int64     // cost of a record, in what the batch before encoded last
}

// New returns a stage.
func New[R any](opt Options[R]) *Stage[R] {
	return &Stage[R]{opt: opt, mean: pieceBytes}
}

// Free takes a chunk back whose records are of no more use. It may be called by any goroutine.
func (s *Stage[R]) Free(chunk *[]R) {
	clear(*chunk)
	*chunk = (*chunk)[:0]
	s.chunks.Put(chunk)
}

func (s *Stage[R]) newChunk() *[]R {
	if c, ok := s.chunks.Get().(*[]R); ok {
		return c
	}
	c := make([]R, 0, s.opt.ChunkRecords)
	return &c
}

// encode appends rows i to j of an event to a chunk and returns what they cost.
func (s *Stage[R]) encode(c *[]R, batch uint64, ev *matcher.Event, i, j int) (int64, error) {
	n := len(*c)
	recs, err := s.opt.Append(*c, batch, ev, i, j)
	if err != nil {
		return 0, fmt.Errorf("encode results of query %q: %w", ev.Query.Name, err)
	}
	*c = recs
	var cost int64
	for k := n; k < len(recs); k++ {
		cost += s.opt.Cost(&recs[k])
	}
	return cost, nil
}
