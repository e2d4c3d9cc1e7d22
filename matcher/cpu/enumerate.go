package cpu

import (
	"cmp"
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
	// firstTurn is the number of steps of the first turn of a count by enumeration, and nextTurn the factor from one
	// turn to the next. A turn by components has summedTurn steps for each of these: they take less time.
	firstTurn  = 1 << 13
	nextTurn   = 16
	summedTurn = 12
	// roughTurn is the divisor of the steps allowed in a rough space that gives those of the first turn by components.
	// That turn comes before any other: where labels are few, candidates are many, and counts have few terms.
	roughTurn = 4
	// hopeless is a ratio: an enumeration that is foreseen to make more than so many times the steps of its turn has no
	// turn.
	hopeless = 4
)

// Enumerate implements matcher.Backend. The search is in a candidate space that is made for it, by enumeration. A count
// that takes long begins again without enumeration (see count). The search of one root is shared as that of an anchor
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

	stop   atomic.Bool
	budget *matcher.Budget
	meter  matcher.Meter
	layout *rowsort.Layout // nil if no rows are wanted
	capped viewCut

	steps uint64 // of the last turn

	mu     sync.Mutex // held to add to the following
	done   float64    // roots of the last run; of one that was given up in between, the part that was done
	result matcher.Result
	all    rowsort.Sorted
}

// search searches. Where semi-joins read much, the space is rough at first: short searches do not pay for them. A
// search that is given up has found nothing; its steps are reported all the same, and count for the budget.
func (e *enumeration) search(ctx context.Context) {
	b := e.b
	w := b.wayOf(e.c, e.want, nil, &e.stop, &e.result)
	if w != nil && w.space.Rough && w.order != nil {
		if e.searchWithin(ctx, w, float64(b.trialOf(e.c.plan, 3*w.space.Round))) {
			return
		}
		w = b.wayOf(e.c, e.want, w.space, &e.stop, &e.result)
	}
	if w != nil && w.order != nil {
		e.searchWithin(ctx, w, math.Inf(1))
	}
}

// searchWithin searches within a limit of steps. It reports false if the limit ended the search, which has found
// nothing then.
func (e *enumeration) searchWithin(ctx context.Context, w *way, most float64) bool {
	if e.want == matcher.WantCount {
		return e.count(ctx, w, most)
	}
	return e.turn(ctx, w, most)
}

// count is searchWithin for a count, which is taken by enumeration or by components. One of these can take 100 times as
// long as the other, and it is not known in advance which. So they take turns, and the turns grow until one of them is
// done. There are two enumerations: the one by vertices alone is fast, and the one with jumps may make fewer steps. The
// latter has turns once turns are long.
func (e *enumeration) count(ctx context.Context, w *way, most float64) bool {
	var sums *way
	before, foreseen, first := e.result.Steps, 0.0, float64(cmp.Or(e.b.firstTurn, firstTurn))
	turn := func(w *way, steps float64) bool {
		e.embeddings = w.countPlan != nil
		return e.turn(ctx, w, min(steps, most-float64(e.result.Steps-before)))
	}
	if e.b.sumsFirst {
		foreseen = math.Inf(1)
	}
	for steps := first; float64(e.result.Steps-before) < most; steps *= nextTurn {
		// By enumeration, unless it is foreseen not to suffice.
		if foreseen <= hopeless*steps && !(w.space.Rough && steps == first) {
			if turn(w, steps) {
				return true
			}
			foreseen = e.foreseen(w)
		}
		if foreseen <= nextTurn*steps && (sums != nil || steps == first && !w.space.Rough) {
			continue // the next turn is foreseen to suffice
		}
		// By components. The first of these turns is short: most counts by components take few steps.
		summed := max(summedTurn*steps, foreseen)
		if sums == nil {
			if sums = e.b.summingWay(e.c, w, &e.result); sums == nil {
				return turn(e.b.jumpingWay(w), most)
			}
			if summed = summedTurn * first; w.space.Rough {
				summed = max(summed, most/roughTurn)
			}
		}
		if turn(sums, summed) || steps > nextTurn*first && turn(e.b.jumpingWay(w), steps) {
			return true
		}
	}
	return false
}

// turn is searchWithin in one way.
func (e *enumeration) turn(ctx context.Context, w *way, steps float64) bool {
	before, allowed := e.result.Steps, (*work.Allowance)(nil)
	if !math.IsInf(steps, 1) {
		allowed = &work.Allowance{Steps: uint64(max(0, steps))}
	}
	e.run(ctx, w, allowed)
	e.steps = e.result.Steps - before
	if !allowed.Over() || e.result.Witness != nil || e.meter.Over() != matcher.NoCause || ctx.Err() != nil {
		return true
	}
	e.all.Close()
	e.result.Count = matcher.Count{}
	e.meter.Restart()
	return false
}

// foreseen returns the expected number of steps of a whole enumeration, after a turn that was not enough.
func (e *enumeration) foreseen(w *way) float64 {
	return float64(e.steps) * float64(max(1, w.space.Candidates[w.order.Steps[0].Vertex])) / max(e.done, 1e-9)
}

// run searches in one way, within an allowance if there is one, and adds to the result.
func (e *enumeration) run(ctx context.Context, w *way, allowed *work.Allowance) {
	b, stop := e.b, &e.stop
	file := &rowsort.File{Open: b.opt.TempFiles, Budget: e.budget}
	e.all = rowsort.Sorted{Layout: e.layout, File: file}
	if e.done = 0; allowed != nil {
		stop = new(atomic.Bool)
		defer work.StopWith(ctx, stop)()
	}
	root := w.order.Steps[0].Vertex
	view, roots := b.g.View(e.which), w.space.Roots(root)
	var come matcher.SearchProgress
	b.progress.Begin(&come, len(roots))
	defer b.progress.End(&come)
	var adj *labeladj.Index
	if w.countPlan != nil {
		b.addWildcards(w.countPlan)
		adj = b.labelIndex()
	}
	keep := e.limit
	e.capped = viewCut{way: w, which: e.which, layout: e.layout, file: file}
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
		defer s.Detach()
		pool.Join(&s.Worker)
		s.UseMemo(&endings)
		var total matcher.Count
		done := 0.0
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
				if allowed.Over() && w.countPlan == nil {
					done += s.RootDone()
				} else {
					done++
				}
				if s.Steps-steps >= work.PollEvery { // few roots may be nearly all of the search
					come.Done(i + 1 - told)
					told, steps = i+1, s.Steps
				}
			}
			come.Done(to - told)
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
		e.done += done
		e.result.Count = e.result.Count.Add(total).Add(s.Counted())
		e.result.Steps += s.Steps
		e.result.SearchNS += took
		if s.Witness != nil && e.result.Witness == nil {
			e.result.Witness, e.result.Count = s.Witness, matcher.CountOf(1)
		}
	})
	e.result.Steps += e.capped.steps.Load()
}

// viewCut is the cut of a view whose rows are capped.
type viewCut struct {
	cut    backtrack.Cap
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
	c.FromRoots(v.way.canonical(), v.which, limit)
}

// Tell implements backtrack.Capped.
func (v *viewCut) Tell(steps uint64) { v.steps.Add(steps) }
