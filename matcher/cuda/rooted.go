//go:build cuda || emu

package cuda

import (
	"context"
	"errors"
	"slices"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher"
)

// rooted is a matching order of a whole graph that begins at the pattern's first vertex: the rows of one root come before those of
// the next (DESIGN S7), so that they are put in order root by root. Otherwise the most backward edges come first.
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
			if p.Directed && e.From == v {
				b.Dir = dyngraph.In
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

// rowsOf answers Enumerate for rows: roots in waves of ascending ids, each put in order and emitted. A wave that gives too much is done
// again in halves. out counts the rows that were emitted; errFull is returned when a single root gives too much.
func (b *Backend) rowsOf(ctx context.Context, which dyngraph.Which, p *matcher.Plan, limit uint64, out *uint64,
	emit func(matcher.Rows) error) (r matcher.Result, err error) {
	began := b.clock()
	err = b.mirror.catchUp(b.delta)
	b.mirror.took = b.clock() - began
	if err != nil {
		return r, err
	}
	program := b.plans[p].rooted
	vertices, width := len(p.Query.Vertices), len(p.Query.Vertices)+len(p.Query.Edges)
	j := &job{graph: b.mirror.graph(), sees: kernels.SeeView, old: which == dyngraph.Old, requests: 1, vertices: int(b.g.IDBound()),
		owner: slices.Repeat([]uint32{kernels.None}, len(b.run.table.programs)), rows: true, limit: b.opt.RowMemory / 4}
	j.owner[program] = 0
	var pieces []piece
	j.piece = func(_, root uint32, from, to int) { pieces = append(pieces, piece{net: root, from: from, to: to}) }
	if err := b.run.begin(j); err != nil {
		return r, err
	}
	var roots []kernels.Task
	class := b.filter.Class(p, 0)
	bits, words := b.filter.Bits(), b.filter.Words()
	for v := range b.g.View(which).VerticesSeq() {
		if bits[int(v)*words+class>>6]>>(class&63)&1 != 0 {
			roots = append(roots, kernels.Task{Program: program, Net: uint32(v)})
		}
	}
	slices.SortFunc(roots, func(x, y kernels.Task) int { return int(int64(x.Net) - int64(y.Net)) })
	size := firstWave
	if limit > 0 {
		size = cappedWave
	}
	var sorter rowSorter
	var sorted []uint32
	for len(roots) > 0 {
		wave := roots[:min(size, len(roots))]
		pieces = pieces[:0]
		err := b.run.search(ctx, j, wave)
		if errors.Is(err, errFull) && len(wave) > 1 {
			size = len(wave) / 2
			continue
		}
		if err != nil {
			return r, err
		}
		words := 0
		for _, x := range pieces {
			words += x.to - x.from
		}
		sorted = slices.Grow(sorted[:0], words)[:words]
		sorter.sort(sorted, j.data, pieces, vertices, width)
		rows := matcher.Rows{Vertices: vertices, Edges: width - vertices, Data: sorted}
		n := uint64(rows.Len())
		if limit > 0 && *out+n > limit {
			n, r.Truncated = limit-*out, true
		}
		if n > 0 {
			*out += n
			if err := emit(rows.Slice(0, int(n))); err != nil {
				return r, err
			}
		}
		if r.Truncated {
			break
		}
		if len(j.data) < j.limit/8 {
			size = min(2*size, maxWave)
		}
		roots = roots[len(wave):]
	}
	counts, err := b.run.tallies(1)
	if err != nil {
		return r, err
	}
	r.Count, r.Steps, r.SearchNS = matcher.CountOf(*out), counts[0].steps, b.clock()-began
	return r, nil
}

// rowsOrCPU answers Enumerate for rows on the device, and from where that cannot go on on the CPU.
func (b *Backend) rowsOrCPU(ctx context.Context, which dyngraph.Which, p *matcher.Plan, limit uint64, emit func(matcher.Rows) error) (matcher.Result, error) {
	out := uint64(0)
	r, err := b.rowsOf(ctx, which, p, limit, &out, emit)
	if !errors.Is(err, errFull) && !b.failed(err) {
		return r, err
	}
	rest := receiver{b: b, emit: emit, out: int(out)} // the CPU begins anew
	rest.begin()
	return b.cpu.Enumerate(ctx, which, p, matcher.WantRows, limit, rest.rows)
}
