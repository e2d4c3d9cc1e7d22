//go:build cuda || emu

package cuda

import (
	"cmp"
	"context"
	"errors"
	"math"
	"sort"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/internal/rowsort"
)

// rooted returns a matching order for a whole graph that begins at the first vertex of the pattern. The canonical order
// of rows compares that vertex first (DESIGN S7), so rows are sorted one root (image of it) at a time. The vertex with
// most back edges comes next, and so on.
func rooted(p *matcher.Plan) *matcher.Order {
	q := p.Query
	o := &matcher.Order{Edge: -1}
	step := make([]int, len(q.Vertices))
	for v := range step {
		step[v] = -1
	}
	backs := func(v int) (all []matcher.BackEdge) {
		for i, e := range q.Edges {
			if e.From != v && e.To != v || step[e.From+e.To-v] < 0 {
				continue
			}
			b := matcher.BackEdge{Edge: i, Step: step[e.From+e.To-v], Label: p.EdgeLabels[i]}
			if p.Directed {
				b.Either = e.Either
				if e.From == v {
					b.Dir = dyngraph.In
				}
			}
			all = append(all, b)
		}
		return all
	}
	add := func(v int, back []matcher.BackEdge) {
		step[v] = len(o.Steps)
		o.Steps = append(o.Steps, matcher.Step{Vertex: v, Back: back})
	}
	add(0, nil)
	for len(o.Steps) < len(q.Vertices) { // a pattern is connected
		best, most := -1, []matcher.BackEdge(nil)
		for v := range step {
			if step[v] >= 0 {
				continue
			}
			if b := backs(v); len(b) > len(most) {
				best, most = v, b
			}
		}
		add(best, most)
	}
	return o
}

// errStopped ends a search whose further results are not wanted.
var errStopped = errors.New("stopped")

// rowsOf answers Enumerate for rows, in waves of roots with ascending ids. With a budget, rows are emitted after all
// have been found, because a search that exceeds the budget emits none.
func (b *Backend) rowsOf(
	ctx context.Context,
	which dyngraph.Which,
	p *matcher.Plan,
	limit uint64,
	budget *matcher.Budget,
	emit func(matcher.Rows) error,
) (r matcher.Result, err error) {
	if err = b.catchUp(ctx, which); err != nil {
		return r, err
	}
	program := b.plans[p].rooted
	layout := b.plans[p].layout
	width := layout.Width()
	j := b.view(which, program, budget)
	j.owner[b.plans[p].spaced] = 0
	spent := &j.meter.results[0]
	defer func() { r.Steps, r.SearchNS = spent.Steps, spent.SearchNS }()
	if r.Over = j.meter.each[0].Over(); r.Over != matcher.NoCause {
		return r, nil
	}
	first := b.roots(which, p, 0)
	roots := make([]kernels.Task, len(first))
	for i, v := range first {
		roots[i] = kernels.Task{Program: program, Net: v}
	}
	rate := -1.0
	w, err := b.waves(j, &rate, len(roots), 0, uint32(b.g.IDBound()))
	if err != nil {
		return r, err
	}
	w.slowStart = limit > 0
	for _, s := range w.producers {
		s.space.from, s.space.to = program, b.plans[p].spaced
	}
	groups := []rowGroup{{layout: layout}}
	w.fill = func(_ []kernels.Task, from, to uint32, size int) ([]kernels.Task, []rowGroup) {
		at := sort.Search(len(roots), func(i int) bool { return roots[i].Net >= from })
		end := at + sort.Search(len(roots)-at, func(i int) bool { return roots[at+i].Net >= to })
		return roots[at:min(at+size, end):end], groups
	}
	put := func(data []uint32) error {
		return emit(matcher.Rows{Vertices: layout.Vertices, Edges: layout.Edges, Data: data})
	}
	next, found := put, uint64(0)
	held := heldRows{layout: layout, memory: b.opt.CPU.GroupMemory,
		file: rowsort.File{Open: b.opt.CPU.TempFiles, Budget: budget}}
	defer held.close()
	if budget != nil {
		next = held.add
	}
	take := func(_ rowGroup, data []uint32) error {
		n := uint64(len(data) / width)
		if limit > 0 && found+n > limit {
			n, r.Truncated = limit-found, true
		}
		j.meter.each[0].Spend(0, n, 0) // shows progress
		if found += n; limit == 0 {
			if r.Over = budget.Beyond(found); r.Over != matcher.NoCause {
				return errOver
			}
		}
		if n > 0 {
			if err := next(data[:n*uint64(width)]); err != nil {
				return err
			}
		}
		if r.Truncated {
			return errStopped
		}
		return nil
	}
	w.overflow.file.Budget = budget
	t := b.edgeTieBreak(ctx, take)
	defer t.close()
	w.take, w.wanted = take, func(rowGroup) int { return -1 }
	if !layout.Determined {
		w.take = t.rows
	} else if limit > 0 {
		w.wanted = func(rowGroup) int { return int(min(limit-found, math.MaxInt32)) }
	}
	w.leftOut = func(rowGroup, int) error {
		r.Truncated = true
		return errStopped
	}
	if err = w.all(ctx); err == nil {
		err = t.flush()
	}
	if err == errOver { // no row is emitted; the CPU would exceed the limit too
		if r.Over == matcher.NoCause {
			r.Over = cmp.Or(j.meter.each[0].Over(), matcher.CauseSpill)
		}
		return matcher.Result{Over: r.Over}, nil
	}
	if err != nil && err != errStopped {
		return r, err
	}
	r.Count = matcher.CountOf(found)
	return r, held.each(ctx, put)
}

// rowsOrCPU answers Enumerate for rows on the device. If a device fails, those that are left find the rows again and
// continue after those that are emitted; after the last one, the CPU does.
func (b *Backend) rowsOrCPU(
	ctx context.Context,
	which dyngraph.Which,
	p *matcher.Plan,
	limit uint64,
	budget *matcher.Budget,
	emit func(matcher.Rows) error,
) (matcher.Result, error) {
	rest := receiver{b: b, emit: emit} // skips the rows that are emitted
	r, err := b.rowsOf(ctx, which, p, limit, budget, rest.rows)
	for b.dropped(err) {
		rest.begin()
		r, err = b.rowsOf(ctx, which, p, limit, budget, rest.rows)
	}
	if !b.failed(err) {
		return r, err
	}
	rest.begin()
	return b.cpu.Enumerate(ctx, which, p, matcher.WantRows, limit, budget, rest.rows)
}
