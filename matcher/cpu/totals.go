package cpu

import (
	"context"
	"sync"
	"sync/atomic"

	"motifd/dyngraph"
	"motifd/matcher"
)

// totals answers the requests of one Search that want a count or a witness, one after the other. What is found for one may be
// asked for by the next: the caller's search goes on from request to request.
type totals struct {
	b     *Backend
	ctx   context.Context
	sign  dyngraph.Sign
	phase uint64
	own   *search
	taken atomic.Bool // own is at work
	stop  atomic.Bool // of the request at hand
	unset func() bool // ends the watch over ctx
}

// begin makes ready for the tasks of another request.
func (t *totals) begin() {
	if t.own == nil {
		t.own = t.b.newSearch(&t.stop, matcher.WantCount)
		t.unset = context.AfterFunc(t.ctx, func() { t.stop.Store(true) })
	}
	t.stop.Store(false)
	if t.ctx.Err() != nil { // which the watch may have told before that
		t.stop.Store(true)
	}
}

// end keeps what there is for another Search.
func (t *totals) end() {
	if t.own != nil {
		t.unset()
		t.b.release(t.own)
	}
}

// search returns a search for a worker, and what to do when it is done with it.
func (t *totals) search(mode matcher.Want) (s *search, done func()) {
	if !t.taken.Swap(true) {
		t.own.ask(mode)
		return t.own, func() { t.taken.Store(false) }
	}
	s = t.b.newSearch(&t.stop, mode)
	return s, func() { t.b.release(s) }
}

// total answers one request: what its forest has counted, and its tasks.
func (t *totals) total(req *matcher.Request, tasks []task, result *matcher.Result) error {
	var less matcher.Count
	forest := t.b.grown(req, t.phase)
	if forest != nil {
		result.Count, less = forest.sum(t.phase)
	}
	if len(tasks) > 0 {
		less = less.Add(t.runTasks(req, forest, tasks, result))
	}
	if err := t.ctx.Err(); err != nil {
		return err
	}
	result.Count = result.Count.Sub(less)
	if result.Suspended {
		result.Count, result.Witness = matcher.Count{}, nil
		return nil
	}
	if req.Want == matcher.WantCount && req.Plan.Query.Unit == matcher.Subgraphs {
		result.Count = orbits(result.Count, req.Plan.Automorphisms)
	}
	return nil
}

// runTasks runs the tasks of one request on the workers, which share the search of a task, too. It adds to the result, and returns what is to be taken away.
func (t *totals) runTasks(req *matcher.Request, forest *forest, tasks []task, result *matcher.Result) (less matcher.Count) {
	b := t.b
	t.begin()
	var bud *budget
	if req.Budget > 0 {
		bud = &budget{limit: req.Budget}
	}
	shape := b.plans[req.Plan].shape
	if req.Want == matcher.WantAny {
		shape = nil
	}
	var adj *adjacency
	if shape != nil {
		adj = b.adjacency()
	}
	p := &pool{b: b, stop: &t.stop}
	var mu sync.Mutex
	p.run(len(tasks), taskChunk, func() {
		began := b.clock()
		s, done := t.search(req.Want)
		defer done()
		s.budget, s.sharing = bud, p.sharing()
		var more, fewer matcher.Count
		if shape != nil {
			s.counter.start(s, shape, adj, forest, t.phase)
		}
		for from, to, given, ok := p.take(s); ok; from, to, given, ok = p.take(s) {
			if given != nil {
				s.resume(given)
			}
			chunk := tasks[from:to]
			if shape != nil {
				s.counter.read += adj.readEnds(chunk)
			}
			for _, x := range chunk {
				if shape != nil {
					s.counter.place = x.net
					m, l := s.counter.fromAnchor(x.o, t.sign, x.netPair)
					more, fewer = more.Add(m), fewer.Add(l)
				} else {
					s.fromAnchor(x.o, &b.delta.Net[x.net], x.net)
				}
				if s.stopped {
					break
				}
			}
			if bud != nil {
				s.poll()
			}
			if s.tripped {
				t.stop.Store(true)
			}
		}
		took := b.clock() - began - s.sharing.waited
		mu.Lock()
		defer mu.Unlock()
		result.Count, less = result.Count.Add(more).Add(matcher.CountOf(s.found)), less.Add(fewer)
		result.Steps += s.steps
		result.SearchNS += took
		result.Suspended = result.Suspended || s.tripped
		if s.witness != nil && result.Witness == nil {
			result.Witness, result.Count = s.witness, matcher.CountOf(1)
		}
	})
	return less
}
