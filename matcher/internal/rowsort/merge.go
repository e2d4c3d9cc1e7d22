package rowsort

import "slices"

// merge merges runs of one group with a heap of cursors.
type merge struct {
	of    *Layout
	heads []*cursor
	hi    []uint32
}

// newMerge merges the rows of runs whose vertices are in [lo, hi); nil is no bound.
func newMerge(l *Layout, runs []*run, lo, hi []uint32) (*merge, error) {
	m := &merge{of: l, hi: hi}
	for _, r := range runs {
		c, err := newCursor(r, lo, hi)
		if err != nil {
			return nil, err
		}
		if c != nil {
			m.heads = append(m.heads, c)
		}
	}
	for i := len(m.heads)/2 - 1; i >= 0; i-- {
		m.sift(i)
	}
	return m, nil
}

func (m *merge) before(a, b *cursor) bool {
	if a.key != b.key {
		return a.key < b.key
	}
	if c := slices.Compare(a.row[2:m.of.Vertices], b.row[2:m.of.Vertices]); c != 0 || m.of.Determined {
		return c < 0
	}
	return m.of.compareEdges(a.row, b.row) < 0
}

func (m *merge) sift(i int) {
	h := m.heads
	for {
		c := 2*i + 1
		if c >= len(h) {
			return
		}
		if c+1 < len(h) && m.before(h[c+1], h[c]) {
			c++
		}
		if !m.before(h[c], h[i]) {
			return
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}

// append appends the next rows to dst, at most most.
func (m *merge) append(dst []uint32, most int) ([]uint32, error) {
	for most > 0 && len(m.heads) > 0 {
		c := m.heads[0]
		// The first cursor stays first as long as it is not behind the second.
		var second *cursor
		switch {
		case len(m.heads) > 2 && m.before(m.heads[2], m.heads[1]):
			second = m.heads[2]
		case len(m.heads) > 1:
			second = m.heads[1]
		}
		for {
			if c.mayReachHi && m.beyond(c) {
				m.heads = m.heads[:0]
				return dst, nil
			}
			dst = append(dst, c.row...)
			most--
			ok, err := c.next()
			if err != nil {
				return dst, err
			}
			if !ok {
				last := len(m.heads) - 1
				m.heads[0] = m.heads[last]
				m.heads = m.heads[:last]
				m.sift(0)
				break
			}
			if second != nil && m.before(second, c) {
				m.sift(0)
				break
			}
			if most == 0 {
				break
			}
		}
	}
	return dst, nil
}

// beyond reports whether a row is not before the bound.
func (m *merge) beyond(c *cursor) bool {
	hi := m.hi
	if k := uint64(hi[0])<<32 | uint64(hi[1]); c.key != k {
		return c.key > k
	}
	return slices.Compare(c.row[2:m.of.Vertices], hi[2:]) >= 0
}
