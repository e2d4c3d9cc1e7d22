package groups

import (
	"math/big"
	"math/bits"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/internal/residual"
)

// group is the state of an assignment of the keys in one view.
type group struct {
	rows   uint64 // 0: there is no such group
	values []condition.Wide
	lists  [][]uint32                 // by aggregate, of those that list edges
	list   func() ([][]uint32, error) // makes lists, where they are made when they are asked for
	holds  bool                       // the conditions behind WITH are true
	// Orders of changes of its rows in this view.
	changed     bool
	least, most uint32
}

// note takes account of the order of a change.
func (g *group) note(order uint32) {
	if !g.changed {
		g.changed, g.least, g.most = true, order, order
		return
	}
	g.least, g.most = min(g.least, order), max(g.most, order)
}

// accumulator computes the aggregates of a group's rows, in any order: counts and exact sums depend on none.
type accumulator struct {
	rows     uint64
	sums     []int128
	distinct []map[uint32]struct{}
	lists    []*latest
}

func (a *accumulator) reset(aggregates []matcher.Aggregate) {
	a.rows = 0
	if a.sums == nil {
		n := len(aggregates)
		a.sums, a.distinct, a.lists = make([]int128, n), make([]map[uint32]struct{}, n), make([]*latest, n)
		for i := range aggregates {
			if aggregates[i].Function == matcher.CountDistinct {
				a.distinct[i] = make(map[uint32]struct{})
			}
		}
	}
	clear(a.lists)
	clear(a.sums)
	for _, m := range a.distinct {
		clear(m)
	}
}

// add takes the row that is bound.
func (a *accumulator) add(s *search) {
	a.rows++
	for i := range s.x.stage.Aggregates {
		switch of := &s.x.stage.Aggregates[i]; of.Function {
		case matcher.CountDistinct:
			image := s.vertices
			if of.Of.Edge {
				image = s.edges
			}
			a.distinct[i][image[of.Of.Index]] = struct{}{}
		case matcher.Sum:
			if v := s.summand(i); !v.IsNull() {
				a.sums[i] = a.sums[i].plus(v.Whole())
			}
		case matcher.Collect:
			if a.lists[i] == nil {
				a.lists[i] = s.x.newLatest(i, s.view)
			}
			a.lists[i].add(s.edges[of.Of.Index])
		}
	}
}

// edges returns the lists, by aggregate.
func (a *accumulator) edges() (all [][]uint32) {
	for i, l := range a.lists {
		if l != nil {
			if all == nil {
				all = make([][]uint32, len(a.lists))
			}
			all[i] = l.edges
		}
	}
	return all
}

// summand returns the value that a row adds to a sum.
func (s *search) summand(i int) property.Value {
	reads := s.x.plan.Groups.Stages[s.x.at].Formulas[i]
	values := make([]property.Value, 0, 8)
	for _, r := range reads {
		images := s.vertices
		if r.Element.Edge {
			images = s.edges
		}
		values = append(values, r.Value(s.view, images[r.Element.Index]))
	}
	return s.x.stage.Aggregates[i].Formula.Eval(values)
}

// values returns the aggregates.
func (a *accumulator) values(aggregates []matcher.Aggregate) []condition.Wide {
	return a.valuesWith(aggregates, func(i int) uint64 { return uint64(len(a.distinct[i])) })
}

// valuesWith is values with the numbers of distinct elements from elsewhere.
func (a *accumulator) valuesWith(aggregates []matcher.Aggregate, distinct func(i int) uint64) []condition.Wide {
	all, counts := make([]condition.Wide, len(aggregates)), make([]number, len(aggregates))
	for i := range aggregates {
		of := &aggregates[i]
		switch of.Function {
		case matcher.Collect:
		case matcher.CountDistinct:
			all[i] = condition.NewWide(counts[i].set(distinct(i)), 0)
		case matcher.Sum:
			all[i] = condition.NewWide(a.sums[i].big(), of.Type().Scale)
		default:
			all[i] = condition.NewWide(counts[i].set(a.rows), 0)
		}
	}
	return all
}

// number is a big number with room for a count, so that it needs no memory of its own.
type number struct {
	n    big.Int
	room [64 / bits.UintSize]big.Word
}

func (x *number) set(n uint64) *big.Int { return x.n.SetBits(x.room[:0]).SetUint64(n) }

// int128 is a sum of int64s: 2^64 of them are within 128 bits.
type int128 struct {
	hi int64
	lo uint64
}

func (s int128) plus(n int64) int128 {
	lo, carry := bits.Add64(s.lo, uint64(n), 0)
	return int128{s.hi + n>>63 + int64(carry), lo}
}

func (s int128) minus(n int64) int128 {
	lo, borrow := bits.Sub64(s.lo, uint64(n), 0)
	return int128{s.hi - n>>63 - int64(borrow), lo}
}

func (s int128) big() *big.Int {
	n := big.NewInt(s.hi)
	return n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(s.lo))
}

// having reports whether the conditions behind WITH are true for keys with aggregates, in a view.
func (x *program) having(view dyngraph.View, keys []uint32, values []condition.Wide) bool {
	var room [4]condition.Wide
	for i, c := range x.stage.Having {
		if c.EvalWide(x.wides(room[:0], x.plan.Groups.Stages[x.at].Having[i], view, keys, values)) != condition.True {
			return false
		}
	}
	return true
}

// eachBinding calls f for each way to map the keys, if they are in the view and fit: an edge that matches in both
// directions, none of whose ends is a key, has two.
func (s *search) eachBinding(keys []uint32, f func() error) error {
	s.clear()
	n := len(s.x.stage.Vertices)
	for i, u := range s.x.stage.Vertices {
		if !s.bindVertex(u, keys[i]) {
			return nil
		}
	}
	return s.bindKeyEdges(0, keys[n:], f)
}

func (s *search) bindKeyEdges(i int, keys []uint32, f func() error) error {
	if i == len(s.x.stage.Edges) {
		return f()
	}
	e := s.x.stage.Edges[i]
	if !s.x.own[e] {
		return s.withGiven(e, dyngraph.EdgeIndex(keys[i]), func() error { return s.bindKeyEdges(i+1, keys, f) })
	}
	for _, reversed := range s.x.orientations(e) {
		if err := s.withEdge(e, dyngraph.EdgeIndex(keys[i]), reversed, func() error {
			return s.bindKeyEdges(i+1, keys, f)
		}); err != nil {
			return err
		}
	}
	return nil
}

// withGiven calls f with a key edge of an earlier stage mapped, without its ends.
func (s *search) withGiven(e int, d dyngraph.EdgeIndex, f func() error) error {
	_, _, label := s.view.Edge(d)
	if !s.view.Visible(d) || !matcher.LabelFits(s.x.pattern.Edges[e].Label, label) {
		return nil
	}
	s.edges[e] = uint32(d)
	err := f()
	s.edges[e] = residual.None
	return err
}

// orientations are the ways in which a data edge can be the image of a pattern edge: along, and reversed.
func (x *program) orientations(e int) []bool {
	if x.directed && !x.g.Edges[e].Either {
		return []bool{false}
	}
	return []bool{false, true}
}

// withEdge calls f with a pattern edge mapped, if the data edge fits.
func (s *search) withEdge(e int, d dyngraph.EdgeIndex, reversed bool, f func() error) error {
	of := s.x.g.Edges[e]
	from, to, edge := s.vertices[of.From], s.vertices[of.To], s.edges[e]
	var err error
	if s.bindEdge(e, d, reversed) {
		err = f()
	}
	s.vertices[of.From], s.vertices[of.To], s.edges[e] = from, to, edge
	return err
}
