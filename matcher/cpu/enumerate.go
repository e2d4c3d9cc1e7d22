package cpu

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"motifd/dyngraph"
	"motifd/matcher"
)

// rootChunk is the number of first vertices that a worker takes at a time when it enumerates a graph.
const rootChunk = 256

// Enumerate implements matcher.Backend.
func (b *Backend) Enumerate(ctx context.Context, which dyngraph.Which, p *matcher.Plan, want matcher.Want, limit uint64,
	emit func(matcher.Rows) error) (matcher.Result, error) {
	c := b.plans[p]
	if c == nil {
		return matcher.Result{}, fmt.Errorf("query %q was enumerated without being prepared", p.Query.Name)
	}
	o := c.rowsAll
	if want == matcher.WantCount {
		o = c.countAll
	}
	view := b.g.View(which)
	var stop atomic.Bool
	defer watch(ctx, &stop)()
	var adj *adjacency
	if want == matcher.WantCount && c.shape != nil {
		adj = b.adjacency()
	}
	var next atomic.Int64
	var mu sync.Mutex
	var result matcher.Result
	all := sorted{order: newRowOrder(view, p)}
	bound := int(b.g.IDBound())
	work := func() {
		began := b.clock()
		s := b.newSearch(&stop)
		defer b.release(s)
		s.counting = want == matcher.WantCount
		shape := c.shape
		if !s.counting {
			shape = nil
		}
		if shape != nil {
			s.counter.start(s, shape, adj)
		}
		st := &sorter{order: all.order, dir: b.opt.SpillDir, memory: b.opt.GroupMemory}
		if limit > 0 {
			st.limit = limit + 1
		}
		defer st.close()
		var witness []uint32
		s.found = func() bool {
			if want == matcher.WantAny {
				witness = s.appendRow(nil)
				stop.Store(true)
				return false
			}
			st.data = s.appendRow(st.data)
			st.added()
			return st.err == nil
		}
		for !stop.Load() {
			from := int(next.Add(rootChunk)) - rootChunk
			if from >= bound {
				break
			}
			for v := from; v < min(from+rootChunk, bound) && !stop.Load(); v++ {
				switch id := dyngraph.VertexID(v); {
				case !view.HasVertex(id):
				case shape != nil:
					s.total = s.total.Add(s.counter.fromRoot(which, o.steps[0].vertex, id))
				default:
					s.fromRoot(o, which, id)
				}
			}
			if st.err != nil {
				stop.Store(true)
			}
		}
		took := b.clock() - began
		rows := st.finish()
		mu.Lock()
		defer mu.Unlock()
		all.join(rows)
		result.Count = result.Count.Add(s.total)
		result.Steps += s.steps
		result.SearchNS += took
		if witness != nil && result.Witness == nil {
			result.Witness, result.Count = witness, matcher.CountOf(1)
		}
	}
	b.parallel(b.opt.Threads, work)
	if err := ctx.Err(); err != nil {
		all.close()
		return matcher.Result{}, err
	}
	switch want {
	case matcher.WantAny:
		return result, nil
	case matcher.WantCount:
		if p.Query.Unit == matcher.Subgraphs {
			result.Count = orbits(result.Count, p.Automorphisms)
		}
		return result, nil
	}
	take := all.count
	if limit > 0 && take > limit {
		take, result.Truncated = limit, true
	}
	result.Count = matcher.CountOf(take)
	if take == 0 {
		err := all.err
		all.close()
		return result, err
	}
	return result, all.each(take, emit)
}
