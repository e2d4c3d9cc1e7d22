package cpu

import (
	"cmp"
	"context"
	"math"

	"motifd/matcher"
	"motifd/matcher/cpu/internal/work"
)

const (
	// firstTurn is the number of steps of the first turn of a count by enumeration, and nextTurn the factor by which
	// its steps in all grow from one turn to the next. A count by components has summedTurn steps for each of these; in
	// its first turn firstSummed for each of firstTurn, since most such counts end in it.
	firstTurn   = 1 << 13
	nextTurn    = 8
	summedTurn  = 6
	firstSummed = 12
	// roughTurn is the divisor of the steps allowed in a rough space that gives those of the first turn by components.
	// That turn comes before any other: where labels are few, candidates are many, and counts have few terms.
	roughTurn = 4
	// hopeless is a ratio: an enumeration that is foreseen to make more than so many times the steps of its turn has no
	// turn.
	hopeless = 4
)

// count is searchWithin for a count, which is taken by enumeration or by components. One of these can take 100 times as
// long as the other, and it is not known in advance which. So they take turns, and the turns grow until one of them is
// done. A search waits between its turns. The very first turn is not resumed: most counts end in it, and it is over
// sooner than a goroutine begins. There are two enumerations: the one by vertices alone is fast, and the one with jumps
// may make fewer steps. The latter has turns once turns are long.
func (e *enumeration) count(ctx context.Context, w *way, most float64) bool {
	c := &contest{e: e, ctx: ctx, most: most}
	defer c.end()
	var one, sums, jumps *contestant
	foreseen, first := 0.0, float64(cmp.Or(e.b.firstTurn, firstTurn))
	if e.b.sumsFirst {
		foreseen = math.Inf(1)
	}
	for steps := first; c.spent() < most; steps *= nextTurn {
		// By enumeration, unless it is foreseen not to suffice.
		if foreseen <= hopeless*steps && !(w.space.Rough && steps == first) {
			switch {
			case steps == first:
				before := e.result.Steps
				if e.turn(ctx, w, min(first, most)) {
					return true
				}
				c.first = e.result.Steps - before
				foreseen = e.foreseen(w, float64(c.first))
			case one == nil:
				one = c.enter(w)
				fallthrough
			default:
				if c.turn(one, steps) {
					return true
				}
				foreseen = one.foreseen(w, float64(one.allowed.Spent()))
			}
		}
		if foreseen <= nextTurn*steps && (sums != nil || steps == first && !w.space.Rough) {
			continue // the next turn is foreseen to suffice
		}
		// By components.
		summed := max(summedTurn*steps, foreseen)
		if sums == nil {
			by := e.b.summingWay(e.c, w, &e.result)
			if by == nil {
				return c.turn(c.enter(e.b.jumpingWay(w)), most)
			}
			sums = c.enter(by)
			if summed = firstSummed * first; w.space.Rough {
				summed = max(summed, most/roughTurn)
			}
		}
		if c.turn(sums, summed) {
			return true
		}
		if steps > nextTurn*first {
			if jumps == nil {
				jumps = c.enter(e.b.jumpingWay(w))
			}
			if c.turn(jumps, steps) {
				return true
			}
		}
	}
	return false
}

// contest is a count by several searches that take turns. The first one that is done has the answer.
type contest struct {
	e     *enumeration
	ctx   context.Context
	most  float64 // steps of all
	first uint64  // steps of the first turn
	all   []*contestant
}

// contestant is one search of a contest.
type contestant struct {
	enumeration
	way     *way
	allowed work.Allowance
	ended   chan struct{} // closed when the search is done or stopped; nil before its first turn
}

// enter returns another search.
func (c *contest) enter(w *way) *contestant {
	e := c.e
	x := &contestant{way: w,
		enumeration: enumeration{b: e.b, c: e.c, which: e.which, want: e.want, limit: e.limit, budget: e.budget}}
	x.allowed.Pause()
	c.all = append(c.all, x)
	return x
}

// spent returns the steps that all searches have made.
func (c *contest) spent() float64 {
	steps := float64(c.first)
	for _, x := range c.all {
		steps += float64(x.allowed.Spent())
	}
	return steps
}

// turn lets a search go on until it has made a number of steps in all. It reports whether the search is done, and takes
// over its answer.
func (c *contest) turn(x *contestant, steps float64) bool {
	steps = min(steps, c.most-c.spent()+float64(x.allowed.Spent()))
	if x.ended != nil {
		c.e.b.progress.Resume(&x.come)
	} else {
		if cause := x.meter.Begin(c.e.budget, true); cause != matcher.NoCause {
			c.e.meter.Exceed(cause)
			return true
		}
		x.ended = make(chan struct{})
		go func() {
			defer close(x.ended)
			x.run(c.ctx, x.way, &x.allowed)
		}()
	}
	x.allowed.Allow(uint64(max(0, min(steps, math.MaxInt64))))
	select {
	case <-x.allowed.Used():
		c.e.b.progress.End(&x.come)
		return false
	case <-x.ended:
	}
	if over := x.meter.Over(); over != matcher.NoCause {
		c.e.meter.Exceed(over)
	}
	c.e.embeddings = x.way.countPlan != nil
	c.e.result.Count, c.e.result.Witness = x.result.Count, x.result.Witness
	x.isAnswer = true
	return true
}

// end stops the searches that wait, and adds what all have taken to the result. What they have found goes off the
// budget.
func (c *contest) end() {
	for _, x := range c.all {
		x.allowed.Refuse()
		if x.ended == nil {
			continue
		}
		<-x.ended
		x.all.Close()
		if !x.isAnswer {
			x.meter.Restart()
		}
		c.e.result.Steps += x.result.Steps
		c.e.result.SearchNS += x.result.SearchNS
	}
}

// foreseen returns the expected number of steps of a whole enumeration, after a number of them was not enough.
func (e *enumeration) foreseen(w *way, steps float64) float64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	done := 0.0
	for _, d := range e.done {
		done += d
	}
	return steps * float64(max(1, w.space.Candidates[w.order.Steps[0].Vertex])) / max(done, 1e-9)
}
