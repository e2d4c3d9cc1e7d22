package cpu

import (
	"sync"

	"motifd/matcher"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/internal/candidates"
)

// canons are the canonical orders of a plan that were asked for: the static one, then by anchored order.
type canons struct {
	mu  sync.Mutex
	all []*program.CanonicalOrder
}

// canonical returns the canonical order that begins with anchored order i, or with -1 the one that begins with the
// pattern's first vertex.
func (c *compiled) canonical(f *candidates.Filter, i int) *program.CanonicalOrder {
	c.canons.mu.Lock()
	defer c.canons.mu.Unlock()
	if c.canons.all == nil {
		c.canons.all = make([]*program.CanonicalOrder, len(c.plan.Anchored)+1)
	}
	at := &c.canons.all[i+1]
	switch {
	case *at != nil:
	case i < 0:
		*at = program.CompileCanonical(c.plan, f, &matcher.Order{Edge: -1, Steps: []matcher.Step{{}}}, 1)
	default:
		*at = program.CompileCanonical(c.plan, f, &c.plan.Anchored[i], 2)
	}
	return *at
}
