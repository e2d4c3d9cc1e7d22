//go:build cuda || emu

package cuda

import (
	"context"
	"slices"

	"motifd/matcher"
	"motifd/matcher/cpu/rowsort"
)

// edgeTies puts rows with the same vertices in order by the identities of their edges (DESIGN S7), which the device
// does not know. Rows come group by group, in order but for that, and go on to take. Those with the same vertices at
// the end of what came so far, of which more may come, are in a sorter, which bounds their memory.
type edgeTies struct {
	ctx  context.Context
	take func(g rowGroup, rows []uint32) error

	group  rowGroup
	like   []uint32 // the vertices of the rows in the sorter, or nil
	sorter rowsort.Sorter
	file   rowsort.File
}

// edgeTies returns ties whose rows go on to take.
func (b *Backend) edgeTies(ctx context.Context, take func(g rowGroup, rows []uint32) error) *edgeTies {
	return &edgeTies{ctx: ctx, take: take, sorter: rowsort.Sorter{Memory: b.opt.CPU.GroupMemory},
		file: rowsort.File{Open: b.opt.CPU.TempFiles}}
}

// rows takes rows of a group. It may change their order.
func (t *edgeTies) rows(g rowGroup, rows []uint32) error {
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

// hold keeps rows with the same vertices until it is known whether more of them come.
func (t *edgeTies) hold(rows []uint32) error {
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

// flush passes on what is held, in order.
func (t *edgeTies) flush() error {
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

// close drops what is held.
func (t *edgeTies) close() {
	t.sorter.Drop()
	t.sorter.Release()
	t.file.Close()
}

// sort sorts rows that have the same vertices.
func (t *edgeTies) sort(rows []uint32) {
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
