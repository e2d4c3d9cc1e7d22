//go:build cuda || emu

package cuda

import (
	"context"
	"runtime"
	"slices"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/cuda/device"
	"motifd/matcher/cuda/placement"
)

// Enumerate implements matcher.Backend. The device searches from every vertex that the first step of an order admits.
func (b *Backend) Enumerate(ctx context.Context, which dyngraph.Which, p *matcher.Plan, want matcher.Want, limit uint64,
	budget *matcher.Budget, emit func(matcher.Rows) error) (matcher.Result, error) {
	if b.plans[p] == nil {
		return matcher.Result{}, unprepared(p)
	}
	defer b.traced()
	defer b.graphPlaced()
	if b.lost || !b.takes(p, budget) {
		return b.cpu.Enumerate(ctx, which, p, want, limit, budget, emit)
	}
	if b.opt.Placement != nil && want == matcher.WantCount && budget == nil {
		return b.firstCount(ctx, which, p)
	}
	run := func(ctx context.Context, side placement.Side, emit func(matcher.Rows) error) (matcher.Result, error) {
		switch {
		case side == placement.CPU || b.lost:
			return b.cpu.Enumerate(ctx, which, p, want, limit, budget, emit)
		case want == matcher.WantRows:
			return b.rowsOrCPU(ctx, which, p, limit, budget, emit)
		}
		return b.totalOrCPU(ctx, which, p, want, budget)
	}
	if b.opt.Placement == nil {
		return run(ctx, placement.GPU, emit)
	}
	w := placement.Work{Want: want, Whole: true, Size: uint64(b.g.Edges())}
	w.Behind[placement.GPU], w.Own[placement.GPU] = b.first().mirror.Behind(b.delta)
	var r matcher.Result
	out := receiver{b: b, emit: emit}
	err := b.opt.Placement.Run(w, func(side placement.Side, limit int64) (placement.Cost, bool, error) {
		out.begin()
		b.caughtUp = 0
		took, done, err := b.timed(ctx, limit, func(ctx context.Context) (err error) {
			r, err = run(ctx, side, out.rows)
			return err
		})
		if out.refused != nil {
			return placement.Cost{}, true, out.refused
		}
		return placement.Cost{Search: max(0, took-out.took-b.caughtUp), CatchUp: b.caughtUp}, done, err
	})
	return r, err
}

// totalOrCPU answers Enumerate for a count or existence on the device. The CPU answers it instead if the device fails,
// if the count exceeds 128 bits, or if a limit is exceeded, since the CPU may need fewer steps.
func (b *Backend) totalOrCPU(ctx context.Context, which dyngraph.Which, p *matcher.Plan, want matcher.Want,
	budget *matcher.Budget) (matcher.Result, error) {
	r, wide, err := b.total(ctx, which, p, want, budget)
	if wide || err == errOver || b.failed(err) {
		again, err := b.cpu.Enumerate(ctx, which, p, want, 0, budget, nil)
		again.Steps, again.SearchNS = r.Steps+again.Steps, r.SearchNS+again.SearchNS
		return again, err
	}
	return r, err
}

// view returns a job that searches a view of the graph with one program.
func (b *Backend) view(which dyngraph.Which, program uint32, budget *matcher.Budget) *job {
	j := &job{
		sees:     kernels.SeeView,
		old:      which == dyngraph.Old,
		where:    b.replaces(),
		requests: 1,
		vertices: int(b.g.IDBound()),
		owner:    slices.Repeat([]uint32{kernels.None}, len(b.table.programs)),
	}
	j.owner[program] = 0
	j.meter = newMeter([]int{0}, func(int) *matcher.Budget { return budget }, make([]matcher.Result, 1))
	return j
}

// fewRoots: candidates that are fewer than this part of all vertices are taken from the filter's list of the vertices
// with their label; more are looked for among all vertices. Not tuned.
const fewRoots = 64

// roots returns the candidates of a pattern vertex, in ascending order.
func (b *Backend) roots(which dyngraph.Which, p *matcher.Plan, vertex int) []uint32 {
	test, bits, words := b.filter.Test(p, vertex), b.filter.Bits(), b.filter.Words()
	view, bound := b.g.View(which), int(b.g.IDBound())
	if b.filter.Fit(p, vertex) < bound/fewRoots {
		var few []uint32
		b.filter.Each(p, vertex, func(v dyngraph.VertexID) {
			if view.HasVertex(v) {
				few = append(few, uint32(v))
			}
		})
		slices.Sort(few)
		return few
	}
	parts := make([][]uint32, max(1, min(runtime.GOMAXPROCS(0), bound/device.Chunk)))
	device.InParallel(len(parts), func(i int) {
		var all []uint32
		for v := i * bound / len(parts); v < (i+1)*bound/len(parts); v++ {
			if test.Of(bits[v*words:]) && view.HasVertex(dyngraph.VertexID(v)) {
				all = append(all, uint32(v))
			}
		}
		parts[i] = all
	})
	return slices.Concat(parts...)
}

// total answers Enumerate for a count or existence. wide is true if the count exceeds 128 bits.
func (b *Backend) total(
	ctx context.Context,
	which dyngraph.Which,
	p *matcher.Plan,
	want matcher.Want,
	budget *matcher.Budget,
) (r matcher.Result, wide bool, err error) {
	var steps uint64
	var ns int64
	for {
		r, wide, err = b.totalOnce(ctx, which, p, want, budget)
		r.Steps, r.SearchNS = r.Steps+steps, r.SearchNS+ns
		if err != errAgain {
			return r, wide, err
		}
		steps, ns = r.Steps, r.SearchNS
	}
}

// totalOnce is total, but it may return errAgain.
func (b *Backend) totalOnce(
	ctx context.Context,
	which dyngraph.Which,
	p *matcher.Plan,
	want matcher.Want,
	budget *matcher.Budget,
) (r matcher.Result, wide bool, err error) {
	if err = b.catchUp(ctx, which); err != nil {
		return r, false, err
	}
	program := b.plans[p].countAll
	if want == matcher.WantAny {
		program = b.plans[p].anyAll
	}
	j := b.view(which, program, budget)
	defer func() {
		r.Steps, r.SearchNS = j.meter.results[0].Steps, j.meter.results[0].SearchNS
		if err != nil {
			j.meter.giveBack()
		}
		if err == errOver && r.Witness != nil {
			err = nil
		}
	}()
	if err := j.meter.err(); err != nil {
		return r, false, err
	}
	j.found = func(_ uint32, row []uint32) {
		if r.Witness == nil {
			r.Witness, r.Count = row, matcher.CountOf(1)
		}
	}
	t := b.totals(j, b.g.Vertices())
	for roots := range slices.Chunk(b.roots(which, p, p.Static().Steps[0].Vertex),
		b.first().run.opt.Tasks*len(b.sides)) {
		work := &tasks{net: roots}
		work.add(program, 0, 0, len(roots))
		if err := t.search(ctx, work); err != nil {
			return r, false, err
		}
	}
	if want == matcher.WantCount {
		var sum matcher.Count
		sum, wide = t.counted(0)
		r.Count = perUnit(p, sum)
	}
	return r, wide, nil
}
