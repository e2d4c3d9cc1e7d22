package cpu

import (
	"context"
	"sync"
	"sync/atomic"

	"motifd/dyngraph"
	"motifd/matcher"
)

// group is the result of one (anchor, request), on its way from a worker to the emitter.
type group struct {
	request int
	order   uint32
	rows    sorted
	tripped bool // the budget was exceeded inside the group
}

// rowSearch is one search for rows. Workers take chunks of consecutive anchors; the caller's goroutine emits the groups chunk
// by chunk. Workers ahead of the chunk that is being emitted wait when the queued rows exceed QueueMemory, so memory is
// bounded and the worker on that chunk never waits for another.
type rowSearch struct {
	b      *Backend
	sign   dyngraph.Sign
	reqs   []matcher.Request
	nets   []uint32 // orders of the net edges of the sign
	starts [][]start
	chunk  int // net edges a chunk

	stop    atomic.Bool
	next    atomic.Int64
	budgets []*budget
	// closed requests are not searched any more, counted ones only counted.
	closed, counted []atomic.Bool
	steps, ns       []atomic.Int64

	mu     sync.Mutex
	cond   sync.Cond
	head   int // chunk that is being emitted
	queued int // bytes
	queues [][]group
	done   []bool // chunks that have been searched
	failed bool
}

func (b *Backend) searchRows(ctx context.Context, sign dyngraph.Sign, reqs []matcher.Request, results []matcher.Result,
	emit func(matcher.Group) error, suspend func(int, uint32) error) error {
	a := b.newAnchors(reqs, func(r matcher.Request) bool { return r.Want == matcher.WantRows }, true)
	if len(a.orders) == 0 {
		return nil
	}
	s := &rowSearch{b: b, sign: sign, reqs: reqs, budgets: make([]*budget, len(reqs)),
		closed: make([]atomic.Bool, len(reqs)), counted: make([]atomic.Bool, len(reqs)),
		steps: make([]atomic.Int64, len(reqs)), ns: make([]atomic.Int64, len(reqs))}
	s.cond.L = &s.mu
	for i := range b.delta.Net {
		n := &b.delta.Net[i]
		if n.Sign != sign {
			continue
		}
		if st := a.of(n); len(st) > 0 {
			s.nets = append(s.nets, uint32(i))
			s.starts = append(s.starts, st)
		}
	}
	if len(s.nets) == 0 {
		return nil
	}
	for i, r := range reqs {
		if r.Budget > 0 {
			s.budgets[i] = &budget{limit: r.Budget}
		}
	}
	s.chunk = max(1, min(taskChunk, len(s.nets)/(4*b.opt.Threads)))
	chunks := (len(s.nets) + s.chunk - 1) / s.chunk
	s.queues, s.done = make([][]group, chunks), make([]bool, chunks)

	unwatch := context.AfterFunc(ctx, func() {
		s.stop.Store(true)
		s.mu.Lock()
		s.cond.Broadcast()
		s.mu.Unlock()
	})
	defer unwatch()
	var wg sync.WaitGroup
	for range min(b.opt.Threads, chunks) {
		wg.Go(s.work)
	}
	err := s.emitAll(ctx, results, emit, suspend)
	s.fail()
	wg.Wait()
	for _, q := range s.queues {
		for i := range q {
			q[i].rows.close()
		}
	}
	for i := range reqs {
		results[i].Steps += uint64(s.steps[i].Load())
		results[i].SearchNS += s.ns[i].Load()
	}
	return err
}

// fail ends the workers, after an error or when all is emitted.
func (s *rowSearch) fail() {
	s.stop.Store(true)
	s.mu.Lock()
	s.failed = true
	s.cond.Broadcast()
	s.mu.Unlock()
}

// work searches chunks until there are none left.
func (s *rowSearch) work() {
	se := s.b.newSearch(&s.stop)
	defer s.b.release(se)
	sorters := make(map[int]*sorter)
	defer func() {
		for _, st := range sorters {
			st.close()
		}
	}()
	for !s.stop.Load() {
		c := int(s.next.Add(1)) - 1
		if c >= len(s.queues) {
			return
		}
		lo, hi := c*s.chunk, min((c+1)*s.chunk, len(s.nets))
		for i := lo; i < hi && !s.stop.Load(); i++ {
			starts := s.starts[i]
			for len(starts) > 0 {
				n := 1
				for n < len(starts) && starts[n].request == starts[0].request {
					n++
				}
				s.search(se, sorters, c, s.nets[i], starts[:n])
				starts = starts[n:]
			}
		}
		s.mu.Lock()
		s.done[c] = true
		s.cond.Broadcast()
		s.mu.Unlock()
	}
}

// search searches one group and queues it.
func (s *rowSearch) search(se *search, sorters map[int]*sorter, chunk int, order uint32, starts []start) {
	r := starts[0].request
	req := &s.reqs[r]
	if order >= req.Before || s.closed[r].Load() {
		return
	}
	st := sorters[r]
	if st == nil {
		view := s.b.g.View(dyngraph.New)
		st = &sorter{order: newRowOrder(view, req.Plan), dir: s.b.opt.SpillDir, memory: s.b.opt.GroupMemory}
		if req.Limit > 0 {
			st.limit = req.Limit + 1 // one more tells that there are more
		}
		sorters[r] = st
	}
	began := s.b.clock()
	before := se.steps
	se.budget, se.polled = s.budgets[r], se.steps
	countOnly := s.counted[r].Load()
	se.found = func() bool {
		if countOnly {
			st.count++
			return true
		}
		st.data = se.appendRow(st.data)
		st.added()
		return st.err == nil
	}
	tripped := false
	for _, t := range starts {
		se.fromAnchor(t.order, &s.b.delta.Net[order], order)
		tripped = tripped || se.tripped
		if se.stopped {
			break
		}
	}
	if se.budget != nil && !tripped {
		se.poll()
		tripped = se.tripped
	}
	s.steps[r].Add(int64(se.steps - before))
	s.ns[r].Add(s.b.clock() - began)
	rows := st.finish()
	if rows.count == 0 && !tripped && rows.err == nil {
		return
	}
	s.queue(chunk, group{request: r, order: order, rows: rows, tripped: tripped})
}

// queue hands a group to the emitter, waiting for room unless the group's chunk is the one that is being emitted.
func (s *rowSearch) queue(chunk int, g group) {
	n := g.rows.bytes()
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.queued > 0 && s.queued+n > s.b.opt.QueueMemory && !s.failed && !s.stop.Load() &&
		(chunk != s.head || len(s.queues[chunk]) > 0) {
		s.cond.Wait()
	}
	s.queued += n
	s.queues[chunk] = append(s.queues[chunk], g)
	s.cond.Broadcast()
}

// take returns the next group in order, or false when all are emitted.
func (s *rowSearch) take(ctx context.Context) (group, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if err := ctx.Err(); err != nil {
			return group{}, false, err
		}
		if s.head == len(s.queues) {
			return group{}, false, nil
		}
		if q := s.queues[s.head]; len(q) > 0 {
			g := q[0]
			s.queues[s.head] = q[1:]
			s.queued -= g.rows.bytes()
			s.cond.Broadcast()
			return g, true, nil
		}
		if s.done[s.head] {
			s.queues[s.head] = nil
			s.head++
			s.cond.Broadcast()
			continue
		}
		s.cond.Wait()
	}
}

// emitAll emits the groups in order, up to limits and suspensions.
func (s *rowSearch) emitAll(ctx context.Context, results []matcher.Result, emit func(matcher.Group) error,
	suspend func(int, uint32) error) error {
	emitted := make([]uint64, len(s.reqs))
	for {
		g, ok, err := s.take(ctx)
		if err != nil || !ok {
			return err
		}
		r, req := &results[g.request], &s.reqs[g.request]
		if r.Suspended || s.closed[g.request].Load() {
			g.rows.close()
			continue
		}
		if g.tripped {
			g.rows.close()
			r.Suspended, r.SuspendedAt = true, g.order
			s.closed[g.request].Store(true)
			if err := suspend(g.request, g.order); err != nil {
				return err
			}
			continue
		}
		take, found := g.rows.count, g.rows.count
		if req.Limit > 0 {
			take = min(take, req.Limit-emitted[g.request])
		}
		if take > 0 || g.rows.err != nil {
			err := g.rows.each(take, func(rows matcher.Rows) error {
				return emit(matcher.Group{Request: g.request, Order: g.order, Rows: rows})
			})
			if err != nil {
				return err
			}
		} else {
			g.rows.close()
		}
		emitted[g.request] += take
		if req.Total {
			r.Count = r.Count.Add(matcher.CountOf(found))
		} else {
			r.Count = r.Count.Add(matcher.CountOf(take))
		}
		if take < found {
			r.Truncated = true
			if !req.Total {
				s.closed[g.request].Store(true)
			}
		}
		if r.Truncated && req.Total {
			s.counted[g.request].Store(true)
		}
	}
}
