package cpu

import (
	"sync"

	"motifd/matcher"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/internal/candidates"
)

// canons are the canonical orders of a plan that were asked for: the static one, those by anchored order, then
// those for revised vertices.
type canons struct {
	mu  sync.Mutex
	all []*program.CanonicalOrder
}

// canonical returns the canonical order that begins with anchored order i, or with -1 the one that begins with the
// pattern's first vertex.
func (c *compiled) canonical(f candidates.Source, i int) *program.CanonicalOrder {
	if i < 0 {
		return c.canonicalOf(f, 0, &matcher.Order{Edge: -1, Steps: []matcher.Step{{}}}, 1)
	}
	return c.canonicalOf(f, 1+i, &c.plan.Anchored[i], 2)
}

// canonicalRevised returns the canonical order that begins as the order of index at for revised vertices does.
func (c *compiled) canonicalRevised(f candidates.Source, at int) *program.CanonicalOrder {
	return c.canonicalOf(f, 1+len(c.plan.Anchored)+at, &c.plan.Revised[at], 1)
}

// canonicalOf returns the canonical order of a number that begins with the first steps of o.
func (c *compiled) canonicalOf(f candidates.Source, number int, o *matcher.Order, fixed int) *program.CanonicalOrder {
	c.canons.mu.Lock()
	defer c.canons.mu.Unlock()
	if c.canons.all == nil {
		c.canons.all = make([]*program.CanonicalOrder, 1+len(c.plan.Anchored)+len(c.plan.Revised))
	}
	at := &c.canons.all[number]
	if *at == nil {
		*at = program.CompileCanonical(c.plan, f, o, fixed)
	}
	return *at
}
