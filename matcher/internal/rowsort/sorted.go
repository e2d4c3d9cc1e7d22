package rowsort

import (
	"context"
	"errors"

	"motifd/matcher"
)

// Sorted is the rows of one group, of one sorter or of several: in order, or as runs that Each merges.
type Sorted struct {
	Layout *Layout
	// Count is the number of rows that were added.
	Count uint64
	// File holds runs; nil is none. It is closed with the rows.
	File *File
	// Err is why rows are missing. Each returns it.
	Err error

	segments []segment
	runs     []*run
}

// Join adds the rows of another sorter. Both are runs only: Finish had no Writer.
func (s *Sorted) Join(o Sorted) {
	s.Count += o.Count
	s.runs = append(s.runs, o.runs...)
	if s.Err == nil || o.Err != nil && errors.Is(s.Err, ErrStopped) { // the reason for a stop comes before the stop
		s.Err = o.Err
	}
}

// Append adds the rows of a writer, as a run, and ends it. Runs whose rows are in order of the vertices alone give
// rows in that order.
func (s *Sorted) Append(w *RunWriter) {
	s.Count += w.p.run.rows
	s.runs = append(s.runs, w.p.finish())
}

// Bytes returns the memory that the rows take.
func (s *Sorted) Bytes() int {
	n := 0
	for i := range s.segments {
		n += 4 * (s.segments[i].to - s.segments[i].from)
	}
	for _, r := range s.runs {
		n += r.bytes()
	}
	return n
}

// Drop gives the rows back, which are runs, and forgets them.
func (s *Sorted) Drop() {
	for _, r := range s.runs {
		r.close()
	}
	s.runs, s.Count, s.Err = nil, 0, nil
}

// Spill moves the runs to a file; Err tells when that failed.
func (s *Sorted) Spill(f *File) {
	if err := f.Spill(s); err != nil && s.Err == nil {
		s.Err = err
	}
}

// Close gives everything back.
func (s *Sorted) Close() {
	for i := range s.segments {
		s.segments[i].b.release()
	}
	for _, r := range s.runs {
		r.close()
	}
	if s.File != nil {
		s.File.Close()
	}
	s.segments, s.runs = nil, nil
}

// Each hands on the rows in order, at most limit of them (0: all), and closes s. Rows are borrowed until emit returns.
// Each looks at ctx before each block.
func (s *Sorted) Each(ctx context.Context, limit uint64, emit func(matcher.Rows) error) error {
	defer s.Close()
	if s.Err != nil {
		return s.Err
	}
	if limit == 0 {
		limit = ^uint64(0)
	}
	for i := range s.segments {
		if err := s.emit(ctx, s.segments[i].words(), &limit, emit); err != nil || limit == 0 {
			return err
		}
	}
	if len(s.runs) == 0 {
		return nil
	}
	all := Range{of: s}
	return all.Emit(ctx, &limit, emit)
}

// emit hands on rows, at most take of them; take is less by that many then.
func (s *Sorted) emit(ctx context.Context, words []uint32, take *uint64, emit func(matcher.Rows) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	rows := matcher.Rows{Vertices: s.Layout.Vertices, Edges: s.Layout.Edges, Data: words}
	if n := uint64(rows.Len()); n > *take {
		rows = rows.Slice(0, int(*take))
	}
	*take -= uint64(rows.Len())
	return emit(rows)
}
