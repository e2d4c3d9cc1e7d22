package rowsort

import (
	"context"
	"slices"
	"sync/atomic"

	"motifd/matcher"
)

// Range is the part of a merge in a range of keys: rows whose vertices are in [lo, hi), of all runs. Workers merge the
// ranges of one group side by side (Merge); the rows are handed on range by range (Emit).
type Range struct {
	// Large reports that the range is larger than there is memory for, since very many rows have the same vertices. It
	// is not to be merged ahead.
	Large bool

	of     *Sorted
	lo, hi []uint32 // nil is no bound
	rows   uint64   // about
	blocks []*block // merged
	merged bool
}

const (
	// rangeRows is about the least number of rows of a range.
	rangeRows = 32 << 10
	// rangeSlack times the target is the size beyond which a range counts as large.
	rangeSlack = 4
)

// Ranges cuts the merge of the first most rows into ranges that take about memory bytes each, but not so little that
// most of the work is to open runs. It returns nil when it does not pay to share the merge.
func (s *Sorted) Ranges(memory int, most uint64) []*Range {
	target := uint64(max(min(memory/(4*s.Layout.Width()), rangeRows+len(s.runs)*packedWords/4), 64*len(s.runs)))
	if len(s.runs) < 2 || most < 2*target || s.Err != nil {
		return nil
	}
	return s.ranges(target)
}

// ranges cuts the merge into ranges of about target rows. They are larger where many rows have the same vertices.
func (s *Sorted) ranges(target uint64) []*Range {
	var starts []packed
	for _, r := range s.runs {
		starts = append(starts, r.blocks...)
	}
	slices.SortFunc(starts, func(a, b packed) int { return slices.Compare(a.first, b.first) })
	all := []*Range{{of: s}}
	for i := range starts {
		last := all[len(all)-1]
		if last.rows >= target && slices.Compare(starts[i-1].first, starts[i].first) != 0 {
			last.hi = starts[i].first
			last = &Range{of: s, lo: starts[i].first}
			all = append(all, last)
		}
		last.rows += uint64(starts[i].rows)
	}
	for _, r := range all {
		r.Large = r.rows > rangeSlack*target
	}
	return all
}

// Merge merges the range into blocks, until stop.
func (r *Range) Merge(stop *atomic.Bool) error {
	r.merged = true
	m, err := newMerge(r.of.Layout, r.of.runs, r.lo, r.hi)
	if err != nil {
		return err
	}
	most := BlockWords / r.of.Layout.Width()
	for !stop.Load() {
		b := newBlock()
		if b.words, err = m.append(b.words, most); err != nil || len(b.words) == 0 {
			b.release()
			return err
		}
		r.blocks = append(r.blocks, b)
	}
	return nil
}

// Emit hands on the rows of the range in order, at most take of them, and releases them; take is less by that many
// then. A range that is not merged is merged on the way. It looks at ctx before each block.
func (r *Range) Emit(ctx context.Context, take *uint64, emit func(matcher.Rows) error) error {
	defer r.Close()
	if !r.merged {
		return r.stream(ctx, take, emit)
	}
	for len(r.blocks) > 0 && *take > 0 {
		b := r.blocks[0]
		r.blocks = r.blocks[1:]
		err := r.of.emit(ctx, b.words, take, emit)
		b.release()
		if err != nil {
			return err
		}
	}
	return nil
}

// stream merges and hands on rows block by block.
func (r *Range) stream(ctx context.Context, take *uint64, emit func(matcher.Rows) error) error {
	m, err := newMerge(r.of.Layout, r.of.runs, r.lo, r.hi)
	if err != nil {
		return err
	}
	b := newBlock()
	defer b.release()
	for *take > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		most := min(uint64(BlockWords/r.of.Layout.Width()), *take)
		if b.words, err = m.append(b.words[:0], int(most)); err != nil || len(b.words) == 0 {
			return err
		}
		if err := r.of.emit(ctx, b.words, take, emit); err != nil {
			return err
		}
	}
	return nil
}

// Close gives back what was merged.
func (r *Range) Close() {
	for _, b := range r.blocks {
		b.release()
	}
	r.blocks = nil
}
