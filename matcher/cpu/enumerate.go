package cpu

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/backtrack"
	"motifd/matcher/cpu/internal/labeladj"
	"motifd/matcher/cpu/internal/work"
	"motifd/matcher/internal/rowsort"
)

// rootChunk is the number of first vertices that a worker takes at a time when it enumerates a graph.
const rootChunk = 256

// Enumerate implements matcher.Backend. The search of one root is shared as that of an anchor is (see pool).
func (b *Backend) Enumerate(ctx context.Context, which dyngraph.Which, p *matcher.Plan, want matcher.Want, limit uint64,
	budget *matcher.Budget, emit func(matcher.Rows) error) (matcher.Result, error) {
	c := b.plans[p]
	if c == nil {
		return matcher.Result{}, fmt.Errorf("query %q was enumerated without being prepared", p.Query.Name)
	}
	if b.filter.Dormant(p) {
		return matcher.Result{}, ctx.Err()
	}
	o := c.rowsAll
	if want == matcher.WantCount {
		o = c.countAll
	}
	view := b.g.View(which)
	var stop atomic.Bool
	defer work.StopWith(ctx, &stop)()
	var adj *labeladj.Index
	countPlan := c.countPlan
	if want != matcher.WantCount || b.isRevised(c) {
		countPlan = nil
	}
	if countPlan != nil {
		b.addWildcards(countPlan)
		adj = b.labelIndex()
	}
	var mu sync.Mutex
	var result matcher.Result
	var meter matcher.Meter
	if cause := meter.Begin(budget, want != matcher.WantRows || limit > 0); cause != matcher.NoCause {
		return matcher.Result{Over: cause}, nil
	}
	file := rowsort.File{Open: b.opt.TempFiles, Budget: budget}
	all := rowsort.Sorted{Layout: rowsort.NewLayout(view, p), File: &file}
	keep, capped := limit, viewCut{b: b, c: c, which: which, layout: all.Layout, file: &file}
	if limit > 0 {
		keep++ // one more tells that there are more
		if want == matcher.WantRows {
			capped.cut.Begin(&b.shared, keep, &capped)
		}
	}
	bound := int(b.g.IDBound())
	pool, endings := &work.Pool{Options: &b.work, Stop: &stop}, backtrack.Memo{Shared: &b.shared}
	defer endings.Release()
	var come matcher.SearchProgress
	b.progress.Begin(&come, bound)
	defer b.progress.End(&come)
	pool.Run(bound, rootChunk, func() {
		s := b.newSearcher(&stop, want)
		defer b.release(s)
		pool.Join(&s.Worker)
		s.UseMemo(&endings)
		var total matcher.Count
		if countPlan != nil {
			s.counter.Start(countPlan, adj, nil)
		}
		st := &rowsort.Sorter{Memory: b.opt.GroupMemory, Stop: &stop}
		st.Begin(all.Layout, keep, &file)
		s.Out = st
		s.Measure(&meter)
		capped.cut.Measure(&s.Search)
		if s.Stopped {
			stop.Store(true)
		}
		began := s.Told.At
		defer func() {
			st.Drop()
			st.Release()
		}()
		for from, to, given, ok := pool.Take(&s.Worker); ok; from, to, given, ok = pool.Take(&s.Worker) {
			if given != nil {
				s.resumePart(given)
			}
			for v := from; v < to && !stop.Load() && !s.Tripped && !capped.cut.IsDone(); v++ {
				switch id := dyngraph.VertexID(v); {
				case !view.HasVertex(id):
				case countPlan != nil:
					total = total.Add(s.counter.FromRoot(which, o.Steps[0].Vertex, id))
				default:
					s.FromRoot(o, which, id)
				}
			}
			come.Done(to - from)
			if st.Err() != nil || s.Tripped || capped.cut.IsDone() {
				stop.Store(true)
			}
		}
		s.Spend()
		took := s.Told.At - began
		first := capped.cut.IsDone() && capped.cut.Give(&s.Search, st)
		rows := st.Finish(nil)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case first:
			all.Drop()
		case capped.cut.IsDone():
			rows.Drop()
		}
		all.Join(rows)
		result.Count = result.Count.Add(total).Add(matcher.CountOf(s.Found))
		result.Steps += s.Steps
		result.SearchNS += took
		if s.Witness != nil && result.Witness == nil {
			result.Witness, result.Count = s.Witness, matcher.CountOf(1)
		}
	})
	result.Steps += capped.steps.Load()
	if err := ctx.Err(); err != nil {
		all.Close()
		return matcher.Result{}, err
	}
	if errors.Is(all.Err, rowsort.ErrSpill) {
		meter.Exceed(matcher.CauseSpill)
	}
	if result.Over = meter.Over(); result.Over != matcher.NoCause && result.Witness == nil {
		all.Close()
		result.Count = matcher.Count{}
		return result, nil
	}
	result.Over = matcher.NoCause
	switch want {
	case matcher.WantAny:
		return result, nil
	case matcher.WantCount:
		result.Count = c.inUnits(result.Count)
		return result, nil
	}
	take := all.Count
	if limit > 0 && take > limit {
		take, result.Truncated = limit, true
	}
	result.Count = matcher.CountOf(take)
	if take == 0 {
		err := all.Err
		all.Close()
		return result, err
	}
	return result, all.Each(ctx, take, emit)
}

// viewCut is the cut of a view whose rows are capped.
type viewCut struct {
	cut    backtrack.Cap
	b      *Backend
	c      *compiled
	which  dyngraph.Which
	layout *rowsort.Layout
	file   *rowsort.File
	steps  atomic.Uint64 // of canonical searches
}

// Begin implements backtrack.Capped.
func (v *viewCut) Begin() (*rowsort.Layout, *rowsort.File) { return v.layout, v.file }

// Find implements backtrack.Capped.
func (v *viewCut) Find(c *backtrack.CanonicalSearch, limit uint64) {
	c.FromRoots(v.c.canonical(v.b.filter, -1), v.which, limit)
}

// Tell implements backtrack.Capped.
func (v *viewCut) Tell(steps uint64) { v.steps.Add(steps) }
