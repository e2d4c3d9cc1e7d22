package cpu

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"motifd/dyngraph"
	"motifd/matcher"
)

// Search implements matcher.Backend. Counts and existence need no order and are searched request by request; rows are
// searched anchor by anchor.
func (b *Backend) Search(ctx context.Context, sign dyngraph.Sign, reqs []matcher.Request,
	emit func(matcher.Group) error, suspend func(request int, order uint32) error) ([]matcher.Result, error) {
	results := make([]matcher.Result, len(reqs))
	for _, r := range reqs {
		if b.plans[r.Plan] == nil {
			return nil, fmt.Errorf("query %q was searched without being prepared", r.Plan.Query.Name)
		}
	}
	if err := b.searchTotals(ctx, sign, reqs, results); err != nil {
		return nil, err
	}
	// Suspensions are made known before the first row is emitted.
	for i := range results {
		if results[i].Suspended {
			if err := suspend(i, results[i].SuspendedAt); err != nil {
				return nil, err
			}
		}
	}
	if err := b.searchRows(ctx, sign, reqs, results, emit, suspend); err != nil {
		return nil, err
	}
	return results, nil
}

// watch sets stop when ctx is done, until the returned function is called.
func watch(ctx context.Context, stop *atomic.Bool) func() {
	cancel := context.AfterFunc(ctx, func() { stop.Store(true) })
	return func() { cancel() }
}

// task is one anchored search.
type task struct {
	o *order
	netPair
	net uint32 // order of the net edge where matches are found one by one, otherwise its place in its group
}

// taskChunk is the number of anchored searches that a worker takes at a time.
const taskChunk = 64

// maxTasks bounds the tasks of one request whose memory is kept.
const maxTasks = 1 << 16

// searchTotals answers the requests that want a count or a witness.
func (b *Backend) searchTotals(ctx context.Context, sign dyngraph.Sign, reqs []matcher.Request,
	results []matcher.Result) error {
	phase := b.phase + uint64(side(sign))
	b.Ready(reqs)
	for _, how := range []byHow{bySums, byCounting, byWitness} {
		n := 0
		for i := range reqs {
			if b.how(reqs[i]) == how {
				n++
			}
		}
		if n == 0 {
			continue
		}
		began := b.clock()
		tasks := b.emptyTasks(len(reqs))
		if how == bySums {
			b.group()
			grouped := b.clock() - began
			if err := b.advance(ctx, phase, reqs, results); err != nil { // which tells its own time
				return err
			}
			began = b.clock() - grouped
			b.newAnchors(reqs, func(r matcher.Request) bool { return b.oneByOne(&r, phase) }, false).groupTasks(phase, tasks)
		} else {
			b.newAnchors(reqs, func(r matcher.Request) bool { return b.how(r) == how }, how == byWitness).edgeTasks(sign, tasks)
		}
		prepared := (b.clock() - began) / int64(n)
		for r := range reqs {
			if b.how(reqs[r]) != how {
				continue
			}
			results[r].SearchNS += prepared
			if len(tasks[r]) == 0 && b.grown(&reqs[r], phase) == nil {
				continue
			}
			if err := b.total(ctx, sign, &reqs[r], tasks[r], &results[r]); err != nil {
				return err
			}
		}
	}
	return nil
}

// byHow is how a request is answered.
type byHow uint8

const (
	bySums     byHow = iota // a count without enumeration
	byCounting              // a count, one by one
	byWitness
	byRows
)

func (b *Backend) how(r matcher.Request) byHow {
	switch {
	case r.Want == matcher.WantRows:
		return byRows
	case r.Want == matcher.WantAny:
		return byWitness
	case b.plans[r.Plan].shape == nil:
		return byCounting
	}
	return bySums
}

// emptyTasks returns n lists of tasks in memory that is kept between calls.
func (b *Backend) emptyTasks(n int) [][]task {
	for len(b.tasks) < n {
		b.tasks = append(b.tasks, nil)
	}
	tasks := b.tasks[:n]
	for i := range tasks {
		tasks[i] = tasks[i][:0]
		if cap(tasks[i]) > maxTasks {
			tasks[i] = nil
		}
	}
	return tasks
}

// total answers one request: what its forest has counted, and its tasks.
func (b *Backend) total(ctx context.Context, sign dyngraph.Sign, req *matcher.Request, tasks []task, result *matcher.Result) error {
	var less matcher.Count
	phase := b.phase + uint64(side(sign))
	forest := b.grown(req, phase)
	if forest != nil {
		result.Count, less = forest.sum(phase)
	}
	if len(tasks) > 0 {
		less = less.Add(b.runTasks(ctx, sign, req, forest, tasks, result))
	}
	if err := ctx.Err(); err != nil {
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
func (b *Backend) runTasks(ctx context.Context, sign dyngraph.Sign, req *matcher.Request, forest *forest, tasks []task,
	result *matcher.Result) (less matcher.Count) {
	var stop atomic.Bool
	defer watch(ctx, &stop)()
	var bud *budget
	if req.Budget > 0 {
		bud = &budget{limit: req.Budget}
	}
	var adj *adjacency
	if req.Want == matcher.WantCount && b.plans[req.Plan].shape != nil {
		adj = b.adjacency()
	}
	phase := b.phase + uint64(side(sign))
	p := &pool{b: b, stop: &stop}
	var mu sync.Mutex
	p.run(len(tasks), taskChunk, func() {
		began := b.clock()
		s := b.newSearch(&stop, req.Want)
		defer b.release(s)
		s.budget, s.sharing = bud, p.sharing()
		var more, fewer matcher.Count
		shape := b.plans[req.Plan].shape
		if req.Want == matcher.WantAny {
			shape = nil
		}
		if shape != nil {
			s.counter.start(s, shape, adj, forest, phase)
		}
		for from, to, given, ok := p.take(s); ok; from, to, given, ok = p.take(s) {
			switch {
			case given == nil:
			case given.portion != nil:
				s.counter.portion(given.portion)
			default:
				s.resume(given)
			}
			chunk := tasks[from:to]
			if shape != nil {
				s.counter.read += adj.readEnds(chunk)
			}
			for _, t := range chunk {
				if shape != nil {
					s.counter.place = t.net
					m, l := s.counter.fromAnchor(t.o, sign, t.netPair)
					more, fewer = more.Add(m), fewer.Add(l)
				} else {
					s.fromAnchor(t.o, &b.delta.Net[t.net], t.net)
				}
				if s.stopped {
					break
				}
			}
			if bud != nil {
				s.poll()
			}
			if s.tripped {
				stop.Store(true)
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

// parallel runs work on n workers and waits for them. One worker runs on the caller's goroutine.
func (b *Backend) parallel(n int, work func()) {
	if n <= 1 {
		work()
		return
	}
	var wg sync.WaitGroup
	for range n {
		wg.Go(work)
	}
	wg.Wait()
}
