//go:build cuda || emu

package cuda

import (
	"context"
	"slices"

	"motifd/matcher"
	"motifd/matcher/internal/rowsort"
)

// edgeTieBreak sorts rows with the same vertices by the identities of their edges (DESIGN S7), which the device does
// not know. The rows of each group arrive sorted by their vertices; the sorted rows go to take. The last rows with the
// same vertices stay in a sorter, which limits their memory, because more of them may follow.
type edgeTieBreak struct {
	ctx  context.Context
	take func(g rowGroup, rows []uint32) error

	group  rowGroup
	like   []uint32 // the vertices of the rows in the sorter; nil if it is empty
	sorter rowsort.Sorter
	file   rowsort.File
}

// edgeTieBreak returns a tie break whose sorted rows go to take.
func (b *Backend) edgeTieBreak(ctx context.Context, take func(g rowGroup, rows []uint32) error) *edgeTieBreak {
	return &edgeTieBreak{ctx: ctx, take: take, sorter: rowsort.Sorter{Memory: b.opt.CPU.GroupMemory},
		file: rowsort.File{Open: b.opt.CPU.TempFiles}}
}

// rows receives rows of a group. It may reorder them in place.
func (t *edgeTieBreak) rows(g rowGroup, rows []uint32) error {
	if g != t.group {
		if err := t.flush(); err != nil {
			return err
		}
		t.group = g
	}
	w := g.layout.Width()
	same := func(a, b []uint32) bool { return slices.Equal(a[:g.layout.Vertices], b[:g.layout.Vertices]) }
	if t.like != nil {
		n := 0
		for n < len(rows) && same(t.like, rows[n:]) {
			n += w
		}
		if err := t.hold(rows[:n]); err != nil {
			return err
		}
		if rows = rows[n:]; len(rows) == 0 {
			return nil
		}
		if err := t.flush(); err != nil {
			return err
		}
	}
	last := 0
	for at := w; at < len(rows); at += w {
		if !same(rows[last:], rows[at:]) {
			t.sort(rows[last:at])
			last = at
		}
	}
	if last > 0 {
		if err := t.take(g, rows[:last]); err != nil {
			return err
		}
	}
	return t.hold(rows[last:])
}

// hold adds rows with the same vertices to the sorter.
func (t *edgeTieBreak) hold(rows []uint32) error {
	if t.like == nil {
		t.like = slices.Clone(rows[:t.group.layout.Vertices])
		t.sorter.Begin(t.group.layout, 0, &t.file)
	}
	for row := range slices.Chunk(rows, t.group.layout.Width()) {
		if !t.sorter.Add(row) {
			return t.sorter.Err()
		}
	}
	return nil
}

// flush sorts the held rows and hands them to take.
func (t *edgeTieBreak) flush() error {
	if t.like == nil {
		return nil
	}
	t.like = nil
	var w rowsort.Writer
	all := t.sorter.Finish(&w)
	w.Close()
	all.File = &t.file
	return all.Each(t.ctx, 0, func(rows matcher.Rows) error { return t.take(t.group, rows.Data) })
}

// close frees the held rows.
func (t *edgeTieBreak) close() {
	t.sorter.Drop()
	t.sorter.Release()
	t.file.Close()
}

// sort sorts rows that have the same vertices.
func (t *edgeTieBreak) sort(rows []uint32) {
	l := t.group.layout
	if len(rows) == l.Width() {
		return
	}
	sorted := slices.Collect(slices.Chunk(slices.Clone(rows), l.Width()))
	slices.SortFunc(sorted, l.Compare)
	for i, row := range sorted {
		copy(rows[i*l.Width():], row)
	}
}
