//go:build cuda || emu

package cuda

import (
	"math"

	"motifd/matcher"
)

// emitter hands out groups in canonical order, up to limits, whichever backend found them, and knows where it is: one
// can go on where the other stopped.
type emitter struct {
	s       *batchSearch
	emit    func(matcher.Group) error
	over    matcher.Exceeded
	emitted []uint64
	closed  []bool // by request: nothing of it is wanted any more

	// Of the anchor net, all groups of requests before request are done with, and begun rows of the group of request
	// are out; whole: all there are. Nothing of later anchors is out.
	net     uint32
	request int
	begun   int
	whole   bool
}

// past tells whether the group of an anchor and a request is done with. No group is begun.
func (e *emitter) past(net uint32, request int) bool {
	return net < e.net || net == e.net && request <= e.request
}

// reach takes note that all groups of anchors before one are done with.
func (e *emitter) reach(net uint32) {
	if net > e.net {
		e.net, e.request, e.begun, e.whole = net, -1, 0, false
	}
}

// rest restricts a request for rows to what is not out. No group is begun.
func (e *emitter) rest(r *matcher.Request, request int) {
	switch {
	case e.closed[request]:
		r.Before = 0
	case e.past(e.net, request):
		r.From = max(r.From, e.net+1)
	default:
		r.From = max(r.From, e.net)
	}
	if r.Limit > 0 {
		r.Limit -= e.emitted[request]
	}
}

// exceeded tells of a group that is left out because it is beyond a limit.
func (e *emitter) exceeded(request int, order uint32, cause matcher.Cause) (stop bool, err error) {
	stop, err = e.over(request, order, cause)
	e.net, e.request, e.begun, e.whole = order, request, 0, true
	e.closed[request] = e.closed[request] || stop
	return stop, err
}

// wanted returns the number of rows of a group that are wanted, negative for all. Rows that are sorted by their edges
// are all wanted until they are sorted.
func (e *emitter) wanted(g rowGroup) int {
	req := &e.s.reqs[g.request]
	if req.Limit == 0 || !g.layout.Determined {
		return -1
	}
	return int(min(req.Limit-e.emitted[g.request], math.MaxInt32))
}

// leftOut notes that rows of a group are beyond the limit. It is called after all other rows of the group.
func (e *emitter) leftOut(g rowGroup, rows int) error {
	r := &e.s.results[g.request]
	r.Truncated, e.closed[g.request] = true, true
	return nil
}

// group emits rows of a group, the next of them.
func (e *emitter) group(g rowGroup, data []uint32) error {
	return e.rows(g.request, g.net, matcher.Rows{Vertices: g.layout.Vertices, Edges: g.layout.Edges, Data: data})
}

// rows emits rows of the group of an anchor and a request, the next of them.
func (e *emitter) rows(request, net uint32, rows matcher.Rows) error {
	i := int(request)
	req, r := &e.s.reqs[i], &e.s.results[i]
	if e.closed[i] {
		return nil
	}
	take := uint64(rows.Len())
	if req.Limit > 0 {
		take = min(take, req.Limit-e.emitted[i])
	}
	if net != e.net || i != e.request {
		e.net, e.request, e.begun, e.whole = net, i, 0, false
	}
	if take > 0 {
		if err := e.emit(matcher.Group{Request: i, Order: net, Rows: rows.Slice(0, int(take))}); err != nil {
			return err
		}
	}
	e.emitted[i] += take
	e.begun += int(take)
	if req.Limit > 0 && e.emitted[i] == req.Limit {
		r.Truncated, e.closed[i] = true, true
	}
	r.Count = r.Count.Add(matcher.CountOf(take))
	return nil
}
