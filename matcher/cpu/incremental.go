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
	order uint32 // of the net edge
	o     *order
}

// taskChunk is the number of anchored searches that a worker takes at a time.
const taskChunk = 64

// maxTasks bounds the tasks of one request whose memory is kept.
const maxTasks = 1 << 16

// searchTotals answers the requests that want a count or a witness.
func (b *Backend) searchTotals(ctx context.Context, sign dyngraph.Sign, reqs []matcher.Request,
	results []matcher.Result) error {
	for _, want := range []matcher.Want{matcher.WantCount, matcher.WantAny} {
		a := b.newAnchors(reqs, func(r matcher.Request) bool { return r.Want == want },
			want == matcher.WantAny)
		if len(a.orders) == 0 {
			continue
		}
		began := b.clock()
		tasks := b.emptyTasks(len(reqs))
		for i := range b.delta.Net {
			n := &b.delta.Net[i]
			if n.Sign != sign {
				continue
			}
			for _, s := range a.of(n) {
				if uint32(i) >= reqs[s.request].Before {
					continue
				}
				tasks[s.request] = append(tasks[s.request], task{uint32(i), s.order})
			}
		}
		asked := int64(0)
		for r := range reqs {
			if reqs[r].Want == want {
				asked++
			}
		}
		prepared := (b.clock() - began) / asked
		for r := range reqs {
			if reqs[r].Want == want {
				results[r].SearchNS += prepared
			}
			if len(tasks[r]) == 0 {
				continue
			}
			if err := b.total(ctx, &reqs[r], tasks[r], &results[r]); err != nil {
				return err
			}
		}
	}
	return nil
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

// total runs the tasks of one request on the workers.
func (b *Backend) total(ctx context.Context, req *matcher.Request, tasks []task, result *matcher.Result) error {
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
	var next atomic.Int64
	var mu sync.Mutex
	work := func() {
		began := b.clock()
		s := b.newSearch(&stop, req.Want)
		defer b.release(s)
		s.budget = bud
		var total matcher.Count
		shape := b.plans[req.Plan].shape
		if req.Want == matcher.WantAny {
			shape = nil
		}
		if shape != nil {
			s.counter.start(s, shape, adj)
		}
		for !stop.Load() && !s.tripped {
			from := int(next.Add(taskChunk)) - taskChunk
			if from >= len(tasks) {
				break
			}
			for _, t := range tasks[from:min(from+taskChunk, len(tasks))] {
				if shape != nil {
					total = total.Add(s.counter.fromAnchor(t.o, &b.delta.Net[t.order]))
				} else {
					s.fromAnchor(t.o, &b.delta.Net[t.order], t.order)
				}
				if s.stopped {
					break
				}
			}
			if bud != nil {
				s.poll()
			}
		}
		took := b.clock() - began
		mu.Lock()
		defer mu.Unlock()
		result.Count = result.Count.Add(total).Add(matcher.CountOf(s.found))
		result.Steps += s.steps
		result.SearchNS += took
		if s.tripped {
			result.Suspended = true
			stop.Store(true)
		}
		if s.witness != nil && result.Witness == nil {
			result.Witness, result.Count = s.witness, matcher.CountOf(1)
		}
	}
	b.parallel(min(b.opt.Threads, (len(tasks)+taskChunk-1)/taskChunk), work)
	if err := ctx.Err(); err != nil {
		return err
	}
	if result.Suspended {
		result.Count, result.Witness = matcher.Count{}, nil
		return nil
	}
	if req.Want == matcher.WantCount && req.Plan.Query.Unit == matcher.Subgraphs {
		result.Count = orbits(result.Count, req.Plan.Automorphisms)
	}
	return nil
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
