package condition_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph/property"
	"motifd/matcher/condition"
	"motifd/matcher/condition/conditiontest"
	"motifd/matcher/matchertest"
	"motifd/matcher/reference"
)

// world holds a value for every slot that was asked for.
type world struct {
	rng    *rand.Rand
	scope  *condition.Scope
	values map[condition.Slot]property.Value
}

func newWorld(rng *rand.Rand, scope *condition.Scope) *world {
	return &world{rng, scope, make(map[condition.Slot]property.Value)}
}

func (w *world) value(s condition.Slot) property.Value {
	v, ok := w.values[s]
	if !ok {
		v = conditiontest.Value(w.rng, s.Type)
		w.values[s] = v
	}
	return v
}

func (w *world) slots(all []condition.Slot) []property.Value {
	values := make([]property.Value, len(all))
	for i, s := range all {
		values[i] = w.value(s)
	}
	return values
}

// reference evaluates the expression by the twin.
func (w *world) reference(e *condition.Expr) condition.Truth {
	return reference.Truth(e, reference.Values{Parameters: w.scope.Parameters, Read: w.read})
}

func (w *world) read(variable, name string) property.Value {
	ref := w.scope.Elements[variable].Ref
	declared := w.scope.Schema.Vertices["A"]
	if ref.Edge {
		declared = w.scope.Schema.Edges["T"]
	}
	return w.value(condition.Slot{Element: ref, Property: name, Type: declared[name]})
}

// TestSplitMatchesReference holds that the conditions of an expression are all True exactly where the twin's truth is
// True, and that an expression which is refused since it can never hold is never True.
func TestSplitMatchesReference(t *testing.T) {
	resolved, never, held, more := 0, 0, 0, 0
	seen := func() bool { return resolved > 200 && never > 20 && held > 200 && more > 50 }
	matchertest.ForSeedsUntil(t, 40, seen, func(t *testing.T, rng *rand.Rand) {
		scope := conditiontest.Scope()
		for range 50 {
			e := conditiontest.Source{Rand: rng}.Predicate(rng.IntN(4))
			conditions, err := condition.Split(scope, e)
			impossible := err != nil && strings.Contains(err.Error(), "can never hold")
			if err != nil && !impossible {
				var at *condition.Error
				require.True(t, errors.As(err, &at))
				continue
			}
			if impossible {
				never++
			} else {
				resolved++
			}
			if len(conditions) > 1 {
				more++
			}
			for range 20 {
				w := newWorld(rng, scope)
				want := w.reference(e) == condition.True
				if impossible {
					require.False(t, want, "%s: %v", conditiontest.Format(e), err)
					continue
				}
				got := true
				for _, c := range conditions {
					got = got && c.Eval(w.slots(c.Slots)) == condition.True
				}
				if got {
					held++
				}
				require.Equal(t, want, got, "%s with %v", conditiontest.Format(e), w.values)
			}
		}
	})
}

// TestEvalMatchesReference compares all three truth values: under a double NOT nothing is split.
func TestEvalMatchesReference(t *testing.T) {
	var count [3]int
	seen := func() bool { return min(count[0], count[1], count[2]) > 300 }
	matchertest.ForSeedsUntil(t, 40, seen, func(t *testing.T, rng *rand.Rand) {
		scope := conditiontest.Scope()
		for range 50 {
			e := conditiontest.Source{Rand: rng}.Predicate(rng.IntN(4))
			whole := &condition.Expr{Op: condition.OpNot, Args: []*condition.Expr{{Op: condition.OpNot,
				Args: []*condition.Expr{e}}}}
			conditions, err := condition.Split(scope, whole)
			if err != nil || len(conditions) == 0 {
				continue
			}
			require.Len(t, conditions, 1)
			c := conditions[0]
			for range 20 {
				w := newWorld(rng, scope)
				want := w.reference(whole)
				count[want]++
				require.Equal(t, want, c.Eval(w.slots(c.Slots)), "%s with %v", conditiontest.Format(e), w.values)
				require.Equal(t, want, w.reference(e))
			}
		}
	})
}

// TestFormulaMatchesReference computes values, and compares each with its twin by IS NULL and by =.
func TestFormulaMatchesReference(t *testing.T) {
	nulls, values := 0, 0
	seen := func() bool { return nulls > 100 && values > 100 }
	matchertest.ForSeedsUntil(t, 20, seen, func(t *testing.T, rng *rand.Rand) {
		scope := conditiontest.Scope()
		for range 50 {
			e := conditiontest.Source{Rand: rng}.Predicate(2)
			if e.Op != condition.OpCompare {
				continue
			}
			f, err := condition.NewFormula(scope, e.Args[0])
			if err != nil {
				continue
			}
			for range 10 {
				w := newWorld(rng, scope)
				got := f.Eval(w.slots(f.Slots))
				null := w.reference(&condition.Expr{Op: condition.OpIsNull, Args: e.Args[:1]})
				require.Equal(t, null == condition.True, got.IsNull(), "%s with %v", conditiontest.Format(e), w.values)
				if got.IsNull() {
					nulls++
					continue
				}
				values++
				require.Equal(t, f.Type, got.Type())
				w.scope.Parameters["got"] = condition.Parameter{Values: []property.Value{got}}
				require.Equal(t, condition.True, w.reference(&condition.Expr{Op: condition.OpCompare,
					Chain: []condition.Relation{condition.Eq},
					Args:  []*condition.Expr{e.Args[0], {Op: condition.OpParameter, Text: "got"}}}))
			}
		}
	})
}

func TestNothingAllocates(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	scope := conditiontest.Scope()
	evaluated := 0
	for range 300 {
		conditions, err := condition.Split(scope, conditiontest.Source{Rand: rng}.Predicate(3))
		if err != nil {
			continue
		}
		for _, c := range conditions {
			evaluated++
			values := newWorld(rng, scope).slots(c.Slots)
			require.Zero(t, testing.AllocsPerRun(3, func() { c.Eval(values) }), c.Key(nil))
		}
	}
	require.Greater(t, evaluated, 50)
}

func BenchmarkEval(b *testing.B) {
	scope := conditiontest.Scope()
	property := func(variable, name string) *condition.Expr {
		return &condition.Expr{Op: condition.OpProperty, Text: variable, Property: name}
	}
	number := func(text string) *condition.Expr { return &condition.Expr{Op: condition.OpNumber, Text: text} }
	above := &condition.Expr{Op: condition.OpCompare, Chain: []condition.Relation{condition.Gt},
		Args: []*condition.Expr{property("t", "d"), number("900.50")}}
	ratio := &condition.Expr{Op: condition.OpCompare, Chain: []condition.Relation{condition.Ge}}
	ratio.Args = []*condition.Expr{
		{Op: condition.OpMul, Args: []*condition.Expr{number("10"), property("t", "d")}},
		{Op: condition.OpMul, Args: []*condition.Expr{number("9"), property("u", "d")}}}
	for name, e := range map[string]*condition.Expr{"own": above, "between": ratio} {
		b.Run(name, func(b *testing.B) {
			conditions, err := condition.Split(scope, e)
			require.NoError(b, err)
			values := newWorld(rand.New(rand.NewPCG(1, 1)), scope).slots(conditions[0].Slots)
			b.ReportAllocs()
			for b.Loop() {
				conditions[0].Eval(values)
			}
		})
	}
}
