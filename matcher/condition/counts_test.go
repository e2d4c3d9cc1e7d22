package condition_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph/property"
	"motifd/matcher/condition"
	"motifd/matcher/condition/conditiontest"
	"motifd/matcher/matchertest"
)

// TestCountsByTrial compares what is refused behind WITH with a trial of all small values: counts of 1 and more, and a
// sum, which may be null. What is refused holds for none, and of comparisons without arithmetic what holds for none is
// refused, whether WHEREs are read together or one by one.
func TestCountsByTrial(t *testing.T) {
	whole := property.Type{Kind: property.Int64}
	scope := &condition.Scope{Aggregates: map[string]condition.Slot{}}
	names := []string{"n", "k", "total"}
	for i, name := range names {
		scope.Aggregates[name] = condition.Slot{Element: condition.Ref{Aggregate: true, Index: i}, Property: name,
			Type: whole}
	}
	loose := *scope // without what is known of counts
	scope.Counts = []condition.Slot{scope.Aggregates["n"], scope.Aggregates["k"]}
	refused, accepted := 0, 0
	seen := func() bool { return refused > 100 && accepted > 100 }
	matchertest.ForSeedsUntil(t, 60, seen, func(t *testing.T, rng *rand.Rand) {
		name := func() *condition.Expr {
			return &condition.Expr{Op: condition.OpAggregate, Text: names[rng.IntN(3)]}
		}
		number := func() *condition.Expr {
			return &condition.Expr{Op: condition.OpNumber, Text: []string{"0", "1", "2", "3", "1.5"}[rng.IntN(5)]}
		}
		for range 20 {
			decided := true
			var exprs []*condition.Expr
			for range 1 + rng.IntN(3) {
				e := &condition.Expr{Op: condition.OpCompare, Args: []*condition.Expr{name(), number()},
					Chain: []condition.Relation{condition.Relation(rng.IntN(6))}}
				switch rng.IntN(6) {
				case 0:
					e.Args[1] = name()
				case 1:
					e.Args[0] = &condition.Expr{Op: condition.OpSub, Args: []*condition.Expr{name(), name()}}
					decided = false
				case 2:
					e = &condition.Expr{Op: condition.OpIn, Args: []*condition.Expr{name(),
						{Op: condition.OpList, Args: []*condition.Expr{number(), number()}}}}
					decided = false
				}
				if len(e.Chain) > 0 && e.Chain[0] == condition.Ne {
					decided = false
				}
				exprs = append(exprs, e)
			}
			text := conditiontest.Format(&condition.Expr{Op: condition.OpAnd, Args: exprs})
			_, err := condition.Split(scope, exprs...)
			var all []*condition.Condition
			alone := false // one of them never holds, whatever is known of counts
			for _, e := range exprs {
				some, err := condition.Split(&loose, e)
				alone = alone || err != nil
				all = append(all, some...)
			}
			if alone {
				require.ErrorContains(t, err, "can never hold", text)
				continue
			}
			require.Equal(t, err == nil, condition.Together(scope, all) == nil, text)
			if err != nil {
				refused++
				require.ErrorContains(t, err, "can never hold")
				require.False(t, holdsForSome(all), "%s: %v", text, err)
				continue
			}
			if holds := holdsForSome(all); holds {
				accepted++
			} else {
				require.False(t, decided, "%s holds for no values and is accepted", text)
			}
		}
	})
	t.Logf("%d refused, %d accepted", refused, accepted)
	for text, e := range map[string]*condition.Expr{
		"n < 1": {Op: condition.OpCompare, Chain: []condition.Relation{condition.Lt}, Args: []*condition.Expr{
			{Op: condition.OpAggregate, Text: "n"}, {Op: condition.OpNumber, Text: "1"}}},
		"n IS NULL": {Op: condition.OpIsNull, Args: []*condition.Expr{{Op: condition.OpAggregate, Text: "n"}}},
	} {
		_, err := condition.Split(scope, e)
		require.ErrorContains(t, err, "a group has one row at least", text)
	}
}

// holdsForSome reports whether some values of n, k and total meet all conditions.
func holdsForSome(all []*condition.Condition) bool {
	for at := range 8 * 8 * 22 {
		values := []condition.Wide{{Value: property.Int(int64(1 + at%8))}, {Value: property.Int(int64(1 + at/8%8))}, {}}
		if total := at / 64; total < 21 {
			values[2].Value = property.Int(int64(total - 9))
		}
		holds := true
		for _, c := range all {
			read := make([]condition.Wide, len(c.Slots))
			for i, s := range c.Slots {
				read[i] = values[s.Element.Index]
			}
			if holds = c.EvalWide(read) == condition.True; !holds {
				break
			}
		}
		if holds {
			return true
		}
	}
	return false
}
