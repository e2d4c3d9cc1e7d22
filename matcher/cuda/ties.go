//go:build cuda || emu

package cuda

import (
	"cmp"
	"slices"

	"motifd/dyngraph"
)

// ties puts rows with the same vertices in order, by the identities of their edges (DESIGN S7), which the device does not know. Rows
// come group by group, in order but for that, and go on to take. Those with the same vertices that exceed the spill's memory are sorted in pieces, which are merged.
type ties struct {
	view  dyngraph.View
	take  func(g rowGroup, rows []uint32) error
	spill spill

	group rowGroup
	like  []uint32 // the vertices of the rows that are held, or nil
	held  []uint32 // the last rows of the group, with the same vertices: more may come
	parts []*part  // those before them
}

// ties returns ties whose rows go on to take.
func (b *Backend) ties(take func(g rowGroup, rows []uint32) error) *ties {
	return &ties{view: b.g.View(dyngraph.New), take: take, spill: spill{dir: b.opt.CPU.SpillDir, memory: b.opt.CPU.GroupMemory}}
}

// rows takes rows of a group. It may change their order.
func (t *ties) rows(g rowGroup, rows []uint32) error {
	if g != t.group {
		if err := t.flush(); err != nil {
			return err
		}
		t.group = g
	}
	same := func(a, b []uint32) bool { return slices.Equal(a[:g.vertices], b[:g.vertices]) }
	if t.like != nil {
		n := 0
		for n < len(rows) && same(t.like, rows[n:]) {
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

// hold keeps rows until it is known whether more with the same vertices come.
func (t *ties) hold(rows []uint32) error {
	if t.like == nil {
		t.like = slices.Clone(rows[:t.group.vertices])
	}
	t.held = append(t.held, rows...)
	if 4*len(t.held) > t.spill.memory {
		return t.part()
	}
	return nil
}

// part moves the rows that are held to the spill, in order.
func (t *ties) part() error {
	p, err := t.spill.begin()
	if err != nil {
		return err
	}
	t.sort(t.held)
	err = t.spill.write(p, 0, t.group.width, t.held)
	t.held, t.parts = t.held[:0], append(t.parts, p)
	return err
}

// flush puts what is held in order and passes it on.
func (t *ties) flush() error {
	held, like := t.held, t.like
	t.held, t.like = t.held[:0], nil
	if like == nil {
		return nil
	}
	if len(t.parts) == 0 {
		t.sort(held)
		return t.take(t.group, held)
	}
	t.held = held
	if err := t.part(); err != nil {
		return err
	}
	n := t.group.vertices
	err := t.spill.merge(t.parts, func(_ int, a, b []uint32) int { return t.compareEdges(a[n:t.group.width], b[n:t.group.width]) },
		func(_ int, rows []uint32) error { return t.take(t.group, rows) })
	t.close()
	return err
}

// close drops what was spilled.
func (t *ties) close() {
	t.spill.close()
	t.parts = nil
}

// sort sorts rows that have the same vertices.
func (t *ties) sort(rows []uint32) {
	if len(rows) == t.group.width {
		return
	}
	sorted := slices.Collect(slices.Chunk(slices.Clone(rows), t.group.width))
	slices.SortFunc(sorted, func(a, b []uint32) int { return t.compareEdges(a[t.group.vertices:], b[t.group.vertices:]) })
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
