package cpu

import (
	"context"
	"errors"

	"motifd/matcher"
)

// sorted are the rows of one group, from one sorter or several: in order, or in runs to be merged.
type sorted struct {
	order    *rowOrder
	count    uint64 // rows added
	segments []segment
	runs     []*run
	file     *spillFile // of the runs; closed with the result
	err      error
}

// join adds another sorter's result; both have runs only.
func (r *sorted) join(o sorted) {
	r.count += o.count
	r.runs = append(r.runs, o.runs...)
	if r.err == nil || o.err != nil && errors.Is(r.err, errStopped) { // the reason for a stop comes before the stop
		r.err = o.err
	}
}

// bytes returns the memory that the result holds.
func (r *sorted) bytes() int {
	n := 0
	for i := range r.segments {
		n += 4 * (r.segments[i].to - r.segments[i].from)
	}
	for _, run := range r.runs {
		n += run.bytes()
	}
	return n
}

// drop gives the rows back, which are in runs.
func (r *sorted) drop() {
	for _, run := range r.runs {
		run.close()
	}
	r.runs, r.count, r.err = nil, 0, nil
}

// spill moves the runs to disk.
func (r *sorted) spill(f *spillFile) {
	for _, run := range r.runs {
		if err := run.spill(f); err != nil && r.err == nil {
			r.err = err
		}
	}
}

// close gives everything back.
func (r *sorted) close() {
	for i := range r.segments {
		r.segments[i].b.release()
	}
	for _, run := range r.runs {
		run.close()
	}
	if r.file != nil {
		r.file.close()
	}
	r.segments, r.runs = nil, nil
}

// each hands the rows on in order, at most limit of them (0: all), and releases the result. It looks at ctx before each
// block.
func (r *sorted) each(ctx context.Context, limit uint64, emit func(matcher.Rows) error) error {
	defer r.close()
	if r.err != nil {
		return r.err
	}
	if limit == 0 {
		limit = ^uint64(0)
	}
	rows := matcher.Rows{Vertices: r.order.vertices, Edges: r.order.edges}
	for i := range r.segments {
		rows.Data = r.segments[i].words()
		if n := uint64(rows.Len()); n > limit {
			rows = rows.Slice(0, int(limit))
		}
		limit -= uint64(rows.Len())
		if rows.Len() == 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := emit(rows); err != nil {
			return err
		}
	}
	if len(r.runs) == 0 {
		return nil
	}
	m, err := newMerge(r.order, r.runs, nil, nil)
	if err != nil {
		return err
	}
	b := newBlock()
	defer b.release()
	for limit > 0 {
		most := blockWords / r.order.width()
		if uint64(most) > limit {
			most = int(limit)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if b.words, err = m.append(b.words[:0], most); err != nil {
			return err
		}
		if rows.Data = b.words; len(rows.Data) == 0 {
			return nil
		}
		limit -= uint64(rows.Len())
		if err := emit(rows); err != nil {
			return err
		}
	}
	return nil
}
