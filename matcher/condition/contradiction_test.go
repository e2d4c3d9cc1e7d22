package condition_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph/property"
	"motifd/matcher/condition"
	"motifd/matcher/condition/conditiontest"
	"motifd/matcher/matchertest"
)

// contradictions draws conditions about t.i, t.j and u.i, whose contradictions show in small values.
type contradictions struct{ *rand.Rand }

var contradicting = []*condition.Expr{{Op: condition.OpProperty, Text: "t", Property: "i"},
	{Op: condition.OpProperty, Text: "t", Property: "j"}, {Op: condition.OpProperty, Text: "u", Property: "i"}}

func (c contradictions) operand() *condition.Expr { return contradicting[c.IntN(len(contradicting))] }

func (c contradictions) number() *condition.Expr {
	return &condition.Expr{Op: condition.OpNumber, Text: []string{"0", "1", "2", "3", "1.5"}[c.IntN(5)]}
}

// order draws what the search for contradictions decides: a comparison that is no <>, perhaps below NOT.
func (c contradictions) order() *condition.Expr {
	e := &condition.Expr{Op: condition.OpCompare, Args: []*condition.Expr{c.operand(), c.operand()}}
	switch c.IntN(3) {
	case 0:
		e.Args[c.IntN(2)] = c.number()
	case 1:
		x := c.Perm(len(contradicting))
		e.Args = []*condition.Expr{{Op: condition.OpSub, Args: []*condition.Expr{contradicting[x[0]],
			contradicting[x[1]]}}, {Op: condition.OpNumber, Text: "2"}}
	}
	relation := []condition.Relation{condition.Eq, condition.Lt, condition.Le, condition.Gt, condition.Ge}[c.IntN(5)]
	if c.IntN(4) > 0 || relation == condition.Eq {
		e.Chain = []condition.Relation{relation}
		return e
	}
	e.Chain = []condition.Relation{relation}
	return &condition.Expr{Op: condition.OpNot, Args: []*condition.Expr{e}}
}

// other draws what it decides in part.
func (c contradictions) other() *condition.Expr {
	x := c.operand()
	switch c.IntN(5) {
	case 0:
		return &condition.Expr{Op: condition.OpIsNull, Args: []*condition.Expr{x}}
	case 1:
		return &condition.Expr{Op: condition.OpIn, Args: []*condition.Expr{x,
			{Op: condition.OpList, Args: []*condition.Expr{c.number(), c.number()}}}}
	case 2:
		return &condition.Expr{Op: condition.OpOr, Args: []*condition.Expr{
			{Op: condition.OpAnd, Args: []*condition.Expr{c.order(), c.order()}}, c.order()}}
	}
	return &condition.Expr{Op: condition.OpCompare, Chain: []condition.Relation{condition.Ne},
		Args: []*condition.Expr{x, c.number()}}
}

// TestContradictionsByTrial compares what is refused with a trial of all small values: what is refused holds for none,
// and of comparisons alone what holds for none is refused.
func TestContradictionsByTrial(t *testing.T) {
	refused, accepted, missed := 0, 0, 0
	seen := func() bool { return refused > 100 && accepted > 100 }
	matchertest.ForSeedsUntil(t, 60, seen, func(t *testing.T, rng *rand.Rand) {
		scope, c := conditiontest.Scope(), contradictions{rng}
		for range 5 {
			decided := rng.IntN(2) == 0
			var exprs []*condition.Expr
			for range 2 + rng.IntN(4) {
				if decided || rng.IntN(2) == 0 {
					exprs = append(exprs, c.order())
				} else {
					exprs = append(exprs, c.other())
				}
			}
			holds, ok := byTrial(t, scope, exprs)
			if !ok {
				continue // one of them alone never holds
			}
			_, err := condition.Split(scope, exprs...)
			if err != nil {
				require.ErrorContains(t, err, "can never hold")
			}
			text := conditiontest.Format(&condition.Expr{Op: condition.OpAnd, Args: exprs})
			switch {
			case err != nil:
				refused++
				require.False(t, holds, "%s: %v", text, err)
			case holds:
				accepted++
			default:
				missed++
				require.False(t, decided, "%s holds for no values and is accepted", text)
			}
		}
	})
	t.Logf("%d refused, %d accepted, %d contradictions not found", refused, accepted, missed)
}

// byTrial reports whether some small values meet all of the expressions, null among them.
func byTrial(t *testing.T, scope *condition.Scope, exprs []*condition.Expr) (holds, ok bool) {
	var all []*condition.Condition
	for _, e := range exprs {
		some, err := condition.Split(scope, e)
		if err != nil {
			require.True(t, strings.Contains(err.Error(), "can never hold"), err)
			return false, false
		}
		all = append(all, some...)
	}
	of := map[condition.Slot]int{}
	for i, x := range contradicting {
		of[condition.Slot{Element: scope.Elements[x.Text].Ref, Property: x.Property,
			Type: property.Type{Kind: property.Int64}}] = i
	}
	const least, values = -9, 21 // and null: sums of up to six bounds of 2, from 0 to 3 on
	var at [3]property.Value
	for n := range (values + 1) * (values + 1) * (values + 1) {
		for i := range at {
			if at[i] = (property.Value{}); n%(values+1) < values {
				at[i] = property.Int(int64(least + n%(values+1)))
			}
			n /= values + 1
		}
		holds = true
		for _, c := range all {
			var room [3]property.Value
			for k, s := range c.Slots {
				room[k] = at[of[s]]
			}
			if holds = c.Eval(room[:len(c.Slots)]) == condition.True; !holds {
				break
			}
		}
		if holds {
			return true, true
		}
	}
	return false, true
}

func BenchmarkSplitChain(b *testing.B) {
	scope := conditiontest.Scope()
	e := &condition.Expr{Op: condition.OpAnd}
	for i := range 600 {
		e.Args = append(e.Args, &condition.Expr{Op: condition.OpCompare, Chain: []condition.Relation{condition.Lt},
			Args: []*condition.Expr{contradicting[i%2], {Op: condition.OpNumber, Text: "1000"}}})
	}
	for b.Loop() {
		_, err := condition.Split(scope, e)
		require.NoError(b, err)
	}
}
