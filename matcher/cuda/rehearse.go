//go:build cuda || emu

package cuda

import (
	"context"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cuda/internal/mirror"
	"motifd/matcher/cuda/placement"
)

// rehearses reports whether there is a choice between CPU and GPU, and time left for warm-up benchmarks.
func (b *Backend) rehearses() bool {
	return b.opt.Placement != nil && !b.lost && b.opt.Placement.RehearsalLeft() > 0
}

// Rehearse implements matcher.Capabilities.Rehearse: a warm-up benchmark. Both sides search the staged batch, each kind
// of request alone, within the time that the Placement allows. The time excludes copying the graph to the device and
// building the index of the CPU.
func (b *Backend) Rehearse(ctx context.Context, reqs []matcher.Request) (more bool, err error) {
	if !b.rehearses() {
		return false, nil
	}
	if !mirror.Shows(b.delta) { // there is no choice for this batch
		return true, nil
	}
	p := b.opt.Placement
	if !b.first().mirror.Loaded {
		if err := b.catchUp(ctx, dyngraph.New); b.failed(err) {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	began, all := b.clock(), true
	for _, want := range []matcher.Want{matcher.WantCount, matcher.WantRows} {
		var of []int
		for i := range reqs {
			if reqs[i].Want == want && b.takes(reqs[i].Plan, reqs[i].Budget) {
				of = append(of, i)
			}
		}
		if len(of) == 0 {
			continue
		}
		for _, side := range []placement.Side{placement.CPU, placement.GPU} {
			done, err := b.rehearse(ctx, side, reqs, of)
			if err != nil || b.lost {
				return false, err
			}
			all = all && done
		}
	}
	return p.GoOn(b.clock()-began) && all, nil
}

// rehearse answers requests of one kind on one side, for both signs, and drops the results.
func (b *Backend) rehearse(ctx context.Context, side placement.Side, reqs []matcher.Request,
	of []int) (done bool, err error) {
	p := b.opt.Placement
	w := placement.Work{Want: reqs[of[0]].Want}
	size, more := b.fits.Size(b.g, b.delta, dyngraph.Deleted, reqs, of)
	w.Size = size + more
	w.Behind[placement.CPU], w.Own[placement.CPU] = b.cpu.Behind(requestsOf(reqs, of))
	w.Behind[placement.GPU], w.Own[placement.GPU] = b.first().mirror.Behind(b.delta)
	var all placement.Cost
	done = true
	for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
		if !slices.ContainsFunc(b.delta.Net, func(n dyngraph.NetEdge) bool { return n.Sign == sign }) {
			continue
		}
		limit := p.RehearsalLeft() - all.Search
		if done = limit > 0; !done {
			break
		}
		s := newBatchSearch(b, sign, reqs, func(matcher.Group) error { return nil }, nil)
		var cost placement.Cost
		if cost, done, err = s.runner(ctx, of)(side, limit); err != nil {
			return false, err
		}
		all.Search, all.CatchUp = all.Search+cost.Search, all.CatchUp+cost.CatchUp
		if !done {
			break
		}
	}
	p.Rehearsed(w, side, all, done)
	return done, nil
}
