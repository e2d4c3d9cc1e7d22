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
	endings []endingKind
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
	return at, l
}
