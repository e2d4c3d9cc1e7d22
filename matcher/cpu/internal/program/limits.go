package program

import (
	"math"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
)

// Order and difference constraints between edges, and the window, form a difference-bound matrix over the values that
// they read (DESIGN A16; Dill 1989). It is closed once for a plan: then each value is confined by all values that are
// known before it, also where only the values in between relate them. A step confines its edges to an interval, from
// the edges mapped earlier, before it looks at a candidate. So do bounds of weighted sums, as in 10 * x >= 9 * y (see
// Sum), which are not closed.

// Reading is a value of a pattern edge that a step maps, with what confines it.
type Reading struct {
	Value  int // its number in the order
	Edge   int
	Back   int // index of the edge's back edge; -1 for the anchor
	Column int
	// Of are those of the order's Variants that read it, as bits. For them the value must be there.
	Of uint64
	// Limits are from edges mapped by earlier steps, Beside from back edges before this one of the same step; both by
	// variant, up to the last that reads the value, or has such limits.
	Limits, Beside [][]Limit
}

// Limit confines the value x of a Reading by the value y of an edge mapped before it, or several.
type Limit struct {
	Value int // the number of y
	Kind  LimitKind
	By    int64 // of AtMost, AtLeast, Below and Above
	Sum   *Sum  // of OfSum
	// asked is the bound that conditions state themselves. The closed matrix may have a stricter one; By is not
	// weakened beyond asked. Only CompileTogether fills it in.
	asked int64
}

// LimitKind says how a Limit confines x.
type LimitKind uint8

// The kinds of limits.
const (
	AtMost       LimitKind = iota // x <= y + By
	AtLeast                       // x >= y - By
	SubtractOld                   // x - y is an int64
	SubtractFrom                  // y - x is
	Below                         // x <= By
	Above                         // x >= By
	OfSum                         // a weighted sum of x and other values is bounded
)

// Range is an interval of values.
type Range struct{ Least, Most int64 }

// Has reports whether a value is in an interval that is not empty.
func (r *Range) Has(v int64) bool { return uint64(v)-uint64(r.Least) <= uint64(r.Most)-uint64(r.Least) }

// IsEmpty reports whether no value is in an interval.
func (r *Range) IsEmpty() bool { return r.Least > r.Most }

// Everything is the interval of all values, nothing an empty one.
var (
	Everything = Range{math.MinInt64, math.MaxInt64}
	nothing    = Range{1, 0}
)

// Narrow narrows an interval of x by a limit, given the values by their numbers.
func (l *Limit) Narrow(r *Range, values []int64) {
	y := values[l.Value]
	switch l.Kind {
	case AtMost:
		if most, beyond := add(y, l.By); beyond == 0 {
			r.Most = min(r.Most, most)
		} else if beyond < 0 {
			*r = nothing
		}
	case AtLeast:
		if least, beyond := add(y, -l.By); beyond == 0 {
			r.Least = max(r.Least, least)
		} else if beyond > 0 {
			*r = nothing
		}
	case SubtractOld:
		if y >= 0 {
			r.Least = max(r.Least, math.MinInt64+y)
		} else {
			r.Most = min(r.Most, math.MaxInt64+y)
		}
	case SubtractFrom:
		if y >= 0 {
			r.Least = max(r.Least, y-math.MaxInt64)
		} else {
			r.Most = min(r.Most, y-math.MinInt64)
		}
	case Below:
		r.Most = min(r.Most, l.By)
	case Above:
		r.Least = max(r.Least, l.By)
	case OfSum:
		l.Sum.narrow(r, values)
	}
}

// add returns a + b, and whether that is below int64 (-1) or above (1).
func add(a, b int64) (sum int64, beyond int) {
	switch sum = a + b; {
	case b >= 0 && sum < a:
		return sum, 1
	case b < 0 && sum > a:
		return sum, -1
	}
	return sum, 0
}

// value is a value that constraints read: of a column, of the image of a pattern edge.
type value struct{ edge, column int }

// differences is the matrix of some conditions.
type differences struct {
	values []value
	most   [][]bound // by two values: the first less the second is at most that
	// computed are the differences that conditions compute, minuend first.
	computed [][2]int
	sums     []linear
	rest     []bool // by condition: it is not in the matrix, nor in sums
}

// maxClosed is the number of values up to which a matrix is closed: that takes the cube of it.
const maxClosed = 32

// bound is an upper bound, if there is one.
type bound struct {
	by    int64
	there bool
}

// newDifferences returns the closed difference-bound matrix of the conditions and the window over the pattern's edges.
// within is in milliseconds; 0 is no window.
func newDifferences(conditions []matcher.Condition, within int64, edges int) *differences {
	d := openDifferences(conditions, within, edges)
	if len(d.values) <= maxClosed {
		d.close()
	}
	return d
}

// openDifferences is newDifferences with the matrix not closed.
func openDifferences(conditions []matcher.Condition, within int64, edges int) *differences {
	d := &differences{rest: make([]bool, len(conditions))}
	for i := range conditions {
		c := &conditions[i]
		if c.Own() {
			continue
		}
		if d.rest[i] = !c.Elements[0].Edge; d.rest[i] { // vertices come first
			continue
		}
		all, ok := c.Differences()
		if !ok {
			d.rest[i] = !d.addSums(c)
			continue
		}
		for _, f := range all {
			at := [2]int{d.at(value{c.Reads[f.A].Element.Index, c.Reads[f.A].Column}),
				d.at(value{c.Reads[f.B].Element.Index, c.Reads[f.B].Column})}
			d.bound(at[0], at[1], f.Most)
			if f.Computed {
				if f.Minuend == f.B {
					at[0], at[1] = at[1], at[0]
				}
				d.computed = append(d.computed, at)
			}
		}
	}
	if within > 0 {
		at := make([]int, edges)
		for e := range at {
			at[e] = d.at(value{e, property.TS})
		}
		for i, x := range at {
			for _, y := range at[:i] {
				d.bound(x, y, within)
				d.bound(y, x, within)
			}
		}
	}
	return d
}

// at returns the number of a value, a new one if need be.
func (d *differences) at(v value) int {
	for i, w := range d.values {
		if w == v {
			return i
		}
	}
	d.values = append(d.values, v)
	for i := range d.most {
		d.most[i] = append(d.most[i], bound{})
	}
	d.most = append(d.most, make([]bound, len(d.values)))
	return len(d.values) - 1
}

func (d *differences) bound(a, b int, most int64) {
	if x := &d.most[a][b]; !x.there || most < x.by {
		*x = bound{most, true}
	}
}

// leastBound is the least bound: its negative is an int64, too.
const leastBound = math.MinInt64 + 1

// close adds what follows: a - c is at most the bound of a - b plus that of b - c. A bound below leastBound becomes
// that one, which says less; one above int64 is left out.
func (d *differences) close() {
	for k := range d.values {
		for i := range d.values {
			if !d.most[i][k].there {
				continue
			}
			for j := range d.values {
				if i == j || !d.most[k][j].there {
					continue
				}
				switch sum, beyond := add(d.most[i][k].by, d.most[k][j].by); {
				case beyond < 0:
					d.bound(i, j, leastBound)
				case beyond == 0:
					d.bound(i, j, max(sum, leastBound))
				}
			}
		}
	}
}

// reading is a value that a step maps, with what confines it: limits from edges mapped by earlier steps, and beside
// them those from back edges before this one of the same step.
type reading struct {
	value, back    int
	limits, beside []Limit
}

// readings returns what step i of an order reads. at is, by pattern edge, the step that maps it; the anchor is mapped
// before the back edges of its step.
func (d *differences) readings(o *Order, i int, at []int) (all []reading) {
	st := &o.Steps[i]
	back := make(map[int]int, len(st.Back)+1)
	if i == 1 && o.Anchor >= 0 {
		back[o.Anchor] = -1
	}
	for k := range st.Back {
		back[st.Back[k].Edge] = k
	}
	for x, v := range d.values {
		k, ok := back[v.edge]
		if !ok {
			continue
		}
		r := reading{value: x, back: k}
		for y, w := range d.values {
			if at[w.edge] > i || x == y {
				continue
			}
			other, here := back[w.edge]
			if here && other >= k {
				continue
			}
			limits := d.limits(x, y)
			if here && other >= 0 {
				r.beside = append(r.beside, limits...)
			} else {
				r.limits = append(r.limits, limits...)
			}
		}
		d.addSumLimits(&r, at, i, back)
		all = append(all, r)
	}
	return all
}

// limits returns what confines value x by value y.
func (d *differences) limits(x, y int) (all []Limit) {
	limit := func(kind LimitKind, by int64) {
		all = append(all, Limit{Value: y, Kind: kind, By: by})
	}
	if b := d.most[x][y]; b.there {
		limit(AtMost, b.by)
	}
	if b := d.most[y][x]; b.there {
		limit(AtLeast, b.by)
	}
	for _, c := range d.computed {
		switch c {
		case [2]int{x, y}:
			limit(SubtractOld, 0)
		case [2]int{y, x}:
			limit(SubtractFrom, 0)
		}
	}
	return all
}

// IsStaged reports whether the staged batch changes an edge.
func (a *Admission) IsStaged(e dyngraph.EdgeIndex) bool { return a.orders[e] != 0 }

// Whole returns the value of an edge in a column of whole numbers, as the view that is searched has it.
func (a *Admission) Whole(e dyngraph.EdgeIndex, column int) (int64, bool) {
	v := a.View().Value(e, column)
	return v.Whole(), !v.IsNull()
}
