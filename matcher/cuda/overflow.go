//go:build cuda || emu

package cuda

import (
	"context"
	"errors"

	"motifd/matcher"
	"motifd/matcher/internal/rowsort"
)

// overflow holds the rows of a wave that exceeds the device's memory for rows. The wave arrives in sorted parts;
// overflow merges them when the last has arrived. Runs that exceed the host memory for them go to a file (DESIGN P4).
type overflow struct {
	file   rowsort.File
	memory int // maximum bytes of runs in memory

	groups []overflowGroup    // of the wave; empty before its first part
	held   int                // bytes of complete runs in memory
	run    *rowsort.RunWriter // the incomplete run of the current part
	of     int                // its group
}

// overflowGroup holds the rows of a group that have arrived.
type overflowGroup struct {
	rows   rowsort.Sorted
	wanted int // number of rows wanted, negative for all
	lost   int // number of rows left out
}

// begin begins a part of a wave with these groups.
func (o *overflow) begin(groups []rowGroup, wanted func(g rowGroup) int) {
	if len(o.groups) > 0 {
		return
	}
	o.groups = make([]overflowGroup, len(groups))
	for i, g := range groups {
		o.groups[i].rows.Layout, o.groups[i].wanted = g.layout, wanted(g)
	}
}

// add adds rows of a run to the current part.
func (o *overflow) add(r run, rows []uint32) error {
	g := &o.groups[r.group]
	if o.run != nil && o.of != r.group {
		o.endRun()
	}
	if o.run == nil {
		o.run, o.of = rowsort.NewRunWriter(g.rows.Layout), r.group
	}
	if g.wanted >= 0 {
		n := min(len(rows)/r.width, g.wanted-int(o.run.Rows()))
		g.lost += len(rows)/r.width - n
		rows = rows[:n*r.width]
	}
	o.run.Add(rows)
	if o.held+o.run.Bytes() > o.memory {
		return overLimit(o.spill())
	}
	return nil
}

// endRun completes the current run.
func (o *overflow) endRun() {
	if o.run != nil && o.run.Rows() > 0 {
		o.groups[o.of].rows.Append(o.run)
		o.held += o.run.Bytes()
	}
	o.run = nil
}

// end ends a part.
func (o *overflow) end() { o.endRun() }

// spill moves all runs to the file.
func (o *overflow) spill() error {
	all := make([]*rowsort.Sorted, 0, len(o.groups))
	for i := range o.groups {
		if o.groups[i].rows.Bytes() > 0 {
			all = append(all, &o.groups[i].rows)
		}
	}
	o.held = 0
	if err := o.file.Spill(all...); err != nil {
		return err
	}
	return o.run.Spill(&o.file)
}

// rows returns the number of rows of a group that have arrived.
func (o *overflow) rows(group int) int {
	if len(o.groups) == 0 {
		return 0
	}
	return int(o.groups[group].rows.Count)
}

// merge hands out the rows of all parts, group by group and in order, and drops them.
func (o *overflow) merge(ctx context.Context, groups []rowGroup, take func(g rowGroup, rows []uint32) error,
	leftOut func(g rowGroup, rows int) error) error {
	defer o.close()
	for i, g := range groups {
		err := o.groups[i].rows.Each(ctx, 0, func(rows matcher.Rows) error { return take(g, rows.Data) })
		if err != nil {
			return err
		}
	}
	for i, g := range groups {
		if n := o.groups[i].lost; n > 0 {
			if err := leftOut(g, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// close frees all runs.
func (o *overflow) close() {
	if len(o.groups) == 0 {
		return
	}
	if o.run != nil { // after an error
		o.endRun()
	}
	for i := range o.groups {
		o.groups[i].rows.Close()
	}
	o.file.Close()
	o.groups, o.held = nil, 0
}

// overLimit replaces the error of a file that has reached its limit by errOver.
func overLimit(err error) error {
	if errors.Is(err, rowsort.ErrSpill) {
		return errOver
	}
	return err
}

// heldRows holds the sorted rows of one group until it is known that the group is within its budget.
type heldRows struct {
	file   rowsort.File
	memory int // bytes
	layout *rowsort.Layout
	run    *rowsort.RunWriter
}

// add adds rows.
func (h *heldRows) add(rows []uint32) error {
	if h.run == nil {
		h.run = rowsort.NewRunWriter(h.layout)
	}
	if h.run.Add(rows); h.run.Bytes() > h.memory {
		return overLimit(h.run.Spill(&h.file))
	}
	return nil
}

// each hands out all rows.
func (h *heldRows) each(ctx context.Context, take func(rows []uint32) error) error {
	if h.run == nil {
		return nil
	}
	all := rowsort.Sorted{Layout: h.layout}
	all.Append(h.run)
	h.run = nil
	return all.Each(ctx, 0, func(rows matcher.Rows) error { return take(rows.Data) })
}

// close frees all rows.
func (h *heldRows) close() {
	if h.run != nil {
		all := rowsort.Sorted{Layout: h.layout}
		all.Append(h.run)
		all.Close()
		h.run = nil
	}
	h.file.Close()
}
