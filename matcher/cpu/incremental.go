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
	results := make([]matcher.Result, len(reqs))
	for _, r := range reqs {
		if b.plans[r.Plan] == nil {
			return nil, fmt.Errorf("query %q was searched without being prepared", r.Plan.Query.Name)
		}
	}
	if err := b.searchTotals(ctx, sign, reqs, results); err != nil {
		return nil, err
	}
	if err := b.searchRows(ctx, sign, reqs, results, emit, over); err != nil {
		return nil, err
	}
	return results, nil
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

// searchTotals answers the requests that want a count or a witness.
func (b *Backend) searchTotals(ctx context.Context, sign dyngraph.Sign, reqs []matcher.Request,
	results []matcher.Result) error {
	if !slices.ContainsFunc(reqs, func(r matcher.Request) bool { return r.Want != matcher.WantRows }) {
		return nil
	}
	phase := b.phase + uint64(program.SignIndex(sign))
	b.Ready(reqs)
	t := totals{b: b, ctx: ctx, sign: sign, phase: phase}
	defer t.end()
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
		began := b.work.Now()
		tasks := b.emptyTasks(len(reqs))
		if how == bySums {
			b.groupNetEdges()
			grouped := b.work.Now() - began
			if err := b.advanceViews(ctx, phase, reqs, results); err != nil { // which tells its own time
				return err
			}
			began = b.work.Now() - grouped
			b.newAnchors(reqs, func(r matcher.Request) bool { return b.oneByOne(&r, phase) }, false, nil).
				groupTasks(phase, tasks)
		} else {
			if t.leader = nil; how == byCounting {
				t.leader = b.leaders(reqs, matcher.WantCount)
			}
			b.newAnchors(reqs, func(r matcher.Request) bool { return b.how(r) == how }, how == byWitness, t.leader).
				edgeTasks(sign, tasks)
		}
		prepared := (b.work.Now() - began) / int64(n)
		for r := range reqs {
			if b.how(reqs[r]) != how {
				continue
			}
			results[r].SearchNS += prepared
			if len(tasks[r]) == 0 && b.viewsAt(&reqs[r], phase) == nil {
				continue
			}
			if err := t.total(r, reqs, tasks[r], &results[r]); err != nil {
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
	case b.plans[r.Plan].countPlan == nil || b.isRevised(b.plans[r.Plan]) || r.Silence != nil: // one by one
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
