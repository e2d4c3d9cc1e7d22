package placement

import (
	"math"
	"math/bits"
)

const (
	classes = 33 // powers of 4, for amounts of 64 bits
	// weight is the weight of a new measurement in the moving average.
	weight = 0.03
	// changed is the deviation of a measurement, in standard deviations, that is a change if the next one deviates as
	// much: the average begins anew. One alone is an exception.
	changed = 4
	// oneTime is a ratio: if the second measurement of a class is less than a oneTime-th of the first, the first one
	// included one-time work, and is forgotten.
	oneTime = 4
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
	variance     float64 // of the cost
	odd          int     // latest measurements in a row that deviate much
	// cut is true if the last search was cut off: its cost is more than cost.
	cut bool
}

// weight returns the weight of the latest measurement.
func (p *point) weight() float64 { return max(weight, 1/float64(p.n)) }

// share returns the standard error of the average, as a share of it. Costs of equal work may differ by orders of
// magnitude: those of single updates do.
func (p *point) share() float64 { return math.Sqrt(p.variance*p.weight()) / p.cost }

// deviation returns by how much a cost is beyond what the average lets expect: between a constant cost and one in
// proportion to the amount.
func (p *point) deviation(amount, cost float64) float64 {
	proportional := p.cost * amount / p.amount
	return max(cost-max(p.cost, proportional), min(p.cost, proportional)-cost, 0)
}

func classOf(amount float64) int { return bits.Len64(uint64(amount)) / 2 }

// add enters a measurement; done is false for a search that was cut off after cost.
func (c *curve) add(amount, cost float64, done bool) {
	amount, cost = max(1, amount), max(1, cost)
	k := classOf(amount)
	p := &c.points[k]
	if !done && p.n > 0 && cost/amount < p.cost/p.amount { // a lower bound below the average says nothing
		return
	}
	c.known |= 1 << k
	included := p.n == 1 && cost/amount < p.cost/p.amount/oneTime
	if p.n == 0 || p.cut || !done || included {
		*p = point{n: 1, amount: amount, cost: cost, cut: !done}
		return
	}
	d := p.deviation(amount, cost)
	if d*d <= changed*changed*p.variance || p.n == 1 {
		p.odd = 0
	} else if p.odd++; p.odd > 1 {
		*p = point{n: 1, amount: amount, cost: cost, variance: d * d}
		return
	}
	p.n++
	w := p.weight()
	p.amount += w * (amount - p.amount)
	p.cost += w * (cost - p.cost)
	p.variance = (1 - w) * (p.variance + w*d*d)
}

// knowledge is the quality of a cost from a curve.
type knowledge uint8

const (
	nothing   knowledge = iota
	atLeast             // a lower bound: the last search of the class was cut off
	estimated           // interpolated or extrapolated from measurements
)

// at returns the cost of an amount of work, and the standard error of that: on the line through the nearest points
// below and above it, else on the line through the nearest two. With one point the fixed part of the cost is unknown,
// so the cost grows with the square root, between constant and proportional. The cost never falls with the amount, and
// never grows more than in proportion.
func (c *curve) at(amount float64) (cost, off float64, how knowledge) {
	amount = max(1, amount)
	if p := &c.points[classOf(amount)]; p.cut {
		return p.cost * amount / p.amount, 0, atLeast
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
	share := 0.0
	for _, p := range [...]*point{below[0], above[0]} {
		if p != nil {
			share = max(share, p.share())
		}
	}
	switch {
	case below[0] != nil && above[0] != nil:
		cost = between(below[0], above[0], amount)
	case below[1] != nil:
		cost = between(below[1], below[0], amount)
	case above[1] != nil:
		cost = between(above[0], above[1], amount)
	case below[0] != nil:
		cost = below[0].cost * math.Sqrt(amount/below[0].amount)
	case above[0] != nil:
		cost = above[0].cost * math.Sqrt(amount/above[0].amount)
	default:
		return 0, 0, nothing
	}
	return cost, share * cost, estimated
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
