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
	parted  []piece
	starts  []int
}

// group is the rows of one net edge and request.
type group struct {
	pieces   []piece
	from, to int // in emitter.sorted
}

// wave emits what the anchors from one to before another gave. Groups are sorted on all cores, then emitted one after the other.
func (e *emitter) wave(pieces []piece, data []uint32, from, to int) error {
	e.part(pieces, from, to)
	e.groups = e.groups[:0]
	at := 0
	for p := e.parted; len(p) > 0; {
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
			s.sort(e.sorted[g.from:g.to], data, g.pieces, len(q.Vertices), len(q.Vertices)+len(q.Edges))
		}
	})
	for i := range e.groups {
		if err := e.group(&e.groups[i]); err != nil {
			return err
		}
	}
	return nil
}

// part brings pieces in the order of their groups: counted into buckets by anchor, as there are many.
func (e *emitter) part(pieces []piece, from, to int) {
	e.starts = append(e.starts[:0], make([]int, to-from+1)...)
	for i := range pieces {
		e.starts[int(pieces[i].net)-from+1]++
	}
	for i := range to - from {
		e.starts[i+1] += e.starts[i]
	}
	e.parted = slices.Grow(e.parted[:0], len(pieces))[:len(pieces)]
	for _, p := range pieces {
		at := &e.starts[int(p.net)-from]
		e.parted[*at] = p
		*at++
	}
	begin := 0
	for i := range to - from {
		end := e.starts[i]
		slices.SortFunc(e.parted[begin:end], func(a, b piece) int { return cmp.Compare(a.request, b.request) })
		begin = end
	}
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
