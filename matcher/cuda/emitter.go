//go:build cuda || emu

package cuda

import (
	"math"

	"motifd/matcher"
)

// emitter emits groups in canonical order, up to limits.
type emitter struct {
	s       *batchSearch
	emitted []uint64
	closed  []bool // by request: nothing of it is wanted any more
	out     int    // rows that were emitted
}

// most tells how many rows of a group are wanted at most; negative: all. Rows that are put in order by their edges are all wanted until they are.
func (e *emitter) most(g rowGroup) int {
	req := &e.s.reqs[g.request]
	if req.Limit == 0 || e.s.b.plans[req.Plan].edges {
		return -1
	}
	return int(min(req.Limit-e.emitted[g.request], math.MaxInt32))
}

// left takes note of rows of a group that are beyond the limit, after all that are not.
func (e *emitter) left(g rowGroup, rows int) error {
	r := &e.s.results[g.request]
	r.Truncated, e.closed[g.request] = true, true
	return nil
}

// group emits rows of a group, the next of them.
func (e *emitter) group(g rowGroup, data []uint32) error {
	i := g.request
	req, r := &e.s.reqs[i], &e.s.results[i]
	if e.closed[i] {
		return nil
	}
	rows := matcher.Rows{Vertices: len(req.Plan.Query.Vertices), Edges: len(req.Plan.Query.Edges), Data: data}
	take := uint64(rows.Len())
	if req.Limit > 0 {
		take = min(take, req.Limit-e.emitted[i])
	}
	if take > 0 {
		if err := e.s.emit(matcher.Group{Request: int(i), Order: g.net, Rows: rows.Slice(0, int(take))}); err != nil {
			return err
		}
	}
	e.emitted[i] += take
	e.out += int(take)
	if req.Limit > 0 && e.emitted[i] == req.Limit {
		r.Truncated, e.closed[i] = true, true
	}
	r.Count = r.Count.Add(matcher.CountOf(take))
	return nil
}
