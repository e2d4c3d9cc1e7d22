//go:build cuda || emu

package cuda_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"motifd/matcher"
)

// orderCheck looks at some of the rows that it gets: whether they ascend, and their groups do.
type orderCheck struct {
	rng    *rand.Rand
	rows   uint64
	last   []uint32
	order  uint32
	failed string
}

func (c *orderCheck) group(g matcher.Group) error {
	n := g.Rows.Len()
	v := g.Rows.Vertices
	if g.Order < c.order {
		c.failed = fmt.Sprintf("anchor %d after %d", g.Order, c.order)
	}
	if g.Order == c.order && c.last != nil && slices.Compare(c.last, g.Rows.Row(0)[:v]) >= 0 {
		c.failed = fmt.Sprintf("row %v after %v", g.Rows.Row(0), c.last)
	}
	for range min(n-1, 1+n/1000) {
		i := c.rng.IntN(n - 1)
		if a, b := g.Rows.Row(i)[:v], g.Rows.Row(i + 1)[:v]; slices.Compare(a, b) >= 0 {
			c.failed = fmt.Sprintf("row %v after %v", b, a)
		}
	}
	c.order, c.last = g.Order, append(c.last[:0], g.Rows.Row(n - 1)[:v]...)
	c.rows += uint64(n)
	return nil
}
