package placement

import (
	"math"
	"math/bits"
)

const (
	classes = 33 // powers of 4
	// weight of the latest measurement in a moving average.
	weight = 0.1
	// changed is the ratio to the average at which a measurement is no noise: a new average begins.
	changed = 4
)

// curve is what an amount of work takes on a side, in nanoseconds: a moving average for each power of 4. A side has a
// part that does not depend on the amount, so a curve is no line through 0.
type curve struct {
	points [classes]point
	known  uint64 // the classes with a point, one bit each
}

// point is the average of the measurements of a class.
type point struct {
	n            int
	amount, cost float64
	// cut tells that the latest search was cut off: it takes more than cost.
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
	case !done && p.n > 0 && is < was: // less than what is known
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

// knowledge is how much a curve tells of an amount of work.
type knowledge uint8

const (
	nothing   knowledge = iota
	atLeast             // searches of that class were cut off: it takes more
	estimated           // it is between or near measured amounts
)

// at returns what an amount of work takes: between two points on the line through them, else on the line through the
// nearest two. With one point, the fixed part is not known, and the square root is between none and all. More work
// takes no less, and at most in proportion more.
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

// between returns the cost of an amount on the line through two points, which is not steeper than the one through 0 and
// does not fall.
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
