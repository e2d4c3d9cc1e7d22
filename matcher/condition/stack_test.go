package condition_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph/property"
	"motifd/matcher/condition"
	"motifd/matcher/condition/conditiontest"
	"motifd/matcher/matchertest"
)

// evalStack does what a StackStep says, with big integers; nil is null.
func evalStack(t *testing.T, steps []condition.StackStep, values []property.Value) *big.Int {
	var stack []*big.Int
	number := func(n int64) *big.Int { return big.NewInt(n) }
	truth := func(b bool) *big.Int {
		if b {
			return number(1)
		}
		return number(0)
	}
	is := func(x *big.Int, n int64) bool { return x != nil && x.Cmp(number(n)) == 0 }
	for _, s := range steps {
		switch s.Op {
		case condition.StackSlot:
			var v *big.Int
			if x := values[s.Slot]; !x.IsNull() {
				v = number(x.Whole())
			}
			stack = append(stack, v)
			require.LessOrEqual(t, len(stack), condition.MaxStack)
			continue
		case condition.StackConstant, condition.StackNull:
			var v *big.Int
			if s.Op == condition.StackConstant {
				v = number(s.Left)
			}
			stack = append(stack, v)
			require.LessOrEqual(t, len(stack), condition.MaxStack)
			continue
		case condition.StackIsNull:
			stack[len(stack)-1] = truth(stack[len(stack)-1] == nil)
			continue
		}
		a, b := stack[len(stack)-2], stack[len(stack)-1]
		var v *big.Int
		switch {
		case s.Op == condition.StackAnd && (is(a, 0) || is(b, 0)):
			v = number(0)
		case s.Op == condition.StackOr && (is(a, 1) || is(b, 1)):
			v = number(1)
		case a == nil || b == nil:
		case s.Op == condition.StackAnd:
			v = number(1)
		case s.Op == condition.StackOr:
			v = number(0)
		case s.Op == condition.StackProduct:
			v = new(big.Int).Mul(a, b)
		default:
			v = new(big.Int).Add(new(big.Int).Mul(a, number(s.Left)), new(big.Int).Mul(b, number(s.Right)))
		}
		switch {
		case v == nil || s.Op >= condition.StackIsNull:
		case s.Op == condition.StackCompare:
			v = truth([]bool{v.Sign() == 0, v.Sign() != 0, v.Sign() < 0, v.Sign() <= 0, v.Sign() > 0,
				v.Sign() >= 0}[s.Relation])
		case !v.IsInt64():
			v = nil
		}
		stack = append(stack[:len(stack)-2], v)
	}
	require.Len(t, stack, 1)
	return stack[0]
}

// TestStackMatchesEval holds that the steps of a condition say what it says, of random conditions and values, and that
// there are steps for all that reads and computes with whole numbers, but for what is deep or long.
func TestStackMatchesEval(t *testing.T) {
	var count [3]int
	seen := func() bool { return min(count[0], count[1], count[2]) > 300 }
	matchertest.ForSeedsUntil(t, 40, seen, func(t *testing.T, rng *rand.Rand) {
		scope := conditiontest.Scope()
		for range 100 {
			e := conditiontest.Source{Rand: rng}.Predicate(rng.IntN(4))
			conditions, err := condition.Split(scope, e)
			if err != nil {
				continue
			}
			for _, c := range conditions {
				steps, ok := c.Stack()
				if !ok {
					continue
				}
				for range 20 {
					values := newWorld(rng, scope).slots(c.Slots)
					want, got := c.Eval(values), condition.Unknown
					if v := evalStack(t, steps, values); v != nil {
						got = condition.Of(v.Sign() != 0)
					}
					count[want]++
					require.Equal(t, want, got, "%s with %v: %+v", conditiontest.Format(e), values, steps)
				}
			}
		}
	})
}
