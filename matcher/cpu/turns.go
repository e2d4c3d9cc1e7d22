package cpu

import (
	"cmp"
	"context"
	"math"
	"sync"

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
	// hopeless bounds which enumerations get a turn: they are expected to make at most hopeless times its steps.
	hopeless = 4
)

// count is searchWithin for a count, which is taken by enumeration or by components. One of these can take 100 times as
// long as the other, and it is not known in advance which. So they take turns, and the turns grow until one of them is
// done. A search waits between its turns. Most counts end in the first turn, so it is made by the caller: it is over
// sooner than a goroutine begins.
func (e *enumeration) count(ctx context.Context, w *way, most float64) bool {
	c := &contest{e: e, ctx: ctx, most: most, first: float64(cmp.Or(e.b.firstTurn, firstTurn))}
	defer c.end()
	one := c.enter(w)
	switch {
	case e.b.sumsFirst:
		return c.run(one, math.Inf(1))
	case w.space.Rough:
		return c.run(one, 0)
	}
	done := make(chan bool, 1)
	var others sync.Once // begin when the steps of the first turn are used up
	one.usedUp = func() {
		others.Do(func() {
			go func() {
				won := c.run(one, 0)
				one.allowed.Refuse()
				done <- won
			}()
		})
	}
	if c.allow(one, c.first) {
		one.run(ctx, w, &one.allowed)
		close(one.ended)
	}
	others.Do(func() { done <- c.take(one) })
	return <-done
}

// run gives turns to the searches until one is done, and reports whether one was. foreseen is the expected number of
// steps of the enumeration by vertices alone: infinite to leave it out, 0 if it is not known.
//
// There are two enumerations: the one by vertices alone is fast, and the one with jumps may make fewer steps. The
// latter has turns once turns are long.
func (c *contest) run(one *contestant, foreseen float64) bool {
	b, w := c.e.b, one.way
	var sums, jumps *contestant
	for steps := c.first; c.spent() < c.most; steps *= nextTurn {
		// By enumeration, unless it is foreseen not to suffice.
		if foreseen <= hopeless*steps && !(w.space.Rough && steps == c.first) {
			if c.turn(one, steps) {
				return true
			}
			foreseen = one.foreseen()
		}
		if foreseen <= nextTurn*steps && (sums != nil || steps == c.first && !w.space.Rough) {
			continue // the next turn is foreseen to suffice
		}
		// By components.
		summed := max(summedTurn*steps, foreseen)
		if sums == nil {
			by := b.summingWay(c.e.c, w, &c.e.result)
			if by == nil {
				return c.turn(c.enter(b.jumpingWay(w)), c.most)
			}
			sums = c.enter(by)
			if summed = firstSummed * c.first; w.space.Rough {
				summed = max(summed, c.most/roughTurn)
			}
		}
		if c.turn(sums, summed) {
			return true
		}
		if steps > nextTurn*c.first {
			if jumps == nil {
				jumps = c.enter(b.jumpingWay(w))
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
	first float64 // steps of the first turn
	all   []*contestant
}

// contestant is one search of a contest.
type contestant struct {
	enumeration
	way      *way
	allowed  work.Allowance
	ended    chan struct{} // closed when the search is done or stopped; nil before its first turn
	isAnswer bool
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
func (c *contest) spent() (steps float64) {
	for _, x := range c.all {
		steps += float64(x.allowed.Spent())
	}
	return steps
}

// turn lets a search go on until it has made a number of steps in all. It reports whether the search is done, and takes
// over its answer.
func (c *contest) turn(x *contestant, steps float64) bool {
	begins := x.ended == nil
	if !begins {
		c.e.b.progress.Resume(&x.come)
	}
	if !c.allow(x, steps) {
		return true
	}
	if begins {
		go func() {
			defer close(x.ended)
			x.run(c.ctx, x.way, &x.allowed)
		}()
	}
	select {
	case <-x.allowed.Used():
		c.e.b.progress.End(&x.come)
		return false
	case <-x.ended:
		return c.take(x)
	}
}

// allow allows a search a number of steps in all. It reports false if the budget refuses to begin the search.
func (c *contest) allow(x *contestant, steps float64) bool {
	if x.ended == nil {
		x.ended = make(chan struct{})
		if cause := x.meter.Begin(c.e.budget, true); cause != matcher.NoCause {
			close(x.ended)
			c.e.meter.Exceed(cause)
			return false
		}
	}
	steps = min(steps, c.most-c.spent()+float64(x.allowed.Spent()), math.MaxInt64)
	x.allowed.Allow(uint64(max(0, steps)))
	return true
}

// take takes over the answer of a search that is done.
func (c *contest) take(x *contestant) bool {
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

// foreseen returns the expected number of steps of a whole enumeration, after a turn that was not enough.
func (x *contestant) foreseen() float64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	done := 0.0
	for _, d := range x.done {
		done += d
	}
	roots := x.way.space.Candidates[x.way.order.Steps[0].Vertex]
	return float64(x.allowed.Spent()) * float64(max(1, roots)) / max(done, 1e-9)
}
