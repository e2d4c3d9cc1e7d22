package matcher

import (
	"fmt"
	"math/big"
	"slices"

	"motifd/dyngraph/property"
	"motifd/matcher/condition"
)

// Function is the computation of an aggregate over the rows of a group.
type Function uint8

// The functions.
const (
	CountRows Function = iota // count(*), count(x)
	CountDistinct
	Sum
	Collect // collect(x)[..N], collect(x.p)[..N]
)

// MaxCollected bounds what collect lists.
const MaxCollected = 100

// Aggregate is a value of a group, or a list.
type Aggregate struct {
	Name     string   `json:"name"`
	Function Function `json:"function"`
	// Of is an element, as an index of Groups: of CountDistinct what is counted, of Collect the edge whose images are
	// listed, the latest by ts first, then by identity; those without ts come last.
	Of *condition.Ref `json:"of,omitempty"`
	// Formula gives the value that Sum adds, or that Collect lists, for each image; null is left out. Without it
	// Collect lists the edges.
	Formula *condition.Formula `json:"formula,omitempty"`
	// Of Collect: the ts of the edge, how many are listed at most, and whether an image is listed once, however many
	// rows have it.
	Time     *condition.Formula `json:"time,omitempty"`
	Most     int                `json:"most,omitempty"`
	Distinct bool               `json:"distinct,omitempty"`
}

// Type returns the type of an aggregate's values, which are not bounded by int64. A list has none.
func (a *Aggregate) Type() property.Type {
	switch a.Function {
	case Sum:
		return a.Formula.Type
	case Collect:
		return property.Type{}
	}
	return property.Type{Kind: property.Int64}
}

// IsList reports whether the aggregate is a list of edges, or of a value of each.
func (a *Aggregate) IsList() bool { return a.Function == Collect }

// check returns an error if the argument of the aggregate is missing, or its limit is out of range.
func (a *Aggregate) check() error {
	switch {
	case a.Function > Collect || a.Function == CountDistinct && a.Of == nil || a.Function == Sum && a.Formula == nil,
		a.Function == Collect && (a.Of == nil || !a.Of.Edge || a.Time == nil):
		return fmt.Errorf("has the aggregate %q without its argument", a.Name)
	case a.Function == Collect && (a.Most < 1 || a.Most > MaxCollected):
		return fmt.Errorf("has the aggregate %q, which lists %d; it lists 1 to %d", a.Name, a.Most, MaxCollected)
	}
	return nil
}

// elements returns what an aggregate reads.
func (a *Aggregate) elements() (all []condition.Ref) {
	if a.Of != nil {
		all = append(all, *a.Of)
	}
	for _, f := range []*condition.Formula{a.Formula, a.Time} {
		if f != nil {
			all = append(all, f.Elements...)
		}
	}
	return all
}

func sameAggregate(a, b Aggregate) bool {
	same := func(f, g *condition.Formula) bool { return f == g || f != nil && g != nil && f.Key() == g.Key() }
	return a.Name == b.Name && a.Function == b.Function && a.Most == b.Most && a.Distinct == b.Distinct &&
		(a.Of == b.Of || a.Of != nil && b.Of != nil && *a.Of == *b.Of) && same(a.Formula, b.Formula)
}

// Aggregates returns those of all stages, in their order: what condition.Ref.Aggregate is an index of.
func (g *Groups) Aggregates() (all []*Aggregate) {
	for s := range g.Stages {
		for i := range g.Stages[s].Aggregates {
			all = append(all, &g.Stages[s].Aggregates[i])
		}
	}
	return all
}

// Aggregate returns the i-th of all stages.
func (g *Groups) Aggregate(i int) *Aggregate {
	for s := range g.Stages {
		all := g.Stages[s].Aggregates
		if i < len(all) {
			return &all[i]
		}
		i -= len(all)
	}
	return nil
}

// aggregateWords is the number of words of a value in a row (Rows.Extra): whether it is null, and the 128 bits of its
// units, the lowest first.
const aggregateWords = 5

// words returns the number of words of an aggregate in a row: for a list its length, and room for each edge.
func (a *Aggregate) words() int {
	if a.Function == Collect {
		return 1 + a.Most
	}
	return aggregateWords
}

// PutAggregate appends a value of a group to a row.
func PutAggregate(row []uint32, w condition.Wide) []uint32 {
	if w.IsNull() {
		return append(row, 1, 0, 0, 0, 0)
	}
	units := new(big.Int).Set(w.Units)
	if units.Sign() < 0 {
		units.Add(units, new(big.Int).Lsh(big.NewInt(1), condition.WideBits))
	}
	row = append(row, 0)
	low := big.NewInt(1<<32 - 1)
	for range aggregateWords - 1 {
		row = append(row, uint32(new(big.Int).And(units, low).Uint64()))
		units.Rsh(units, 32)
	}
	return row
}

// PutList appends a list of edges to a row. It takes the room of most edges, whatever their number is.
func PutList(row, edges []uint32, most int) []uint32 {
	row = append(append(row, uint32(len(edges))), edges...)
	return append(row, make([]uint32, most-len(edges))...)
}

// wordsOf returns the words of the i-th aggregate of a row of the query: keys, then aggregates.
func (q *Query) wordsOf(row []uint32, i int) []uint32 {
	at := len(q.Vertices) + len(q.Edges)
	for s := range q.Groups.Stages {
		for k := range q.Groups.Stages[s].Aggregates {
			n := q.Groups.Stages[s].Aggregates[k].words()
			if i == 0 {
				return row[at:][:n]
			}
			at, i = at+n, i-1
		}
	}
	return nil
}

// AggregateOf returns the value of the i-th aggregate of a row, which is no list.
func (q *Query) AggregateOf(row []uint32, i int) condition.Wide {
	words := q.wordsOf(row, i)
	if words[0] != 0 {
		return condition.Wide{}
	}
	units := new(big.Int)
	for k := aggregateWords - 1; k > 0; k-- {
		units.Or(units.Lsh(units, 32), new(big.Int).SetUint64(uint64(words[k])))
	}
	if int32(words[aggregateWords-1]) < 0 {
		units.Sub(units, new(big.Int).Lsh(big.NewInt(1), condition.WideBits))
	}
	return condition.Wide{Units: units, Scale: q.Groups.Aggregate(i).Type().Scale}
}

// ListOf returns the edges that the i-th aggregate of a row lists.
func (q *Query) ListOf(row []uint32, i int) []uint32 {
	words := q.wordsOf(row, i)
	return words[1:][:words[0]]
}

// Extra is the number of words that a row of the query has behind its elements.
func (q *Query) Extra() (words int) {
	if q.Groups == nil {
		return 0
	}
	for _, a := range q.Groups.Aggregates() {
		words += a.words()
	}
	return words
}

// Keys returns the keys of a row, without its aggregates.
func (q *Query) Keys(row []uint32) []uint32 { return slices.Clone(row[:len(q.Vertices)+len(q.Edges)]) }

// Rows returns rows of the query in one flat slice.
func (q *Query) Rows(data []uint32) Rows {
	return Rows{Vertices: len(q.Vertices), Edges: len(q.Edges), Extra: q.Extra(), Data: data}
}
