//go:build cuda || emu

package cuda

import (
	"cmp"
	"slices"

	"motifd/dyngraph"
)

// ties puts rows with the same vertices in order, by the identities of their edges (DESIGN S7), which the device does not know. Rows
// come group by group, in order but for that, and go on to take.
type ties struct {
	view dyngraph.View
	take func(g rowGroup, rows []uint32) error
	most int // bytes of rows with the same vertices that are held; with more rows returns errFull

	group    rowGroup
	vertices int
	held     []uint32 // the last rows of the group, with the same vertices: more may come
}

// rows takes rows of a group, whose first columns are that many vertices. It may change their order.
func (t *ties) rows(g rowGroup, vertices int, rows []uint32) error {
	if g != t.group {
		if err := t.flush(); err != nil {
			return err
		}
		t.group, t.vertices = g, vertices
	}
	same := func(a, b []uint32) bool { return slices.Equal(a[:vertices], b[:vertices]) }
	if len(t.held) > 0 {
		n := 0
		for n < len(rows) && same(t.held, rows[n:]) {
			n += g.width
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
	for at := g.width; at < len(rows); at += g.width {
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

// hold keeps rows until it is known whether more with the same vertices come. When they are too many they are dropped, as if they had not
// been found: whoever goes on from what was taken finds them again.
func (t *ties) hold(rows []uint32) error {
	if 4*(len(t.held)+len(rows)) > t.most {
		t.held = nil
		return errFull
	}
	t.held = append(t.held, rows...)
	return nil
}

// flush puts what is held in order and passes it on.
func (t *ties) flush() error {
	held := t.held
	t.held = t.held[:0]
	if len(held) == 0 {
		return nil
	}
	t.sort(held)
	return t.take(t.group, held)
}

// sort sorts rows that have the same vertices.
func (t *ties) sort(rows []uint32) {
	if len(rows) == t.group.width {
		return
	}
	sorted := slices.Collect(slices.Chunk(slices.Clone(rows), t.group.width))
	slices.SortFunc(sorted, func(a, b []uint32) int { return t.compareEdges(a[t.vertices:], b[t.vertices:]) })
	for i, row := range sorted {
		copy(rows[i*t.group.width:], row)
	}
}

// compareEdges compares edges, one by one, by identity: source, target, label, as dense ids.
func (t *ties) compareEdges(a, b []uint32) int {
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		from, to, label := t.view.Edge(dyngraph.EdgeIndex(a[i]))
		otherFrom, otherTo, other := t.view.Edge(dyngraph.EdgeIndex(b[i]))
		if c := cmp.Or(cmp.Compare(from, otherFrom), cmp.Compare(to, otherTo), cmp.Compare(label, other)); c != 0 {
			return c
		}
	}
	return 0
}
