package cpu

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// columns numbers what neighbour lists are cached by, for all orders of a backend, and knows which lists a candidate bit is asked for
// by.
type columns struct {
	numbers map[column]int
	lists   [][]kindOfList // by class
	wild    bool           // some lists have neighbours of any label
	endings map[endingKind]uint32
	steps   map[string]stepKind
	asked   [64]uint64 // a bit for the labels that a list has: its vertex's and the neighbours', hashed
}

// of returns the number of a column, and the lane of its lists. They are those of vertices of one label, the reader; vertices of
// another label, nbr, and of any of the classes are in them.
func (c *columns) of(key column, reader, nbr dyngraph.LabelID, classes ...int) (int, lane) {
	if c.numbers == nil {
		c.numbers = map[column]int{}
	}
	at, ok := c.numbers[key]
	if !ok {
		at = len(c.numbers)
		c.numbers[key] = at
	}
	l := lane{labelLane(nbr), columnLane(at)}
	c.wild = c.wild || nbr == matcher.AnyLabel
	for _, class := range classes {
		for class >= len(c.lists) {
			c.lists = append(c.lists, nil)
		}
		if k := (kindOfList{l.column, reader}); !slices.Contains(c.lists[class], k) {
			c.lists[class] = append(c.lists[class], k)
		}
	}
	c.ask(reader, nbr)
	return at, l
}

// ask notes that there are lists of neighbours with a label, of vertices of the reader's.
func (c *columns) ask(reader, nbr dyngraph.LabelID) {
	if reader == matcher.AnyLabel {
		for i := range c.asked {
			c.asked[i] = ^uint64(0)
		}
	}
	h := askHash(reader, nbr)
	c.asked[h/64] |= 1 << (h % 64)
}

// asks reports whether there are lists of neighbours with a label, of vertices of the reader's. Now and then it says so where there are none.
func (c *columns) asks(reader, nbr dyngraph.LabelID) bool {
	h := askHash(reader, nbr)
	return c.asked[h/64]>>(h%64)&1 != 0
}

// askHash has 12 bits.
func askHash(reader, nbr dyngraph.LabelID) uint64 {
	return (uint64(reader)<<32 | uint64(nbr)) * 0x9e3779b97f4a7c15 >> 52
}
