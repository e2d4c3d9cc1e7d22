//go:build cuda || emu

package cuda

import (
	"cmp"
	"slices"

	"motifd/matcher"
)

// emitter emits groups in canonical order, up to limits.
type emitter struct {
	s       *batchSearch
	emitted []uint64
	closed  []bool // by request: nothing of it is wanted any more
	groups  []group
	sorted  []uint32
}

// group is the rows of one net edge and request.
type group struct {
	pieces   []piece
	from, to int // in emitter.sorted
}

// wave emits what a wave gave. Groups are sorted on all cores, then emitted one after the other.
func (e *emitter) wave(w *wave) error {
	slices.SortFunc(w.pieces, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.net, b.net), cmp.Compare(a.request, b.request))
	})
	e.groups = e.groups[:0]
	at := 0
	for p := w.pieces; len(p) > 0; {
		n, words := 0, 0
		for n < len(p) && p[n].net == p[0].net && p[n].request == p[0].request {
			words += p[n].to - p[n].from
			n++
		}
		e.groups = append(e.groups, group{p[:n], at, at + words})
		at += words
		p = p[n:]
	}
	if cap(e.sorted) < at {
		e.sorted = make([]uint32, at+at/2)
	}
	e.sorted = e.sorted[:at]
	parallel(e.s.b.opt.CPU.Threads, len(e.groups), func() func(int) {
		var s rowSorter
		return func(i int) {
			g := &e.groups[i]
			q := e.s.reqs[g.pieces[0].request].Plan.Query
			s.sort(e.sorted[g.from:g.to], w.data, g.pieces, len(q.Vertices), len(q.Vertices)+len(q.Edges))
		}
	})
	for i := range e.groups {
		if err := e.group(&e.groups[i]); err != nil {
			return err
		}
	}
	return nil
}

func (e *emitter) group(g *group) error {
	i := g.pieces[0].request
	req, r := &e.s.reqs[i], &e.s.results[i]
	if e.closed[i] {
		return nil
	}
	rows := matcher.Rows{Vertices: len(req.Plan.Query.Vertices), Edges: len(req.Plan.Query.Edges), Data: e.sorted[g.from:g.to]}
	found := uint64(rows.Len())
	take := found
	if req.Limit > 0 {
		take = min(take, req.Limit-e.emitted[i])
	}
	if take > 0 {
		if err := e.s.emit(matcher.Group{Request: int(i), Order: g.pieces[0].net, Rows: rows.Slice(0, int(take))}); err != nil {
			return err
		}
	}
	e.emitted[i] += take
	if take < found {
		r.Truncated = true
		e.closed[i] = !req.Total
	}
	if req.Total {
		take = found
	}
	r.Count = r.Count.Add(matcher.CountOf(take))
	return nil
}
