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

// rooted returns a matching order for a whole graph that begins at a vertex of the pattern. The vertex with most back
// edges comes next, and so on.
func rooted(p *matcher.Plan, first int) *matcher.Order {
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
	add(first, nil)
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

// rowsOf answers Enumerate for rows. The canonical order of rows compares the pattern's first vertex first (DESIGN S7),
// so the search goes in waves of its images (roots) with ascending ids, and rows are sorted wave by wave. If another
// pattern vertex is rare, the search begins at that one's images instead, in a single wave; if that is given up, it
// begins again at the first vertex. With a budget, rows are emitted after all have been found, because a search that
// exceeds the budget emits none.
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
	if v := b.rarest(p); v > 0 && limit == 0 {
		b.rare.begun++
		r, err = b.rowsFrom(ctx, which, p, v, limit, budget, emit)
		if err != errDear {
			return r, err
		}
		b.rare.givenUp++
	}
	steps, took := r.Steps, r.SearchNS
	r, err = b.rowsFrom(ctx, which, p, 0, limit, budget, emit)
	r.Steps, r.SearchNS = r.Steps+steps, r.SearchNS+took
	return r, err
}

// rarer is the default of Options.Rarer. Not tuned.
const rarer = 8

// rareSearches counts the searches for rows that began at a rarest pattern vertex, and those of them that were given
// up.
type rareSearches struct{ begun, givenUp uint64 }

// rarest returns the pattern vertex with the fewest candidates if it is so rare that a search for the rows of a whole
// graph begins there, and otherwise the first vertex. A search from the rarest has one device, and one wave.
func (b *Backend) rarest(p *matcher.Plan) (v int) {
	for w := range p.Query.Vertices {
		if b.filter.Fit(p, w) < b.filter.Fit(p, v) {
			v = w
		}
	}
	fit := b.filter.Fit(p, v)
	if fit > b.opt.Tasks || b.opt.Rarer*float64(max(1, fit*len(b.sides))) > float64(b.filter.Fit(p, 0)) {
		return 0
	}
	return v
}

// rootedAt returns the program for rows in any order from the images of a pattern vertex.
func (b *Backend) rootedAt(p *matcher.Plan, vertex int) uint32 {
	program := &b.plans[p].rootedAt[vertex]
	if *program == kernels.None {
		t := b.table
		*program = t.add(t.program(p, rooted(p, vertex), b.filter, kernels.ModeRows, inView))
		for _, s := range b.sides {
			s.run.uploaded = false
		}
	}
	return *program
}

// rowsFrom is rowsOf from the images of the pattern's first vertex, or of its rarest one. From the rarest one it emits
// nothing and returns errDear if the rows do not fit the row buffer, if the steps that find no row are more than a
// space would cost, or if all steps are more than the budget has: in the pattern's order, they may be fewer.
func (b *Backend) rowsFrom(
	ctx context.Context,
	which dyngraph.Which,
	p *matcher.Plan,
	vertex int,
	limit uint64,
	budget *matcher.Budget,
	emit func(matcher.Rows) error,
) (r matcher.Result, err error) {
	program, spaced, oneWave := b.plans[p].rooted, b.plans[p].spaced, vertex > 0
	if oneWave {
		program = b.rootedAt(p, vertex)
		spaced = program
	}
	layout := b.plans[p].layout
	width := layout.Width()
	j := b.view(which, program, budget)
	j.owner[spaced] = 0
	spent := &j.meter.results[0]
	defer func() { r.Steps, r.SearchNS = spent.Steps, spent.SearchNS }()
	if r.Over = j.meter.each[0].Over(); r.Over != matcher.NoCause {
		return r, nil
	}
	first := b.roots(which, p, vertex)
	roots := make([]kernels.Task, len(first))
	for i, v := range first {
		roots[i] = kernels.Task{Program: program, Net: v}
	}
	rate, tasks := -1.0, len(roots)
	if oneWave {
		j.turns, j.most = min(leastTurns, b.opt.Slice), b.first().run.spaceCost(program, j.vertices)
		tasks = 1 // not worth more than one device
	}
	w, err := b.waves(j, &rate, tasks, 0, uint32(b.g.IDBound()))
	if err != nil {
		return r, err
	}
	w.slowStart = limit > 0
	for _, s := range w.producers {
		s.space.from, s.space.to = program, spaced
	}
	groups := []rowGroup{{layout: layout}}
	w.fill = func(_ []kernels.Task, from, to uint32, size int) ([]kernels.Task, []rowGroup) {
		at := sort.Search(len(roots), func(i int) bool { return roots[i].Net >= from })
		end := at + sort.Search(len(roots)-at, func(i int) bool { return roots[at+i].Net >= to })
		if oneWave {
			size = end - at
		}
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
	if err == errOver && r.Over == matcher.NoCause {
		r.Over = cmp.Or(j.meter.each[0].Over(), matcher.CauseSpill)
	}
	if steps := r.Over == matcher.CauseSteps || r.Over == matcher.CauseSpent; oneWave && (err == errDear || steps) {
		j.meter.giveBack()
		j.meter.each[0].Restart()
		return r, errDear
	}
	if err == errOver { // no row is emitted; the CPU would exceed the limit too
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
