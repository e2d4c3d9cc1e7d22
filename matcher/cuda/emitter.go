//go:build cuda || emu

package cuda

import (
	"math"

	"motifd/matcher"
)

// emitter emits the groups of one search in canonical order, up to the limits of their requests. It keeps the position
// in that order, so that the CPU backend can continue where the device stopped.
type emitter struct {
	s       *batchSearch
	emit    func(matcher.Group) error
	over    matcher.Exceeded
	emitted []uint64
	closed  []bool // by request: no further rows are wanted

	// The position. Anchors before net are complete. At anchor net, the groups of requests before request are complete,
	// and begun rows of the group of request are emitted; whole is true if these are all of its rows.
	net     uint32
	request int
	begun   int
	whole   bool
}

// past reports whether the group of an anchor and a request is complete. It is called between groups.
func (e *emitter) past(net uint32, request int) bool {
	return net < e.net || net == e.net && request <= e.request
}

// reach advances the position: all groups of anchors before net are complete.
func (e *emitter) reach(net uint32) {
	if net > e.net {
		e.net, e.request, e.begun, e.whole = net, -1, 0, false
	}
}

// rest restricts a request for rows to those that are not yet emitted. It is called between groups.
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

// exceeded reports a group that is left out because it exceeds a limit.
func (e *emitter) exceeded(request int, order uint32, cause matcher.Cause) (stop bool, err error) {
	stop, err = e.over(request, order, cause)
	e.net, e.request, e.begun, e.whole = order, request, 0, true
	e.closed[request] = e.closed[request] || stop
	return stop, err
}

// wanted returns the number of rows of a group that are wanted, negative for all. If edges break ties in the order of
// rows, the first rows are known only after sorting, so all are wanted.
func (e *emitter) wanted(g rowGroup) int {
	req := &e.s.reqs[g.request]
	if req.Limit == 0 || !g.layout.Determined {
		return -1
	}
	return int(min(req.Limit-e.emitted[g.request], math.MaxInt32))
}

// leftOut records that rows of a group exceed the limit. It is called after all other rows of the group.
func (e *emitter) leftOut(g rowGroup, rows int) error {
	r := &e.s.results[g.request]
	r.Truncated, e.closed[g.request] = true, true
	return nil
}

// group emits the next rows of a group that the device has found.
func (e *emitter) group(g rowGroup, data []uint32) error {
	if req := &e.s.reqs[g.request]; req.Limit == 0 {
		req.Budget.AddMatches(uint64(len(data) / g.layout.Width()))
	}
	return e.rows(g.request, g.net, matcher.Rows{Vertices: g.layout.Vertices, Edges: g.layout.Edges, Data: data})
}

// rows emits the next rows of the group of an anchor and a request.
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
