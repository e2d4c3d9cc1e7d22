package cpu

import (
	"context"

	"motifd/matcher"
	"motifd/matcher/cpu/internal/ivm"
)

// groupNetEdges groups the net edges of the staged batch by label triple, once.
func (b *Backend) groupNetEdges() {
	if b.read != b.phase {
		b.read = b.phase
		b.nets.Read(b.g, b.delta, b.phase)
	}
}

// retainViews drops the views that no plan has.
func (b *Backend) retainViews() {
	var sets []*ivm.ViewSet
	for _, c := range b.plans {
		if c.views != nil {
			sets = append(sets, c.views)
		}
	}
	b.views.Retain(sets)
}

// dropViews drops all views: plans as they are are counted from net edges.
func (b *Backend) dropViews() {
	for _, c := range b.plans {
		c.views = nil
	}
	b.retainViews()
}

// staleViews returns the number of requested views that are to be built.
func (b *Backend) staleViews(reqs []matcher.Request) (n int) {
	for i := range reqs {
		if c := b.plans[reqs[i].Plan]; c != nil && c.views != nil && reqs[i].Want == matcher.WantCount {
			n += c.views.Stale()
		}
	}
	return n
}

// buildViews builds views in the graph before the staged batch, once a batch, if one missed a batch or a requested one
// is stale.
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

// buildStaleViews builds the views that are not built, or missed a batch, in the graph as it was after a phase.
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

// advanceViews brings a phase into the views of what is requested. It returns how long it took.
func (b *Backend) advanceViews(
	ctx context.Context,
	phase uint64,
	reqs []matcher.Request,
	results []matcher.Result,
) (took int64, err error) {
	ready := false
	var k ivm.Maintainer
	for r := range reqs {
		req := &reqs[r]
		c := b.asks[r].c
		if b.asks[r].how != bySums || c.views == nil || req.Before == 0 || c.viewsPhase == phase {
			continue
		}
		began := b.work.Now()
		if !ready {
			k, ready = b.views.Maintainer(ctx, b.labelIndex()), true
		}
		k.Steps = 0
		if c.views.Advance(&k, phase) {
			c.viewsPhase = phase
		} else {
			b.views.Unbuilt = true
			if c.views.Overflowed() { // and so would be the next batches'
				c.views = nil
				b.retainViews()
			}
		}
		results[r].Steps += k.Steps
		ns := b.work.Now() - began
		results[r].SearchNS += ns
		took += ns
		if err := ctx.Err(); err != nil {
			return took, err
		}
	}
	return took, nil
}

// oneByOne reports whether a request asks for a sum that is counted from net edges, in part or whole, once the views
// have the phase.
func (b *Backend) oneByOne(c *compiled, req *matcher.Request, phase uint64) bool {
	if b.how(c, req) != bySums || req.Before == 0 {
		return false
	}
	f := b.viewsAt(c, req, phase)
	return f == nil || f.Cyclic
}

// viewsAt returns the views that answer a request in a phase, nil if none do.
func (b *Backend) viewsAt(c *compiled, req *matcher.Request, phase uint64) *ivm.ViewSet {
	if c.viewsPhase == phase && b.how(c, req) == bySums && req.Before > 0 {
		return c.views
	}
	return nil
}

// endViews ends the staged batch for the views.
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
