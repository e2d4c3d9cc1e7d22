package cpu

import (
	"cmp"
	"context"
	"math"
	"sync"

	"motifd/matcher"
	"motifd/matcher/cpu/internal/count"
	"motifd/matcher/cpu/internal/work"
)

const (
	// firstTurn is the number of steps of the first turn of a count by enumeration, and nextTurn the factor by which
	// its steps in all grow from one turn to the next.
	firstTurn = 1 << 13
	nextTurn  = 2
	// soon bounds which enumerations go on without turns for others: they are expected to make at most soon times the
	// steps of the turn at hand. But expectations may grow with the turns. So a count by components that has made fewer
	// than 1/atLeast of the steps gets a turn.
	soon, atLeast = 8, 16
	// firstSummed is the steps of the first turn of a count by components for each of firstTurn. Later it may make as
	// many as the enumeration is expected to make, and mostSummed for each of the turn at hand. A turn is looked at
	// turnParts times. It ends early if the count is then expected to make more than hopeless times the steps that are
	// expected of the enumeration.
	firstSummed, mostSummed, turnParts, hopeless = 6, 64, 4, 4
	// perEdge is the number of steps of an enumeration that take as long as to plan an edge of a quotient. A plan that
	// takes longer than the enumeration has taken waits until that has made planTurn times firstTurn.
	perEdge, planTurn = 16, 8
	// roughTurn is the divisor of the steps allowed in a rough space that gives those of the first turn by components.
	// That turn comes before any other: where labels are few, candidates are many, and counts have few terms.
	roughTurn = 4
	// jumpTurn is the number of steps of the first turn of a search with jumps for each of firstTurn.
	jumpTurn = 64
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
		// By enumeration, unless it is foreseen to take long.
		if foreseen <= soon*steps && !(w.space.Rough && steps == c.first) {
			if c.turn(one, steps) {
				return true
			}
			foreseen = one.foreseen()
		}
		// By components.
		summed := min(foreseen, mostSummed*steps)
		switch {
		case sums == nil || foreseen > soon*steps:
		case one.spent() <= atLeast*sums.spent():
			continue
		default:
			summed = min(foreseen, one.spent())
		}
		if sums == nil {
			if !w.space.Rough && !math.IsInf(foreseen, 1) && c.goesOn(one, &foreseen) {
				return true
			}
			by := b.summingWay(c.e.c, w, &c.e.result)
			if by == nil {
				return c.turn(c.enter(b.jumpingWay(w)), c.most)
			}
			sums = c.enter(by)
			if summed = firstSummed * c.first; w.space.Rough {
				summed = max(2*summed, c.most/roughTurn)
			}
		}
		if c.sum(sums, one, summed, foreseen) {
			return true
		}
		if steps >= jumpTurn*c.first && foreseen > soon*steps {
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

// goesOn lets the enumeration go on before there is a count by components: if it is foreseen to need no more steps
// than that gets in its first turn, and if to plan that count takes longer than the enumeration has taken. It reports
// whether the search is done.
func (c *contest) goesOn(one *contestant, foreseen *float64) bool {
	on := func(steps float64) bool {
		if c.turn(one, steps) {
			return true
		}
		*foreseen = one.foreseen()
		return false
	}
	if first := firstSummed * c.first; *foreseen-one.spent() <= first && on(one.spent()+first) {
		return true
	}
	return perEdge*float64(count.Effort(one.way.space.Narrowed)) > one.spent() && on(planTurn*c.first)
}

// sum gives a count by components a turn, up to a number of steps in all. How far it has come is not known before its
// first root is done.
func (c *contest) sum(sums, one *contestant, steps, foreseen float64) bool {
	began, left := sums.spent(), foreseen-one.spent()
	if one.spent() == 0 { // nothing is known of it
		left = math.Inf(1)
	}
	for part := 1.0; part <= turnParts; part++ {
		if c.turn(sums, began+(steps-began)*part/turnParts) {
			return true
		}
		if all := sums.foreseen(); !math.IsInf(all, 1) && all-sums.spent() > hopeless*left {
			break
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
		steps += x.spent()
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

// spent returns the steps that the search has made.
func (x *contestant) spent() float64 { return float64(x.allowed.Spent()) }

// foreseen returns the expected number of steps of the whole search, after a turn that was not enough: infinite if it
// has not come far enough to tell.
func (x *contestant) foreseen() float64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	done := 0.0
	for _, d := range x.done {
		done += d
	}
	roots := x.way.space.Candidates[x.way.order.Steps[0].Vertex]
	return x.spent() * float64(max(1, roots)) / done
}
