package conditiontest

import (
	"math"
	"math/rand/v2"

	"motifd/dyngraph/property"
	"motifd/matcher/condition"
)

// Pattern has the elements of Scope, in its order.
const Pattern = "MATCH (a:A)-[t:T]->(b:A)-[u:T]->(`in`:A)"

var types = map[string]property.Type{
	"i": {Kind: property.Int64}, "j": {Kind: property.Int64}, "x y": {Kind: property.Int64},
	"d": {Kind: property.Decimal, Scale: 2}, "e": {Kind: property.Decimal, Scale: 4},
	"f": {Kind: property.Float64}, "g": {Kind: property.Float64},
	"p": {Kind: property.Bool}, "q": {Kind: property.Bool},
	"s": {Kind: property.String}, "order": {Kind: property.String},
	"ts": {Kind: property.Timestamp},
}

var variables = []string{"a", "b", "in", "t", "u"}

// Scope returns the variables, properties and parameters that the expressions may name.
func Scope() *condition.Scope {
	label := func(s string) condition.Labels {
		return condition.NewLabels(condition.Alternative{All: []string{s}})
	}
	edge := func(i int) condition.Ref { return condition.Ref{Edge: true, Index: i} }
	half, err := property.Float(0.5)
	if err != nil {
		panic(err) // cannot be
	}
	one := func(v property.Value) condition.Parameter { return condition.Parameter{Values: []property.Value{v}} }
	return &condition.Scope{
		Schema: &property.Schema{
			Vertices: property.Declarations{"A": types}, Edges: property.Declarations{"T": types},
		},
		Elements: map[string]condition.Element{
			"a": {Labels: label("A")}, "b": {Ref: condition.Ref{Index: 1}, Labels: label("A")},
			"in": {Ref: condition.Ref{Index: 2}, Labels: label("A")},
			"t":  {Ref: edge(0), Labels: label("T")}, "u": {Ref: edge(1), Labels: label("T")},
		},
		Parameters: map[string]condition.Parameter{
			"day": one(property.Int(86_400_000)), "rate": one(property.Units(250, 2)),
			"flag": one(property.Truth(true)),
			"word": one(property.Text("ab")), "none": one(property.Value{}),
			"whole": {List: true, Values: []property.Value{property.Int(3), property.Units(250, 2), property.Int(-1)}},
			"real":  {List: true, Values: []property.Value{half, property.Units(1, 1), {}, property.Int(2)}},
			"words": {List: true, Values: []property.Value{property.Text("b"), {}, property.Text("ab")}},
		},
	}
}

// Value draws a value of a type, or null.
func Value(rng *rand.Rand, t property.Type) property.Value {
	if rng.IntN(6) == 0 {
		return property.Value{}
	}
	whole := int64(rng.IntN(9) - 4)
	switch rng.IntN(8) {
	case 0:
		whole += 1 << 53
	case 1:
		whole = math.MaxInt64 - rng.Int64N(3)
	case 2:
		whole = math.MinInt64 + rng.Int64N(3)
	case 3:
		whole *= 100
	}
	switch t.Kind {
	case property.Int64:
		return property.Int(whole)
	case property.Decimal:
		return property.Units(whole, t.Scale)
	case property.Timestamp:
		return property.Time(whole)
	case property.Bool:
		return property.Truth(rng.IntN(2) == 0)
	case property.String:
		return property.Text([]string{"", "a", "ab", "abc", "b", "é", "'\\\n"}[rng.IntN(7)])
	}
	f := []float64{float64(whole), 0.1, 0.5, 2.5, -0.1, 1e300, math.SmallestNonzeroFloat64, 1 << 53}[rng.IntN(8)]
	v, err := property.Float(f)
	if err != nil {
		panic(err) // cannot be: all are finite
	}
	return v
}
