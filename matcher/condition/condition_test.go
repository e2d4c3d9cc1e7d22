package condition_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph/property"
	"motifd/matcher/condition"
	"motifd/matcher/condition/conditiontest"
	"motifd/matcher/matchertest"
)

const (
	f = condition.False
	u = condition.Unknown
	t = condition.True
)

// TestKleene has the truth tables in full, as openCypher prints them.
func TestKleene(test *testing.T) {
	for _, row := range []struct{ a, b, and, or, xor condition.Truth }{
		{f, f, f, f, f}, {f, u, f, u, u}, {f, t, f, t, t},
		{u, f, f, u, u}, {u, u, u, u, u}, {u, t, u, t, u},
		{t, f, f, t, t}, {t, u, u, t, u}, {t, t, t, t, f},
	} {
		require.Equal(test, row.and, row.a.And(row.b), "%v AND %v", row.a, row.b)
		require.Equal(test, row.or, row.a.Or(row.b), "%v OR %v", row.a, row.b)
		require.Equal(test, row.xor, row.a.Xor(row.b), "%v XOR %v", row.a, row.b)
	}
	require.Equal(test, []condition.Truth{t, u, f}, []condition.Truth{f.Not(), u.Not(), t.Not()})
	require.Equal(test, []string{"FALSE", "UNKNOWN", "TRUE"}, []string{f.String(), u.String(), t.String()})
}

// TestKleeneCompiled evaluates the tables through a compiled condition.
func TestKleeneCompiled(test *testing.T) {
	scope := conditiontest.Scope()
	flag := func(variable string) *condition.Expr {
		return &condition.Expr{Op: condition.OpProperty, Text: variable, Property: "p"}
	}
	values := map[condition.Truth]property.Value{f: property.Truth(false), u: {}, t: property.Truth(true)}
	for op, fold := range map[condition.Op]func(a, b condition.Truth) condition.Truth{
		condition.OpAnd: condition.Truth.And, condition.OpOr: condition.Truth.Or, condition.OpXor: condition.Truth.Xor,
	} {
		e := &condition.Expr{Op: op, Args: []*condition.Expr{flag("a"), flag("b")}}
		conditions, err := condition.Split(scope, &condition.Expr{Op: condition.OpNot, Args: []*condition.Expr{e}})
		require.NoError(test, err)
		require.Len(test, conditions, 1)
		require.False(test, conditions[0].Own())
		require.Len(test, conditions[0].Slots, 2)
		for a, va := range values {
			for b, vb := range values {
				require.Equal(test, fold(a, b).Not(), conditions[0].Eval([]property.Value{va, vb}))
			}
		}
	}
}

// compare is a comparison of two properties.
func compare(a string, r condition.Relation, b string) *condition.Expr {
	return &condition.Expr{Op: condition.OpCompare, Chain: []condition.Relation{r}, Args: []*condition.Expr{
		{Op: condition.OpProperty, Text: a, Property: "i"}, {Op: condition.OpProperty, Text: b, Property: "i"}}}
}

func split(test *testing.T, exprs ...*condition.Expr) []*condition.Condition {
	conditions, err := condition.Split(conditiontest.Scope(), exprs...)
	require.NoError(test, err)
	return conditions
}

// swap exchanges two vertices.
func swap(i, j int) func(condition.Ref) condition.Ref {
	return func(r condition.Ref) condition.Ref {
		if !r.Edge && (r.Index == i || r.Index == j) {
			r.Index = i + j - r.Index
		}
		return r
	}
}

func TestNormalForm(test *testing.T) {
	for _, pair := range [][2]*condition.Expr{
		{compare("a", condition.Eq, "b"), compare("b", condition.Eq, "a")},
		{compare("a", condition.Ne, "b"), compare("b", condition.Ne, "a")},
		{compare("a", condition.Lt, "b"), compare("b", condition.Gt, "a")},
		{compare("a", condition.Le, "b"), compare("b", condition.Ge, "a")},
	} {
		require.Len(test, split(test, pair[0], pair[1]), 1)
	}
	require.Len(test, split(test, compare("a", condition.Le, "b"), compare("b", condition.Le, "a")), 2)
	require.Len(test, split(test, compare("a", condition.Le, "b"), compare("a", condition.Lt, "b")), 2)

	identity := func(r condition.Ref) condition.Ref { return r }
	symmetric := split(test, compare("a", condition.Ne, "b"), compare("in", condition.Gt, "a"),
		compare("b", condition.Lt, "in"))
	require.True(test, condition.Preserved(symmetric, identity))
	require.True(test, condition.Preserved(symmetric, swap(0, 1)))
	require.False(test, condition.Preserved(symmetric, swap(0, 2)))
	require.False(test, condition.Preserved(split(test, compare("a", condition.Lt, "b")), swap(0, 1)))
	require.True(test, condition.Preserved(nil, swap(0, 1)))
}

// TestOwnKey holds that the same condition of two elements of one kind has one key.
func TestOwnKey(test *testing.T) {
	one := &condition.Expr{Op: condition.OpNumber, Text: "1"}
	above := func(variable string, r condition.Relation) *condition.Condition {
		e := compare(variable, r, variable)
		e.Args[1] = one
		return split(test, e)[0]
	}
	require.True(test, above("a", condition.Gt).Own())
	require.Equal(test, above("a", condition.Gt).OwnKey(), above("b", condition.Gt).OwnKey())
	require.NotEqual(test, above("a", condition.Gt).Key(nil), above("b", condition.Gt).Key(nil))
	require.NotEqual(test, above("a", condition.Gt).OwnKey(), above("a", condition.Ge).OwnKey())
	require.NotEqual(test, above("a", condition.Gt).OwnKey(), above("t", condition.Gt).OwnKey())
}

// mirrored exchanges the operands of some comparisons of two operands.
func mirrored(rng *rand.Rand, e *condition.Expr) *condition.Expr {
	m := *e
	m.Args = make([]*condition.Expr, len(e.Args))
	for i, a := range e.Args {
		m.Args[i] = mirrored(rng, a)
	}
	if e.Op == condition.OpCompare && len(e.Chain) == 1 && rng.IntN(2) == 0 {
		m.Chain = []condition.Relation{e.Chain[0].Mirror()}
		m.Args[0], m.Args[1] = m.Args[1], m.Args[0]
	}
	return &m
}

// renamed exchanges the variables a and b.
func renamed(e *condition.Expr) *condition.Expr {
	r := *e
	r.Args = nil
	for _, a := range e.Args {
		r.Args = append(r.Args, renamed(a))
	}
	if e.Op == condition.OpProperty {
		r.Text = map[string]string{"a": "b", "b": "a", "in": "in", "t": "t", "u": "u"}[e.Text]
	}
	return &r
}

// TestKeys holds that mirroring comparisons leaves the keys as they are, and that the key under a renaming is the key
// of the renamed expression.
func TestKeys(test *testing.T) {
	matchertest.ForSeeds(test, 20, func(test *testing.T, rng *rand.Rand) {
		for range 40 {
			e := conditiontest.Source{Rand: rng}.Predicate(3)
			conditions, err := condition.Split(conditiontest.Scope(), e)
			if err != nil {
				continue
			}
			again, err := condition.Split(conditiontest.Scope(), mirrored(rng, e))
			require.NoError(test, err, conditiontest.Format(e))
			other, err := condition.Split(conditiontest.Scope(), renamed(e))
			require.NoError(test, err)
			require.Len(test, other, len(conditions))
			require.Len(test, again, len(conditions))
			for i, c := range conditions {
				require.Equal(test, c.Key(nil), again[i].Key(nil), conditiontest.Format(e))
				require.Equal(test, c.Key(nil), c.Key(func(r condition.Ref) condition.Ref { return r }))
				require.Equal(test, c.Key(swap(0, 1)), other[i].Key(nil), conditiontest.Format(e))
			}
		}
	})
}

func TestDurations(test *testing.T) {
	for text, want := range map[string]int64{
		"PT24H": 86_400_000, "P1D": 86_400_000, "P2W": 1_209_600_000, "P1DT1H1M1S": 90_061_000, "PT0.5S": 500,
		"PT1.5H": 5_400_000, "PT08H": 28_800_000, "PT0S": 0, "P1W2D": 777_600_000, "PT1M0.001S": 60_001,
	} {
		got, err := condition.ParseDuration(text)
		require.NoError(test, err, text)
		require.Equal(test, want, got, text)
	}
	for text, want := range map[string]string{
		"": "is not a duration", "P": "is not a duration", "PT": "is not a duration", "1D": "is not a duration",
		"P1": "is not a duration", "PD": "is not a duration", "P1H": "is not a duration", "PT1D": "is not a duration",
		"PT1S1M": "is not a duration", "PT1H1H": "is not a duration", "PT1.5H1M": "is not a duration",
		"P-1D": "is not a duration", "P1DT": "is not a duration", "P1DTT1H": "is not a duration", "PT.S": "is not a",
		"PT1..5S": "is not a duration", "PT1.S": "is not a duration", "P1D ": "is not a duration", "p1d": "is not a",
		"P1Y": "in years or months", "P1M": "in years or months", "PT0.0001S": "whole number of milliseconds",
		"P99999999999999W": "beyond 64 bits", "PT9999999999999999999999S": "is not a duration", "Pé": "is not a",
	} {
		_, err := condition.ParseDuration(text)
		require.ErrorContains(test, err, want, text)
	}
}

func TestLabels(test *testing.T) {
	l := condition.NewLabels(condition.Alternative{All: []string{"B", "A", "B"}},
		condition.Alternative{None: []string{"C"}}, condition.Alternative{All: []string{"A", "B"}})
	plain := func(s string) string { return s }
	require.Equal(test, "A&B|!C", l.Format(plain))
	require.Equal(test, l, condition.NewLabels(l[1], l[0]))
	for _, c := range []struct {
		labels   condition.Labels
		label    string
		is, none bool
	}{
		{nil, "", true, false},
		{condition.NewLabels(condition.Alternative{All: []string{"A"}}), "A", true, false},
		{condition.NewLabels(condition.Alternative{All: []string{"A", "B"}}), "", false, true},
		{condition.NewLabels(condition.Alternative{None: []string{"A"}}), "", false, false},
		{condition.NewLabels(condition.Alternative{All: []string{"A"}, None: []string{"A"}}), "", false, true},
		{condition.NewLabels(condition.Alternative{All: []string{"A"}}, condition.Alternative{All: []string{"B"}}), "",
			false, false},
	} {
		label, is := c.labels.Single()
		require.Equal(test, c.label, label)
		require.Equal(test, c.is, is)
		_, none := c.labels.Impossible(false)
		require.Equal(test, c.none, none)
	}
	_, none := condition.NewLabels(condition.Alternative{All: []string{"A", "B"}}).Impossible(true)
	require.False(test, none)
}

// TestSpansWritten holds windows beyond what a time.Duration holds, 292 years.
func TestSpansWritten(test *testing.T) {
	for ms, want := range map[int64]string{
		1: "1ms", 86_400_000: "24h", 5_400_000: "1h30m", 9_223_372_036_854: "2562047h47m16.854s",
		9_223_372_036_855: "106751d23h47m16.855s", 17_280_000_000_000: "200000d", 172_800_000: "2d",
		129_600_000: "36h", 2_592_000_000: "30d",
		math.MaxInt64: "106751991167d7h12m55.807s",
	} {
		require.Equal(test, want, condition.FormatSpan(ms))
	}
}
