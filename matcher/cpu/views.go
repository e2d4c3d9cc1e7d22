package cpu

import (
	"context"

	"motifd/matcher"
	"motifd/matcher/cpu/ivm"
)

// group reads the net edges of the staged batch by their labels, once.
func (b *Backend) groupNetEdges() {
	if b.read != b.phase {
		b.read = b.phase
		b.nets.Read(b.g, b.delta, b.phase)
	}
}

// keepBranches drops the branches that no plan has any more.
func (b *Backend) retainViews() {
	var forests []*ivm.ViewSet
	for _, c := range b.plans {
		if c.views != nil {
			forests = append(forests, c.views)
		}
	}
	b.views.Retain(forests)
}

// dropForests has everything counted from net edges, for plans as they are.
func (b *Backend) dropViews() {
	for _, c := range b.plans {
		c.views = nil
	}
	b.retainViews()
}

// stale returns how many branches of what is requested are to be built.
func (b *Backend) staleViews(reqs []matcher.Request) (n int) {
	for i := range reqs {
		if c := b.plans[reqs[i].Plan]; c != nil && c.views != nil && reqs[i].Want == matcher.WantCount {
			n += c.views.Stale()
		}
	}
	return n
}

// build builds the branches that are to be built in the graph before the staged batch, as long as no other branch has
// it: where one was missed, or what is requested has such.
func (b *Backend) buildViews(reqs []matcher.Request) {
	if b.counted == b.phase {
		return
	}
	b.counted = b.phase
	if b.views.Overgrown() {
		b.dropViews()
	}
	if b.views.Unbuilt || b.staleViews(reqs) > 0 {
		b.buildStaleViews(b.phase - 1)
	}
}

// buildAll builds the branches that are not built, or outdated, in the graph as it was after a phase.
func (b *Backend) buildStaleViews(phase uint64) {
	b.views.Unbuilt = false
	k, dropped := b.views.Maintainer(context.Background(), b.labelIndex()), false
	for _, c := range b.plans {
		if c.views != nil && !c.views.Build(&k, phase) {
			c.views, dropped = nil, true
		}
	}
	if dropped {
		b.retainViews()
	}
}

// advance brings a phase into the forests of what is requested.
func (b *Backend) advanceViews(ctx context.Context, phase uint64, reqs []matcher.Request, results []matcher.Result) error {
	ready := false
	var k ivm.Maintainer
	for r := range reqs {
		req := &reqs[r]
		c := b.plans[req.Plan]
		if b.how(*req) != bySums || c.views == nil || req.Before == 0 || c.viewsPhase == phase {
			continue
		}
		began := b.work.Now()
		if !ready {
			k, ready = b.views.Maintainer(ctx, b.labelIndex()), true
		}
		k.Steps, k.Overflow = 0, false
		if c.views.Advance(&k, phase) {
			c.viewsPhase = phase
		} else {
			b.views.Unbuilt = true
			if k.Overflow || c.views.Overflowed() { // and so would be the next batches'
				c.views = nil
				b.retainViews()
			}
		}
		results[r].Steps += k.Steps
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
	f := b.viewsAt(req, phase)
	return f == nil || f.Cyclic
}

// grown returns the forest that answers a request in a phase, nil if none does.
func (b *Backend) viewsAt(req *matcher.Request, phase uint64) *ivm.ViewSet {
	if c := b.plans[req.Plan]; c.viewsPhase == phase && req.Want == matcher.WantCount && req.Before > 0 {
		return c.views
	}
	return nil
}

// endBranches ends the staged batch for the branches.
func (b *Backend) endViews(committed bool) {
	switch {
	case b.views.Len() == 0:
	case committed:
		b.groupNetEdges()
		b.nets.Commit(b.phase)
	default:
		b.views.Abort(b.phase)
	}
}
