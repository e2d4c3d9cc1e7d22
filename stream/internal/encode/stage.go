package encode

import (
	"context"
	"fmt"
	"sync"
	"time"

	"motifd/matcher"
)

// Options configure a Stage. Append, Cost and Span are called from several goroutines at once, Send only from the
// emitting one.
type Options[R any] struct {
	// Append appends the records of rows i to j of an event.
	Append func(recs []R, ev *matcher.Event, i, j int) ([]R, error)
	// Cost estimates the memory of a record, in bytes.
	Cost func(*R) int64
	// Send takes a chunk; it blocks until there is room. The receiver returns the chunk with Free.
	Send func(ctx context.Context, batch uint64, chunk *[]R, cost int64) error
	// Span receives the pieces of work and the waits.
	Span func(Span)
	// Threads is the number of encoding goroutines; with 1 the emitting goroutine encodes.
	Threads int
	// ChunkRecords is the maximum number of records in a chunk.
	ChunkRecords int
}

// Span is a piece of work, or a wait for room.
type Span struct {
	Worker     int    // 0 is the emitting goroutine; encoders are numbered from 1
	What       string // encode, room
	Batch      uint64
	Begin, End time.Time
	Busy       time.Duration // encoding time of worker 0, which also runs the search between begin and end
}

// Stage encodes the batches of a pipeline, and keeps chunks, tasks and the mean cost from one batch to the next. All
// methods except Free are for one goroutine.
type Stage[R any] struct {
	opt    Options[R]
	chunks sync.Pool // of *[]R
	tasks  sync.Pool // of *task[R]
	mean   int64     // mean cost of the records that the previous batch encoded last
}

// New returns a stage.
func New[R any](opt Options[R]) *Stage[R] {
	return &Stage[R]{opt: opt, mean: pieceBytes}
}

// Free takes back a chunk whose records are no longer used. Any goroutine may call it.
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

// encode appends rows i to j of an event to a chunk and returns the cost of their records.
func (s *Stage[R]) encode(c *[]R, ev *matcher.Event, i, j int) (int64, error) {
	n := len(*c)
	recs, err := s.opt.Append(*c, ev, i, j)
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
