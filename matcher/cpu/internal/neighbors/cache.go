package neighbors

import (
	"cmp"

	"motifd/dyngraph"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/internal/candidates"
)

// Options are for tests; the zero value is for production.
type Options struct {
	ListEntries   int    // bounds the entries that are cached
	EpochAdvances uint64 // how often epochs are advanced before they start over
}

// Cache holds what the workers of a backend have found in the graph.
type Cache struct {
	Options Options
	Keys    *program.ListKeys // of all its lists; nil leaves them unknown
	Workers int               // that write to it
	epochs  epochs
	lists   sharedLists
}

// Load makes the cache ready for another graph. vertices is the number of its vertex ids.
func (c *Cache) Load(vertices int) {
	c.epochs = epochs{}
	c.epochs.grow(vertices)
	c.Drop()
}

// Drop empties the cache.
func (c *Cache) Drop() {
	c.lists.now.Store(nil)
}

// mostSpare is the largest number of slots, and a hundredth of that of entries, of a cache whose memory is kept.
const mostSpare = 1 << 12

// Spare makes the cache of a search that has ended ready for another one, with no epochs. It reports false if there is
// too much memory in it to be kept.
func (c *Cache) Spare() bool {
	t := c.lists.now.Load()
	if t == nil || len(t.slots) > mostSpare || t.store.taken.Load() > 100*mostSpare {
		return false
	}
	clear(t.slots)
	t.used.Store(0)
	t.store.empty()
	return true
}

// Outdate outdates what a staged batch changes.
func (c *Cache) Outdate(g *dyngraph.Graph, d *dyngraph.Delta, changed []candidates.Change, keys *program.ListKeys) {
	if c.epochs.outdate(g, d, changed, keys, cmp.Or(c.Options.EpochAdvances, maxAdvances)) {
		c.Drop()
	}
}

// Advanced returns how often epochs were advanced since they last started over.
func (c *Cache) Advanced() uint64 { return c.epochs.advances }

// Restarts returns how often the cache of lists was full and started over.
func (c *Cache) Restarts() int { return int(c.lists.restarts.Load()) }
