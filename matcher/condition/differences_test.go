package condition_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph/property"
	"motifd/matcher/condition"
)

// TestA16DifferencesSayWhatTheConditionSays plays the bounds of comparisons against their evaluation, with values at
// the ends of int64, and null.
func TestA16DifferencesSayWhatTheConditionSays(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	edge := func(i int) condition.Element { return condition.Element{Ref: condition.Ref{Edge: true, Index: i}} }
	decimal := property.Type{Kind: property.Decimal, Scale: 2}
	scope := &condition.Scope{Elements: map[string]condition.Element{"a": edge(0), "b": edge(1)},
		Schema: &property.Schema{Edges: property.Declarations{property.Any: {"n": {Kind: property.Int64},
			"amount": decimal, "ts": {Kind: property.Timestamp}, "rate": {Kind: property.Float64}}}}}
	extreme := func() int64 {
		n := rng.Int64N(6)
		return []int64{n, -n, math.MaxInt64 - n, math.MinInt64 + n, math.MaxInt64/2 + n}[rng.IntN(5)]
	}
	said, computed, held := 0, 0, 0
	for range 4000 {
		name := []string{"n", "amount", "ts", "rate"}[rng.IntN(4)]
		read := func(variable string) *condition.Expr {
			return &condition.Expr{Op: condition.OpProperty, Text: variable, Property: name}
		}
		left, right := read("a"), read("b")
		if rng.IntN(2) == 0 {
			left = &condition.Expr{Op: condition.OpSub, Args: []*condition.Expr{left, right}}
			right = &condition.Expr{Op: condition.OpNumber, Text: fmt.Sprint(uint64(extreme()) >> 1)}
		}
		if rng.IntN(2) == 0 {
			left, right = right, left
		}
		all, err := condition.Split(scope, &condition.Expr{Op: condition.OpCompare,
			Chain: []condition.Relation{condition.Relation(rng.IntN(6))}, Args: []*condition.Expr{left, right}})
		if err != nil || len(all) == 0 { // it can never hold, or always does
			continue
		}
		c := all[0]
		bounds, ok := c.Differences()
		if !ok {
			continue
		}
		said++
		for range 20 {
			values, want := make([]property.Value, 2), true
			for i, s := range c.Slots {
				if rng.IntN(8) > 0 {
					values[i] = property.Stored(s.Type, uint64(extreme()))
				}
				want = want && !values[i].IsNull()
			}
			for _, d := range bounds {
				less := new(big.Int).Sub(big.NewInt(values[d.A].Whole()), big.NewInt(values[d.B].Whole()))
				want = want && less.Cmp(big.NewInt(d.Most)) <= 0
				if d.Computed {
					computed++
					if d.Minuend != d.A {
						less.Neg(less)
					}
					want = want && less.IsInt64()
				}
			}
			if want {
				held++
			}
			require.Equal(t, want, c.Eval(values) == condition.True, "%s of %v: %+v",
				c.Format(condition.Ref.String), values, bounds)
		}
	}
	require.Positive(t, said)
	require.Positive(t, computed)
	require.Positive(t, held)
}

// TestLinearsSayWhatTheConditionSays plays bounds of weighted sums likewise, of decimals of several scales, too.
func TestLinearsSayWhatTheConditionSays(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	types := property.Declarations{property.Any: {"n": {Kind: property.Int64}, "ts": {Kind: property.Timestamp},
		"amount": {Kind: property.Decimal, Scale: 2}, "fee": {Kind: property.Decimal, Scale: 4}}}
	scope := &condition.Scope{Elements: map[string]condition.Element{}, Schema: &property.Schema{Edges: types}}
	names := []string{"a", "b", "c"}
	for i, name := range names {
		scope.Elements[name] = condition.Element{Ref: condition.Ref{Edge: true, Index: i}}
	}
	number := func() *condition.Expr {
		n := rng.Int64N(12) - 2
		text := fmt.Sprint([]uint64{uint64(n), uint64(n), math.MaxInt64 - uint64(n&7)}[rng.IntN(3)])
		if n < 0 {
			text = []string{"0.01", "1000000000"}[-n-1]
		}
		return &condition.Expr{Op: condition.OpNumber, Text: text}
	}
	var value func(depth int) *condition.Expr
	value = func(depth int) *condition.Expr {
		op := []condition.Op{condition.OpAdd, condition.OpSub, condition.OpMul, condition.OpNeg}[rng.IntN(4)]
		switch {
		case depth == 0 || rng.IntN(3) == 0:
			return &condition.Expr{Op: condition.OpProperty, Text: names[rng.IntN(3)],
				Property: []string{"n", "amount", "fee", "ts"}[rng.IntN(11)/3]}
		case op == condition.OpNeg:
			return &condition.Expr{Op: op, Args: []*condition.Expr{value(depth - 1)}}
		case op == condition.OpMul || rng.IntN(3) == 0:
			args := []*condition.Expr{value(depth - 1), number()}
			if rng.IntN(2) == 0 {
				args[0], args[1] = args[1], args[0]
			}
			return &condition.Expr{Op: op, Args: args}
		}
		return &condition.Expr{Op: op, Args: []*condition.Expr{value(depth - 1), value(depth - 1)}}
	}
	said, held, failed, beyond := 0, 0, 0, 0
	for range 20_000 {
		all, err := condition.Split(scope, &condition.Expr{Op: condition.OpCompare,
			Chain: []condition.Relation{condition.Relation(rng.IntN(6))},
			Args:  []*condition.Expr{value(rng.IntN(3)), value(rng.IntN(3))}})
		if err != nil || len(all) == 0 {
			continue
		}
		c := all[0]
		bounds, ok := c.Linears()
		if !ok {
			continue
		}
		said++
		for range 20 {
			values, want := make([]property.Value, len(c.Slots)), true
			for i, s := range c.Slots {
				if rng.IntN(12) > 0 {
					n := rng.Int64N(6)
					bits := []int64{n, -n, 100 * n, math.MaxInt64 - n, math.MinInt64 + n, math.MaxInt64/10 + n - 3,
						math.MinInt64/10 + n - 3}[rng.IntN(7)]
					values[i] = property.Stored(s.Type, uint64(bits))
				}
				want = want && !values[i].IsNull()
			}
			for _, l := range bounds {
				sum := new(big.Int)
				for _, w := range l.Weights {
					sum.Add(sum, new(big.Int).Mul(big.NewInt(w.By), big.NewInt(values[w.Slot].Whole())))
				}
				if want && sum.Cmp(l.Most) > 0 && len(bounds) > 2 {
					beyond++
				}
				want = want && sum.Cmp(l.Most) <= 0
			}
			if want {
				held++
			} else {
				failed++
			}
			require.Equal(t, want, c.Eval(values) == condition.True, "%s of %v: %+v",
				c.Format(condition.Ref.String), values, bounds)
		}
	}
	t.Logf("%d conditions; %d times true, %d not", said, held, failed)
	require.Positive(t, min(said, held, failed, beyond))
}
