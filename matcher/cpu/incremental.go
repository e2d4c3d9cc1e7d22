package cpu

import (
	"context"
	"fmt"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/count"
	"motifd/matcher/cpu/internal/program"
)

// Search implements matcher.Backend. Counts and existence need no order and are searched request by request; rows are
// searched anchor by anchor.
func (b *Backend) Search(ctx context.Context, sign dyngraph.Sign, reqs []matcher.Request,
	emit func(matcher.Group) error, over matcher.Exceeded) ([]matcher.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var n [byRows + 1]int
	b.asks = slices.Grow(b.asks[:0], len(reqs))[:len(reqs)]
	for i := range reqs {
		r := &reqs[i]
		c := b.plans[r.Plan]
		if c == nil {
			return nil, fmt.Errorf("query %q was searched without being prepared", r.Plan.Query.Name)
		}
		b.asks[i] = asks{c, b.how(c, r)}
		n[b.asks[i].how]++
	}
	results := make([]matcher.Result, len(reqs))
	if n[byRows] < len(reqs) {
		if err := b.searchTotals(ctx, sign, reqs, n, results); err != nil {
			return nil, err
		}
	}
	if n[byRows] > 0 {
		if err := b.searchRows(ctx, sign, reqs, results, emit, over); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// asks is the compiled plan of a request, and the way in which it is answered.
type asks struct {
	c   *compiled
	how byHow
}

// task is one anchored search.
type task struct {
	o *program.Order
	program.NetPair
	// net is the order of the net edge; of a plan that is counted without enumeration only if some plan has conditions
	// or is enumerated all the same, or the label has parallel edges.
	net   uint32
	label dyngraph.LabelID
}

// anchor returns the oriented pattern edge that the net edge is the image of.
func (x *task) anchor() count.Anchor {
	return count.Anchor{Edge: x.o.Anchor, From: x.o.Steps[0].Vertex, To: x.o.Steps[1].Vertex}
}

// edge returns the net edge, whose ends are in the order of the task.
func (x *task) edge(d *dyngraph.Delta) *dyngraph.NetEdge {
	n := &d.Net[x.net]
	if n.From == x.From {
		return n
	}
	turned := *n
	turned.From, turned.To = x.From, x.To
	return &turned
}

// inserted returns a net edge with the ends of the task, of a task that no batch has.
func (x *task) inserted() *dyngraph.NetEdge {
	return &dyngraph.NetEdge{From: x.From, To: x.To, Label: x.label, Sign: dyngraph.Inserted}
}

// taskChunk is the number of anchored searches that a worker takes at a time.
const taskChunk = 64

// maxTasks bounds the tasks of one request whose memory is kept.
const maxTasks = 1 << 16

// searchTotals answers the requests that want a count or a witness. n are how many there are of each kind.
func (b *Backend) searchTotals(ctx context.Context, sign dyngraph.Sign, reqs []matcher.Request, n [byRows + 1]int,
	results []matcher.Result) error {
	phase := b.phase + uint64(program.SignIndex(sign))
	b.Ready(reqs)
	t := b.newTotals(ctx, sign, phase)
	defer t.end()
	for _, how := range []byHow{bySums, byCounting, byWitness} {
		if n[how] == 0 {
			continue
		}
		began := b.work.Now()
		tasks := b.emptyTasks(len(reqs))
		if how == bySums {
			b.groupNetEdges()
			took, err := b.advanceViews(ctx, phase, reqs, results) // which it tells itself
			if err != nil {
				return err
			}
			began += took
			use := func(i int) bool { return b.oneByOne(b.asks[i].c, &reqs[i], phase) }
			b.newAnchors(reqs, use, false, nil).groupTasks(phase, tasks)
		} else {
			if t.leader = nil; how == byCounting {
				t.leader = b.leaders(reqs, matcher.WantCount)
			}
			use := func(i int) bool { return b.asks[i].how == how }
			b.newAnchors(reqs, use, how == byWitness, t.leader).edgeTasks(sign, tasks)
		}
		prepared := (b.work.Now() - began) / int64(n[how])
		for r := range reqs {
			c := b.asks[r].c
			if b.asks[r].how != how {
				continue
			}
			results[r].SearchNS += prepared
			if len(tasks[r]) == 0 && b.viewsAt(c, &reqs[r], phase) == nil {
				continue
			}
			if err := t.total(r, c, &reqs[r], tasks[r], &results[r]); err != nil {
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

func (b *Backend) how(c *compiled, r *matcher.Request) byHow {
	switch {
	case r.Want == matcher.WantRows:
		return byRows
	case r.Want == matcher.WantAny:
		return byWitness
	case c.countPlan == nil || b.isRevised(c) || r.Silence != nil: // one by one
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
