package cpu

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/backtrack"
	"motifd/matcher/internal/rowsort"
)

// group is the result of one (anchor, request), on its way from the workers to the emitter.
type group struct {
	s       *rowSearch
	chunk   int
	request int
	order   uint32
	rows    rowsort.Sorted
	tripped bool // it is beyond its budget; the meter tells the cause
	meter   matcher.Meter
	cut     backtrack.Cap
	file    rowsort.File
	// open counts the parts of the search that are not finished, once some were given away: the first worker's own one
	// included. It is guarded by rowSearch.mu.
	open int
}

// rowSearch is one search for rows. The caller's goroutine begins alone (see alone.go), and most small batches end
// there. Then workers take chunks of consecutive anchors, or parts of a group that another worker gave away (see
// sharing); the caller's goroutine emits the groups chunk by chunk. Workers ahead of the chunk that is being emitted
// wait when the queued rows exceed QueueMemory, so memory is bounded and the worker on that chunk never waits for
// another.
type rowSearch struct {
	b       *Backend
	reqs    []matcher.Request
	of      []rowRequest // by request
	nets    []uint32     // orders of the net edges of the sign
	starts  [][]start
	ends    []int // of chunks, in nets
	left    anchorsLeft
	endings backtrack.Memo
	leader  []int                  // by request; see Backend.leaders
	narrow  []uint32               // room for rows of a variant
	come    matcher.SearchProgress // of the net edges, those that were searched but for parts which other workers have
	emission

	stop   atomic.Bool
	hungry atomic.Int32 // idle, and waiting for room, or not begun; a hint

	workers sync.WaitGroup
	mu      sync.Mutex
	begun   bool      // workers are
	work    sync.Cond // something changed that a worker may wait for
	emitter sync.Cond // something changed that the emitter may wait for
	next    int       // chunk that is not taken
	head    int       // chunk that is being emitted
	queued  int       // bytes
	queues  [][]*group
	done    []bool // chunks that have been searched, but for parts
	parts   []*groupPart
	merges  []*mergeTask
	idle    int // workers that have nothing to do
	waiting int // workers that wait for room
	failed  bool
}

// rowRequest is the state of one request in a search.
type rowRequest struct {
	layout  *rowsort.Layout
	closed  atomic.Bool // it is not searched any more
	steps   atomic.Int64
	ns      atomic.Int64
	emitted atomic.Uint64  // rows
	way     *keptWay       // nil without a kept space
	endings backtrack.Memo // of its orders
	anchors int
	lengths *lengths // of a leader: the group has the rows of all of them
}

// emission holds the results of a search, and the functions that its groups go to.
type emission struct {
	results []matcher.Result
	emit    func(matcher.Group) error
	over    matcher.Exceeded
}

func (b *Backend) searchRows(ctx context.Context, sign dyngraph.Sign, reqs []matcher.Request, results []matcher.Result,
	emit func(matcher.Group) error, over matcher.Exceeded) error {
	leader := b.leaders(reqs, matcher.WantRows)
	a := b.newAnchors(reqs, func(i int) bool { return reqs[i].Want == matcher.WantRows }, true, leader)
	if len(a.orders) == 0 {
		return nil
	}
	s := &rowSearch{b: b, reqs: reqs, of: make([]rowRequest, len(reqs)), endings: backtrack.Memo{Shared: &b.shared},
		emission: emission{results, emit, over}, leader: leader}
	s.work.L, s.emitter.L = &s.mu, &s.mu
	if !s.chooseWays(ctx) {
		return ctx.Err()
	}
	from, to := b.within(reqs)
	for i := from; i < to; i++ {
		n := &b.delta.Net[i]
		if n.Sign != sign {
			continue
		}
		if st := s.onWays(a.of(i), n); len(st) > 0 {
			s.nets = append(s.nets, uint32(i))
			s.starts = append(s.starts, st)
		}
	}
	if len(s.nets) == 0 {
		s.noteWays()
		return nil
	}
	// While this search hands out groups, its caller may make another: the room for starts is this one's until its
	// workers are done.
	room := b.starts
	b.starts = nil
	for i, r := range reqs {
		if r.Want == matcher.WantRows {
			c := b.plans[r.Plan]
			if s.of[i].layout = c.layout; s.isJoined(i) && leader[i] == i {
				s.of[i].lengths, s.of[i].layout = c.lengths, c.lengths.layout
			}
		}
	}
	defer context.AfterFunc(ctx, s.fail)()
	nets := len(s.nets)
	b.progress.Begin(&s.come, nets)
	defer b.progress.End(&s.come)
	err := s.searchAlone(ctx, s.large(sign))
	if err == nil && s.begun {
		err = s.emitAll(ctx)
	}
	s.fail()
	s.workers.Wait()
	b.starts = room
	s.endings.Release()
	s.note(sign, nets)
	for _, q := range s.queues {
		for _, g := range q {
			g.rows.Close()
		}
	}
	for _, p := range s.merges {
		p.Close()
	}
	for i := range reqs {
		results[i].Steps += uint64(s.of[i].steps.Load())
		results[i].SearchNS += s.of[i].ns.Load()
	}
	s.noteWays()
	return err
}

// within returns the orders of the first anchor that some request for rows asks for, and of the one behind the last.
func (b *Backend) within(reqs []matcher.Request) (from, to int) {
	from = len(b.delta.Net)
	for i := range reqs {
		if r := &reqs[i]; r.Want == matcher.WantRows {
			from, to = min(from, int(r.From)), max(to, min(int(r.Before), len(b.delta.Net)))
		}
	}
	return from, to
}

// chunkEnds cuts n net edges into chunks. With several threads each is a part of what is left, so that none is long at
// the last ones while the others have nothing to do.
func chunkEnds(n, threads int) (ends []int) {
	left := n
	for at := 0; at < n; ends = append(ends, at) {
		if threads > 1 {
			left = n - at
		}
		at = min(n, at+max(1, min(taskChunk, left/(4*threads))))
	}
	return ends
}

// fail ends the workers, after an error or when all is emitted.
func (s *rowSearch) fail() {
	s.stop.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = true
	s.work.Broadcast()
	s.emitter.Broadcast()
}

// take returns the next group in order, complete, or nil when all are emitted.
func (s *rowSearch) take(ctx context.Context) (*group, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if s.head == len(s.queues) {
			return nil, nil
		}
		if q := s.queues[s.head]; len(q) > 0 && q[0].open == 0 {
			g := q[0]
			q[0] = nil
			s.queues[s.head] = q[1:]
			s.queued -= g.rows.Bytes()
			if s.waiting > 0 {
				s.work.Broadcast()
			}
			return g, nil
		} else if len(q) == 0 && s.done[s.head] {
			s.queues[s.head] = nil
			s.head++
			if s.waiting > 0 { // the others look no different at what is left
				s.work.Broadcast()
			}
			continue
		}
		s.emitter.Wait()
	}
}

// emitAll emits the groups in order, up to limits.
func (s *rowSearch) emitAll(ctx context.Context) error {
	for {
		g, err := s.take(ctx)
		if err != nil || g == nil {
			return err
		}
		if err := s.emitGroup(ctx, g); err != nil {
			return err
		}
	}
}

// emitGroup emits the next group, or what its request's limit leaves of it, and releases its rows. One beyond its
// budget is told of.
func (s *rowSearch) emitGroup(ctx context.Context, g *group) error {
	r, of, req := &s.results[g.request], &s.of[g.request], &s.reqs[g.request]
	if of.closed.Load() {
		g.rows.Close()
		return nil
	}
	if errors.Is(g.rows.Err, rowsort.ErrSpill) {
		g.meter.Exceed(matcher.CauseSpill)
		g.tripped = true
	}
	if g.tripped {
		g.rows.Close()
		stop, err := s.over(g.request, g.order, g.meter.Over())
		of.closed.Store(stop)
		return err
	}
	take := g.rows.Count
	if req.Limit > 0 {
		take = min(take, req.Limit-of.emitted.Load())
	}
	if take > 0 || g.rows.Err != nil {
		err := s.each(ctx, g, take, func(rows matcher.Rows) error {
			if of.lengths != nil {
				return s.emitLengths(g, of.lengths, rows)
			}
			return s.emit(matcher.Group{Request: g.request, Order: g.order, Rows: rows})
		})
		if err != nil {
			return err
		}
	} else {
		g.rows.Close()
	}
	if of.lengths == nil {
		r.Count = r.Count.Add(matcher.CountOf(take))
	}
	if r.Truncated = req.Limit > 0 && of.emitted.Add(take) == req.Limit; r.Truncated {
		of.closed.Store(true)
	}
	return nil
}

// Begin implements capped.
func (g *group) Begin() (*rowsort.Layout, *rowsort.File) { return g.s.of[g.request].layout, &g.file }

// Find implements capped: the rows of all orders that begin with the anchor come together in the sorter.
func (g *group) Find(c *backtrack.CanonicalSearch, limit uint64) {
	b := g.s.b
	of, n := b.plans[g.s.reqs[g.request].Plan], &b.delta.Net[g.order]
	if n.Vertex {
		b.eachRevised(n, func(x *compiled, at int) {
			if x == of && !c.Over {
				c.FromAnchor(of.canonicalRevised(b.filter, at), n, g.order, limit)
			}
		})
		return
	}
	for i := range of.plan.Anchored {
		if c.FromAnchor(of.canonical(b.filter, i), n, g.order, limit); c.Over {
			return
		}
	}
}

// Tell implements capped.
func (g *group) Tell(steps uint64) { g.s.of[g.request].steps.Add(int64(steps)) }
