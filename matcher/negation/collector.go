package negation

import (
	"context"
	"errors"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/internal/residual"
	"motifd/matcher/internal/rowsort"
)

// mostSeen bounds the rows of a group that a collector knows again. Those beyond are found, and tested, once for each
// way that leads to them.
const mostSeen = 1 << 16

// collector takes the rows of one group in any order, some of them several times, and gives them back in canonical
// order, once each.
type collector struct {
	work   *residual.Work
	sorter *rowsort.Sorter
	file   rowsort.File
	layout *rowsort.Layout
	seen   map[string]bool
	// repeats tells that a row may come several times.
	repeats bool
}

// newCollector returns a collector for a group of a query. repeats tells that a row may come several times.
func (b *Backend) newCollector(x *query, view dyngraph.View, budget *matcher.Budget, repeats bool) *collector {
	layout := *x.layout
	layout.View = view
	c := &collector{work: &b.work, layout: &layout, file: rowsort.File{Open: b.opt.TempFiles, Budget: budget},
		sorter: &rowsort.Sorter{Memory: b.opt.GroupMemory}, repeats: repeats}
	return c
}

// has reports whether a row is known to have come.
func (c *collector) has(row []uint32) bool {
	return len(c.seen) > 0 && c.seen[keyOfRow(row)]
}

func keyOfRow(row []uint32) string {
	key := make([]byte, 0, 4*len(row))
	for _, x := range row {
		key = append(key, byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
	}
	return string(key)
}

// add adds a row.
func (c *collector) add(row []uint32) error {
	if c.sorter.Count() == 0 {
		c.sorter.Begin(c.layout, 0, &c.file)
	}
	if c.repeats && len(c.seen) < mostSeen {
		if c.seen == nil {
			c.seen = make(map[string]bool)
		}
		c.seen[keyOfRow(row)] = true
	}
	if !c.sorter.Add(row) {
		return c.failed(c.sorter.Err())
	}
	return c.work.Spend(1)
}

// failed returns the error of a sorter. Temporary files beyond their limit are a limit of the group.
func (c *collector) failed(err error) error {
	if errors.Is(err, rowsort.ErrSpill) && c.work.Meter != nil {
		c.work.Meter.Exceed(matcher.CauseSpill)
		return residual.ErrBudget
	}
	return err
}

// drop gives the rows back.
func (c *collector) drop() {
	if c.sorter.Count() == 0 {
		return
	}
	c.sorter.Drop()
	c.sorter.Release()
	c.file.Close()
}

// each hands the rows on, each once, and gives them back. Rows are borrowed until emit returns. Where they are more
// than temporary files may hold, none is handed on.
func (c *collector) each(ctx context.Context, emit func(matcher.Rows) error) error {
	if c.sorter.Count() == 0 {
		return nil
	}
	defer c.sorter.Release()
	sorted := c.sorter.Finish(nil)
	sorted.File = &c.file
	if sorted.Err != nil {
		err := sorted.Err
		sorted.Close()
		return c.failed(err)
	}
	last := make([]uint32, 0, c.layout.Width())
	return sorted.Each(ctx, 0, func(rows matcher.Rows) error {
		if !c.repeats {
			return emit(rows)
		}
		kept := matcher.Rows{Vertices: rows.Vertices, Edges: rows.Edges}
		for i := range rows.Len() {
			row := rows.Row(i)
			if len(last) > 0 && c.same(last, row) {
				continue
			}
			last = append(last[:0], row...)
			kept.Data = append(kept.Data, row...)
		}
		if len(kept.Data) == 0 {
			return nil
		}
		return emit(kept)
	})
}

func (c *collector) same(a, b []uint32) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
