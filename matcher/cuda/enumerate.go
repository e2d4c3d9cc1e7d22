//go:build cuda || emu

package cuda

import (
	"context"
	"slices"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher"
)

// Enumerate implements matcher.Backend: on the device, from every vertex that the first step of an order admits.
func (b *Backend) Enumerate(ctx context.Context, which dyngraph.Which, p *matcher.Plan, want matcher.Want, limit uint64,
	budget *matcher.Budget, emit func(matcher.Rows) error) (matcher.Result, error) {
	if b.plans[p] == nil {
		return matcher.Result{}, unprepared(p)
	}
	defer b.traced()
	if b.lost || b.plans[p] == beyond || budget.Metered() || budget != nil && want == matcher.WantRows {
		// What is beyond a budget emits nothing: the device hands rows out root by root, so that the CPU has these.
		return b.cpu.Enumerate(ctx, which, p, want, limit, budget, emit)
	}
	run := func(ctx context.Context, side Side, emit func(matcher.Rows) error) (matcher.Result, error) {
		switch {
		case side == CPU || b.lost:
			return b.cpu.Enumerate(ctx, which, p, want, limit, budget, emit)
		case want == matcher.WantRows:
			return b.rowsOrCPU(ctx, which, p, limit, emit)
		}
		return b.totalOrCPU(ctx, which, p, want, budget)
	}
	if b.opt.Placement == nil {
		return run(ctx, GPU, emit)
	}
	w := Work{Want: want, Whole: true, Size: uint64(b.g.Edges())}
	w.Behind[GPU], w.Own[GPU] = b.mirror.behind(b.delta)
	var r matcher.Result
	out := receiver{b: b, emit: emit}
	err := b.opt.Placement.Run(w, func(side Side, limit int64) (Cost, bool, error) {
		out.begin()
		b.mirror.took = 0
		took, done, err := b.timed(ctx, limit, func(ctx context.Context) (err error) {
			r, err = run(ctx, side, out.rows)
			return err
		})
		if out.refused != nil {
			return Cost{}, true, out.refused
		}
		return Cost{Search: max(0, took-out.took-b.mirror.took), CatchUp: b.mirror.took}, done, err
	})
	return r, err
}

// totalOrCPU answers Enumerate for a count or existence on the device, or where that cannot be on the CPU.
func (b *Backend) totalOrCPU(ctx context.Context, which dyngraph.Which, p *matcher.Plan, want matcher.Want, budget *matcher.Budget) (matcher.Result, error) {
	within, cancel := ctx, func() {}
	if left := budget.Patience(); left > 0 {
		var stop context.CancelFunc
		within, stop = context.WithTimeout(ctx, left)
		cancel = stop
	}
	defer cancel()
	r, over, err := b.total(within, which, p, want)
	if over || b.failed(err) || impatient(ctx, within, err) {
		return b.cpu.Enumerate(ctx, which, p, want, 0, budget, nil)
	}
	return r, err
}

// total answers Enumerate for a count or existence; over tells that the count is beyond what the device counts.
func (b *Backend) total(ctx context.Context, which dyngraph.Which, p *matcher.Plan, want matcher.Want) (r matcher.Result, over bool, err error) {
	began := b.clock()
	err = b.mirror.catchUp(b.delta)
	b.mirror.took = b.clock() - began
	if err != nil {
		return r, false, err
	}
	programs := b.plans[p].of(want)
	program := programs[len(programs)-1]
	j := &job{graph: b.mirror.graph(), slots: b.mirror.slots(), sees: kernels.SeeView, old: which == dyngraph.Old, requests: 1, vertices: int(b.g.IDBound()),
		owner: slices.Repeat([]uint32{kernels.None}, len(b.run.table.programs))}
	j.owner[program] = 0
	j.found = func(_ uint32, row []uint32) {
		if r.Witness == nil {
			r.Witness, r.Count = row, matcher.CountOf(1)
		}
	}
	if err := b.run.begin(j); err != nil {
		return r, false, err
	}
	test, bits, words := b.filter.Test(p, p.Static.Steps[0].Vertex), b.filter.Bits(), b.filter.Words()
	var roots []uint32
	flush := func() error {
		b.run.kinds = nil
		if err := b.run.lane.put(&b.run.net, kernels.Bytes(roots)); err != nil {
			return err
		}
		err := b.run.total(ctx, j, []kernels.Run{{Program: program}}, len(roots))
		roots = roots[:0]
		return err
	}
	for v := range b.g.View(which).VerticesSeq() {
		if !test.Of(bits[int(v)*words:]) {
			continue
		}
		roots = append(roots, uint32(v))
		if len(roots) == b.opt.Tasks {
			if err := flush(); err != nil {
				return r, false, err
			}
		}
	}
	if err := flush(); err != nil {
		return r, false, err
	}
	counts, err := b.run.tallies(1)
	if err != nil {
		return r, false, err
	}
	r.Steps, r.SearchNS = counts[0].steps, b.clock()-began
	if want == matcher.WantCount {
		r.Count = perUnit(p, counts[0].count)
	}
	return r, want == matcher.WantCount && counts[0].over, nil
}
