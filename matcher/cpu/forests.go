package cpu

import (
	"context"

	"motifd/matcher"
)

// group reads the net edges of the staged batch by their labels, once.
func (b *Backend) group() {
	if b.read != b.phase {
		b.read = b.phase
		b.nets.Read(b.g, b.delta, b.phase)
	}
}

// keeper returns what branches are kept with.
func (b *Backend) keeper(ctx context.Context) keeper {
	s := &b.branches.scratch
	if n := int(b.g.IDBound()); n > len(s.ways) {
		s.ways = make([]uint64, n)
	}
	return keeper{g: b.g, adj: b.adjacency(), orders: b.g.OrderTable(), ctx: ctx, scratch: s}
}

// keepBranches drops the branches that no plan has any more.
func (b *Backend) keepBranches() {
	kept := map[string]*branch{}
	b.nets.Retain(func() {
		for _, c := range b.plans {
			if c.forest != nil {
				c.forest.keepGroups()
				for _, br := range c.forest.all {
					kept[br.key] = br
				}
			}
		}
	})
	b.branches.all = kept
}

// dropForests has everything counted from net edges, for plans as they are.
func (b *Backend) dropForests() {
	for _, c := range b.plans {
		c.forest = nil
	}
	b.keepBranches()
}

// stale returns how many branches of what is requested are to be built: those that are not, or did not follow a batch.
func (b *Backend) stale(reqs []matcher.Request) (n int) {
	for i := range reqs {
		if c := b.plans[reqs[i].Plan]; c != nil && c.forest != nil && reqs[i].Want == matcher.WantCount {
			for _, br := range c.forest.all {
				if !br.built || br.outdated() {
					n++
				}
			}
		}
	}
	return n
}

// build builds the branches that are to be built in the graph before the staged batch, as long as no other branch has
// it: where one was missed, or what is requested has such.
func (b *Backend) build(reqs []matcher.Request) {
	first := b.branches.asked != b.phase
	b.branches.asked = b.phase
	if first && b.branches.size(b.g, nil) > 2*b.branchRoom() { // vertices came without edges, of which many would have plans made anew
		b.dropForests()
	}
	if first && (b.branches.unbuilt || b.stale(reqs) > 0) {
		b.buildAll(b.phase - 1)
	}
}

// buildAll builds the branches that are not built, or outdated, in the graph as it was after a phase.
func (b *Backend) buildAll(phase uint64) {
	b.branches.unbuilt = false
	k, dropped := b.keeper(context.Background()), false
	for _, c := range b.plans {
		if c.forest == nil {
			continue
		}
		for _, br := range c.forest.all {
			if (!br.built || br.outdated()) && !br.build(&k, phase) {
				c.forest, dropped = nil, true // its numbers are too large
				break
			}
		}
	}
	if dropped {
		b.keepBranches()
	}
}

// advance brings a phase into the forests of what is requested.
func (b *Backend) advance(ctx context.Context, phase uint64, reqs []matcher.Request, results []matcher.Result) error {
	ready := false
	var k keeper
	for r := range reqs {
		req := &reqs[r]
		c := b.plans[req.Plan]
		if b.how(*req) != bySums || c.forest == nil || req.Before == 0 || c.grown == phase {
			continue
		}
		began := b.work.Now()
		if !ready {
			k, ready = b.keeper(ctx), true
		}
		k.steps, k.over = 0, false
		if c.forest.advance(&k, phase) {
			c.grown = phase
		} else {
			b.branches.unbuilt = true
			if k.over || c.forest.over() { // and so would be the next batches'
				c.forest = nil
				b.keepBranches()
			}
		}
		results[r].Steps += k.steps
		results[r].SearchNS += b.work.Now() - began
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// oneByOne reports whether a request asks for a sum of which some is counted from net edges one by one, once the
// forests have the phase.
func (b *Backend) oneByOne(req *matcher.Request, phase uint64) bool {
	if b.how(*req) != bySums || req.Before == 0 {
		return false
	}
	f := b.grown(req, phase)
	return f == nil || f.cyclic
}

// grown returns the forest that answers a request in a phase, nil if none does.
func (b *Backend) grown(req *matcher.Request, phase uint64) *forest {
	if c := b.plans[req.Plan]; c.grown == phase && req.Want == matcher.WantCount && req.Before > 0 {
		return c.forest
	}
	return nil
}

// endBranches ends the staged batch for the branches.
func (b *Backend) endBranches(committed bool) {
	if len(b.branches.all) == 0 {
		return
	}
	if committed {
		b.group()
		b.nets.Commit(b.phase)
		return
	}
	for _, br := range b.branches.all {
		if br.phase >= b.phase {
			br.built, b.branches.unbuilt = false, true
		}
	}
}
