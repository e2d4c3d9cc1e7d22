package placement

import (
	"math"
	"math/bits"
)

// average is a moving average of nanoseconds, and of them per unit of work.
type average struct {
	n         int
	cost, per float64
	vary      float64 // how far it is off the average, as a share, squared
	proven    bool    // the latest one was not cut off
}

func (a *average) add(cost, size float64, done bool) {
	per := cost / size
	switch changed := per > 4*a.per || per < a.per/4; {
	case !done && a.n > 0 && per < a.per: // that was known
		return
	case !a.proven: // what was known is that it takes more than something: this says more
		a.n = 0
	case changed: // that is not noise
		a.n = min(a.n, 1)
	default:
		off := (per - a.per) / a.per
		a.vary += max(weight, 1/float64(a.n)) * (off*off - a.vary)
	}
	w := max(weight, 1/float64(a.n+1))
	a.n, a.proven = a.n+1, done
	a.cost += w * (cost - a.cost)
	a.per += w * (per - a.per)
}

// error is the standard error of per.
func (a *average) error() float64 {
	return a.per * math.Sqrt((a.vary+noise*noise/float64(a.n))/min(float64(a.n), 2/weight-1))
}

// estimate is what a search may take on one side.
type estimate struct {
	any              bool // anything is known
	tried, proven    bool // just this kind and size was searched; it was not cut off
	low, guess, high float64
	error            float64 // standard error of guess, if proven
}

// usable tells whether the guess is one of what the search takes, and not just of what it takes at least.
func (e *estimate) usable() bool { return e.any && (!e.tried || e.proven) }

// estimated tells what a size of work takes on a side. Where that size was not measured it goes by the nearest that
// were: more work takes no less, and at most as much more as it is more work. Where the side was rehearsed, it goes by
// that until the size was measured.
func estimated(r *row, rehearsed *curve, size int, s Side, work uint64) estimate {
	own := &r.cells[size].side[s]
	if v := own.per * float64(work); own.n > 0 && own.proven {
		return estimate{any: true, tried: true, proven: true, low: v, guess: v, high: v,
			error: own.error() * float64(work)}
	}
	if own.n == 0 && !rehearsed.empty() {
		return rehearsed.at(float64(work))
	}
	low, high := 0.0, math.Inf(1)
	if below := r.known[s] & (1<<size - 1); below != 0 {
		a := &r.cells[bits.Len64(below)-1].side[s]
		if low = a.cost; a.proven {
			high = a.per * float64(work)
		}
	}
	if above := r.known[s] &^ (1<<(size+1) - 1); above != 0 {
		a := &r.cells[bits.TrailingZeros64(above)].side[s]
		if low = max(low, a.per*float64(work)); a.proven {
			high = min(high, a.cost)
		}
	}
	if own.n > 0 { // it was cut off
		low = max(low, own.per*float64(work))
		return estimate{any: true, tried: true, low: low, guess: low, high: max(low, high)}
	}
	if math.IsInf(high, 1) {
		return estimate{low: low}
	}
	high = max(low, high)
	return estimate{any: true, low: low, guess: math.Sqrt(max(1, low) * max(1, high)), high: high}
}
