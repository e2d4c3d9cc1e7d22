package space

import (
	"motifd/dyngraph"
	"motifd/matcher/internal/candidates"
)

// Changes lists the changes of the graph by batches, for the kept spaces: each space reads the new ones when it is
// refreshed. A change holds for the graph with its batch staged, where edges of both views are, or from its end on.
type Changes struct {
	list  []Change
	first uint64 // number of the first one in list
}

// Change is a change of the graph.
type Change struct {
	From, To dyngraph.VertexID // of an edge; From is the vertex of a bit
	Class    int32             // of a bit
	What     What
}

// What is the kind of a Change.
type What uint8

// The whats.
const (
	NewEdge  What = iota // an edge, or a version of one, that may support bits
	LostEdge             // one that no longer does
	Bit                  // a candidate bit of the filter
)

// End is the number of the next change.
func (c *Changes) End() uint64 { return c.first + uint64(len(c.list)) }

// Len is the number of changes that are remembered.
func (c *Changes) Len() uint64 { return uint64(len(c.list)) }

// Since returns the changes from a number on; false when they are forgotten.
func (c *Changes) Since(n uint64) ([]Change, bool) {
	if n < c.first {
		return nil, false
	}
	return c.list[n-c.first:], true
}

// Forget forgets all changes before a number.
func (c *Changes) Forget(n uint64) {
	c.list = append(c.list[:0], c.list[min(n, c.End())-c.first:]...)
	c.first = max(c.first, n)
}

// Stage notes a batch that was staged.
func (c *Changes) Stage(d *dyngraph.Delta, changed []candidates.Change) {
	c.edges(d, dyngraph.Inserted, NewEdge)
	c.bits(changed)
}

// EndBatch notes that the staged batch was committed, or aborted.
func (c *Changes) EndBatch(d *dyngraph.Delta, changed []candidates.Change, committed bool) {
	if committed {
		c.edges(d, dyngraph.Deleted, LostEdge)
	} else {
		c.edges(d, dyngraph.Inserted, LostEdge)
	}
	c.bits(changed)
}

func (c *Changes) edges(d *dyngraph.Delta, sign dyngraph.Sign, what What) {
	for i := range d.Net {
		if n := &d.Net[i]; n.Sign == sign && !n.Vertex {
			c.list = append(c.list, Change{From: n.From, To: n.To, What: what})
		}
	}
}

func (c *Changes) bits(changed []candidates.Change) {
	for _, x := range changed {
		c.list = append(c.list, Change{From: x.Vertex, Class: x.Class, What: Bit})
	}
}
