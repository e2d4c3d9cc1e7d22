package placement

import (
	"math"
	"math/bits"
)

const (
	classes = 33 // powers of 4
	// weight is the weight of a new measurement in the moving average.
	weight = 0.1
	// changed is the ratio of a measurement to the average from which it is taken as a change and not as noise: the
	// average begins anew.
	changed = 4
)

// curve is the time of an amount of work on a side: a moving average for each class (power of 4). The curve does not go
// through 0, because each search has a fixed cost.
type curve struct {
	points [classes]point
	known  uint64 // the classes with a point, one bit each
}

// point is the average of the measurements of a class.
type point struct {
	n            int
	amount, cost float64 // cost in nanoseconds
	// cut is true if the last search was cut off: its cost is more than cost.
	cut bool
}

func classOf(amount float64) int { return bits.Len64(uint64(amount)) / 2 }

// add enters a measurement; done is false for a search that was cut off after cost.
func (c *curve) add(amount, cost float64, done bool) {
	amount, cost = max(1, amount), max(1, cost)
	k := classOf(amount)
	p := &c.points[k]
	is, was := cost/amount, p.cost/max(1, p.amount)
	switch {
	case !done && p.n > 0 && is < was: // a lower bound below the average says nothing
		return
	case p.cut || !done || is > changed*was || is < was/changed:
		p.n = 0
	}
	p.n++
	w := max(weight, 1/float64(p.n))
	p.amount += w * (amount - p.amount)
	p.cost += w * (cost - p.cost)
	p.cut = !done
	c.known |= 1 << k
}

// knowledge is the quality of a cost from a curve.
type knowledge uint8

const (
	nothing   knowledge = iota
	atLeast             // a lower bound: the last search of the class was cut off
	estimated           // interpolated or extrapolated from measurements
)

// at returns the cost of an amount of work: on the line through the nearest points below and above it, else on the line
// through the nearest two. With one point the fixed part of the cost is unknown, so the cost grows with the square
// root, between constant and proportional. The cost never falls with the amount, and never grows more than in
// proportion.
func (c *curve) at(amount float64) (cost float64, how knowledge) {
	amount = max(1, amount)
	if p := &c.points[classOf(amount)]; p.cut {
		return p.cost * amount / p.amount, atLeast
	}
	var below, above [2]*point // the nearest first
	for known := c.known; known != 0; known &= known - 1 {
		switch p := &c.points[bits.TrailingZeros64(known)]; {
		case p.cut:
		case p.amount <= amount:
			below[0], below[1] = p, below[0]
		case above[0] == nil:
			above[0] = p
		case above[1] == nil:
			above[1] = p
		}
	}
	switch {
	case below[0] != nil && above[0] != nil:
		return between(below[0], above[0], amount), estimated
	case below[1] != nil:
		return between(below[1], below[0], amount), estimated
	case above[1] != nil:
		return between(above[0], above[1], amount), estimated
	case below[0] != nil:
		return below[0].cost * math.Sqrt(amount/below[0].amount), estimated
	case above[0] != nil:
		return above[0].cost * math.Sqrt(amount/above[0].amount), estimated
	}
	return 0, nothing
}

// between returns the cost of an amount on the line through two points. The slope is limited to that of the line
// through 0, and to at least 0.
func between(a, b *point, amount float64) float64 {
	slope := 0.0
	if b.amount > a.amount {
		slope = max(0, b.cost-a.cost) / (b.amount - a.amount)
	}
	line, proportional := b.cost+slope*(amount-b.amount), b.cost*amount/b.amount
	if amount <= b.amount {
		return max(line, proportional)
	}
	return min(line, proportional)
}
