package cpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/backtrack"
	"motifd/matcher/cpu/internal/labeladj"
	"motifd/matcher/cpu/internal/work"
	"motifd/matcher/internal/rowsort"
)

const (
	// rootChunk is the largest number of first vertices that a worker takes at a time when it searches a graph. With
	// few first vertices, chunks are smaller: rootChunks for each worker.
	rootChunk  = 256
	rootChunks = 8
)

// Enumerate implements matcher.Backend. The search is in a candidate space that is made for it, by enumeration. A
// count that takes long is tried by components, too (see count). The search of one root is shared as that of an anchor
// is (see work.Pool).
func (b *Backend) Enumerate(ctx context.Context, which dyngraph.Which, p *matcher.Plan, want matcher.Want, limit uint64,
	budget *matcher.Budget, emit func(matcher.Rows) error) (matcher.Result, error) {
	c := b.plans[p]
	if c == nil {
		return matcher.Result{}, fmt.Errorf("query %q was enumerated without being prepared", p.Query.Name)
	}
	if b.filter.Dormant(p) {
		return matcher.Result{}, ctx.Err()
	}
	e := &enumeration{b: b, c: c, which: which, want: want, limit: limit}
	defer work.StopWith(ctx, &e.stop)()
	if cause := e.meter.Begin(budget, want != matcher.WantRows || limit > 0); cause != matcher.NoCause {
		return matcher.Result{Over: cause}, nil
	}
	if e.budget = budget; want == matcher.WantRows {
		e.layout = rowsort.NewLayout(b.g.View(which), p)
	}
	e.search(ctx)
	result := e.result
	if err := ctx.Err(); err != nil {
		e.all.Close()
		return matcher.Result{}, err
	}
	if errors.Is(e.all.Err, rowsort.ErrSpill) {
		e.meter.Exceed(matcher.CauseSpill)
	}
	if result.Over = e.meter.Over(); result.Over != matcher.NoCause && result.Witness == nil {
		e.all.Close()
		result.Count = matcher.Count{}
		return result, nil
	}
	result.Over = matcher.NoCause
	switch want {
	case matcher.WantAny:
		return result, nil
	case matcher.WantCount:
		result.Count = c.inUnits(result.Count, e.embeddings)
		return result, nil
	}
	take := e.all.Count
	if limit > 0 && take > limit {
		take, result.Truncated = limit, true
	}
	result.Count = matcher.CountOf(take)
	if take == 0 {
		err := e.all.Err
		e.all.Close()
		return result, err
	}
	return result, e.all.Each(ctx, take, emit)
}

// enumeration is one search of a whole graph.
type enumeration struct {
	b     *Backend
	c     *compiled
	which dyngraph.Which
	want  matcher.Want
	limit uint64 // of rows; 0 for none
	// embeddings tells that a count is of embeddings, not of subgraphs.
	embeddings bool
	usedUp     func() // called when the allowance is used up; may be nil

	stop   atomic.Bool
	budget *matcher.Budget
	meter  matcher.Meter
	come   matcher.SearchProgress
	layout *rowsort.Layout // nil if no rows are wanted
	capped viewCut

	mu     sync.Mutex // held to add to the following
	done   []float64  // by worker: roots that it has searched; of the one at hand the part that is done
	result matcher.Result
	all    rowsort.Sorted
}

// search searches. Where semi-joins read much, the space is rough at first: short searches do not pay for them. A
// search that is given up has found nothing; its steps are reported all the same, and count for the budget.
func (e *enumeration) search(ctx context.Context) {
	b := e.b
	switch begins := b.outlook >= good && !b.neverBegins && !b.sumsFirst; {
	case !begins:
		defer func() { b.outlook.tell(e.result.Steps <= fewWithSpace) }()
	case e.begin(ctx):
		return
	}
	w := b.wayOf(e.c, e.want, nil, &e.stop, &e.result)
	if w != nil && w.space.Rough && w.order != nil {
		done := e.searchWithin(ctx, w, float64(b.trialOf(e.c.plan, 3*w.space.Round)))
		if w.release(b); done {
			w.space.Release()
			return
		}
		w = b.wayOf(e.c, e.want, w.space, &e.stop, &e.result)
	}
	if w == nil {
		return
	}
	if w.order != nil {
		e.searchWithin(ctx, w, math.Inf(1))
		w.release(b)
	}
	w.space.Release()
}

// searchWithin searches within a limit of steps. It reports false if the limit ended the search, which has found
// nothing then.
func (e *enumeration) searchWithin(ctx context.Context, w *way, most float64) bool {
	if e.want == matcher.WantCount {
		return e.count(ctx, w, most)
	}
	return e.turn(ctx, w, most)
}

// turn is searchWithin in one way.
func (e *enumeration) turn(ctx context.Context, w *way, steps float64) bool {
	var allowed *work.Allowance
	if !math.IsInf(steps, 1) {
		allowed = new(work.Allowance)
		allowed.Begin(uint64(max(0, steps)))
	}
	e.run(ctx, w, allowed)
	if !allowed.Over() || e.result.Witness != nil || e.meter.Over() != matcher.NoCause || ctx.Err() != nil {
		return true
	}
	e.all.Close()
	e.result.Count = matcher.Count{}
	e.meter.Restart()
	return false
}

// run searches in one way, within an allowance if there is one, and adds to the result.
func (e *enumeration) run(ctx context.Context, w *way, allowed *work.Allowance) {
	b, stop := e.b, &e.stop
	file := &rowsort.File{Open: b.opt.TempFiles, Budget: e.budget}
	e.all = rowsort.Sorted{Layout: e.layout, File: file}
	if allowed != nil {
		stop = new(atomic.Bool)
		defer work.StopWith(ctx, stop)()
	}
	root := w.order.Steps[0].Vertex
	view, roots := b.g.View(e.which), w.space.Roots(root)
	b.progress.Begin(&e.come, len(roots))
	defer b.progress.End(&e.come)
	var adj *labeladj.Index
	if w.countPlan != nil {
		b.addWildcards(w.countPlan)
		adj = b.labelIndex()
	}
	keep := e.limit
	e.capped = viewCut{b: b, stop: stop, way: w, which: e.which, layout: e.layout, file: file}
	if e.limit > 0 {
		keep++ // one more tells that there are more
		if e.want == matcher.WantRows {
			e.capped.cut.Begin(w.shared, keep, &e.capped)
		}
	}
	pool, endings := &work.Pool{Options: &b.work, Stop: stop}, backtrack.Memo{Shared: w.shared}
	defer endings.Release()
	chunk := min(rootChunk, 1+len(roots)/(rootChunks*b.opt.Threads))
	pool.Run(len(roots), chunk, func() {
		s := w.searcher(b, stop, e.want)
		defer w.spare(b, s, e.want)
		pool.Join(&s.Worker)
		s.UseMemo(&endings)
		var total matcher.Count
		done, tell := 0.0, e.progressOf()
		s.UsedUp = func() {
			part := 0.0
			if w.countPlan == nil {
				part = s.RootDone()
			}
			tell(done + part)
			if e.usedUp != nil {
				e.usedUp()
			}
		}
		if w.countPlan != nil {
			s.counter.Start(w.countPlan, adj, nil)
		}
		var st *rowsort.Sorter
		if e.layout != nil {
			st = &rowsort.Sorter{Memory: b.opt.GroupMemory, Stop: stop}
			st.Begin(e.layout, keep, file)
			defer func() {
				st.Drop()
				st.Release()
			}()
		}
		s.Out, s.Allowance = st, allowed
		s.Measure(&e.meter)
		e.capped.cut.Measure(&s.Search)
		if s.Stopped {
			stop.Store(true)
		}
		began, looked := s.Told.At, s.counter.LookedUp()
		for from, to, given, ok := pool.Take(&s.Worker); ok; from, to, given, ok = pool.Take(&s.Worker) {
			if given != nil {
				s.resumePart(given)
			}
			told, steps := from, s.Steps // those that progress counts
			for i := from; i < to && !stop.Load() && !s.Tripped && !e.capped.cut.IsDone() && !allowed.Over(); i++ {
				switch id := roots[i]; {
				case !view.HasVertex(id):
				case w.countPlan != nil:
					total = total.Add(s.counter.FromRoot(e.which, root, id))
				default:
					s.FromRoot(w.order, e.which, id)
				}
				done++
				if s.Steps-steps >= work.PollEvery { // few roots may be nearly all of the search
					e.come.Done(i + 1 - told)
					told, steps = i+1, s.Steps
				}
			}
			e.come.Done(to - told)
			if allowed != nil && !allowed.Over() {
				tell(done)
			}
			if st != nil && st.Err() != nil || s.Tripped || e.capped.cut.IsDone() || allowed.Over() {
				stop.Store(true)
			}
		}
		s.Spend()
		took := s.Told.At - began
		if w.countPlan != nil {
			b.opt.Profile.counted(w.countPlan, true, s.Steps, looked, s.counter.LookedUp())
		}
		var rows rowsort.Sorted
		first := false
		if st != nil {
			first = e.capped.cut.IsDone() && e.capped.cut.Give(&s.Search, st)
			rows = st.Finish(nil)
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		switch {
		case first:
			e.all.Drop()
		case e.capped.cut.IsDone():
			rows.Drop()
		}
		e.all.Join(rows)
		e.result.Count = e.result.Count.Add(total).Add(s.Counted())
		e.result.Steps += s.Steps
		e.result.SearchNS += took
		if s.Witness != nil && e.result.Witness == nil {
			e.result.Witness, e.result.Count = s.Witness, matcher.CountOf(1)
		}
	})
	e.result.Steps += e.capped.steps.Load()
}

// progressOf returns a function by which a worker of a run tells how many roots it has searched.
func (e *enumeration) progressOf() func(done float64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := len(e.done)
	e.done = append(e.done, 0)
	return func(done float64) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.done[at] = done
	}
}

// viewCut is the cut of a view whose rows are capped.
type viewCut struct {
	cut    backtrack.Cap
	b      *Backend
	stop   *atomic.Bool
	way    *way
	which  dyngraph.Which
	layout *rowsort.Layout
	file   *rowsort.File
	steps  atomic.Uint64 // of canonical searches
}

// Begin implements backtrack.Capped.
func (v *viewCut) Begin() (*rowsort.Layout, *rowsort.File) { return v.layout, v.file }

// Find implements backtrack.Capped.
func (v *viewCut) Find(c *backtrack.CanonicalSearch, limit uint64) {
	if s := v.way.space; s.Rough || s.Bare {
		c.FromRoots(canonicalIn(s), v.which, limit)
		return
	}
	f := focus{CanonicalSearch: c, b: v.b, which: v.which, limit: limit, stop: v.stop}
	f.find(v.way.space, 0, 0)
}

// Tell implements backtrack.Capped.
func (v *viewCut) Tell(steps uint64) { v.steps.Add(steps) }
