//go:build cuda || emu

package cuda

import "container/heap"

// mergedWords is how many words of rows are handed out at a time, about.
const mergedWords = 1 << 16

// merge merges parts: a heap of cursors.
type merge struct {
	heads   []*cursor
	compare func(group int, a, b []uint32) int
}

// cursor reads a part.
type cursor struct {
	runs  []run // from the present one on
	rows  int   // of it that are left
	at    int64 // of what has not been read
	words []uint32
	space []uint32
}

// merge hands out the rows of parts, by group, and in a group in the order that compare tells, those of a group in one call or several. They are borrowed.
func (s *spill) merge(parts []*part, compare func(group int, a, b []uint32) int, take func(group int, rows []uint32) error) error {
	if err := s.flush(); err != nil {
		return err
	}
	m := &merge{compare: compare}
	for _, p := range parts {
		if len(p.runs) == 0 {
			continue
		}
		c := &cursor{runs: p.runs, rows: p.runs[0].rows, at: p.at}
		width := 0
		for _, r := range p.runs {
			width = max(width, r.width)
		}
		c.space = make([]uint32, max(width, min(mergedWords, s.memory/(4*len(parts)))))
		if err := c.fill(s); err != nil {
			return err
		}
		m.heads = append(m.heads, c)
	}
	heap.Init(m)
	var out []uint32
	for len(m.heads) > 0 {
		c := m.heads[0]
		group, width := c.runs[0].group, c.runs[0].width
		var second *cursor
		switch {
		case len(m.heads) > 2 && m.Less(2, 1):
			second = m.heads[2]
		case len(m.heads) > 1:
			second = m.heads[1]
		}
		if second != nil && second.runs[0].group != group {
			second = nil
		}
		// The first cursor stays first as long as it is not behind the second.
		n, most := 1, min(c.rows, len(c.words)/width)
		for n < most && (second == nil || m.compare(group, c.words[n*width:], second.words) <= 0) {
			n++
		}
		out = append(out, c.words[:n*width]...)
		c.words, c.rows = c.words[n*width:], c.rows-n
		ended, err := c.next(s)
		if err != nil {
			return err
		}
		if ended {
			heap.Pop(m)
		} else {
			heap.Fix(m, 0)
		}
		if len(out) >= mergedWords || len(m.heads) == 0 || m.heads[0].runs[0].group != group {
			if err := take(group, out); err != nil {
				return err
			}
			out = out[:0]
		}
	}
	return nil
}

// next has a row ready, if there is one.
func (c *cursor) next(s *spill) (ended bool, err error) {
	if c.rows == 0 {
		if c.runs = c.runs[1:]; len(c.runs) == 0 {
			return true, nil
		}
		c.rows = c.runs[0].rows
	}
	if len(c.words) < c.runs[0].width {
		return false, c.fill(s)
	}
	return false, nil
}

// fill reads on.
func (c *cursor) fill(s *spill) error {
	left := c.rows * c.runs[0].width
	for _, r := range c.runs[1:] {
		if left >= len(c.space) {
			break
		}
		left += r.rows * r.width
	}
	n := copy(c.space, c.words)
	from := c.space[n:min(left, len(c.space))]
	if err := s.read(from, c.at); err != nil {
		return err
	}
	c.at += int64(4 * len(from))
	c.words = c.space[:n+len(from)]
	return nil
}

// Len implements heap.Interface.
func (m *merge) Len() int { return len(m.heads) }

// Less implements heap.Interface.
func (m *merge) Less(i, j int) bool {
	a, b := m.heads[i], m.heads[j]
	if x, y := a.runs[0].group, b.runs[0].group; x != y {
		return x < y
	}
	return m.compare(a.runs[0].group, a.words, b.words) < 0
}

// Swap implements heap.Interface.
func (m *merge) Swap(i, j int) { m.heads[i], m.heads[j] = m.heads[j], m.heads[i] }

// Push implements heap.Interface.
func (m *merge) Push(c any) { m.heads = append(m.heads, c.(*cursor)) }

// Pop implements heap.Interface.
func (m *merge) Pop() any {
	last := len(m.heads) - 1
	c := m.heads[last]
	m.heads = m.heads[:last]
	return c
}
