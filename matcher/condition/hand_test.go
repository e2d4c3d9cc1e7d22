package condition_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph/property"
	"motifd/matcher/condition"
	"motifd/matcher/condition/conditiontest"
	"motifd/matcher/pattern"
)

// TestByHand evaluates conditions on values whose truth is known: traps, nulls, overflow, durations.
func TestByHand(test *testing.T) {
	real := func(x float64) property.Value {
		v, err := property.Float(x)
		require.NoError(test, err)
		return v
	}
	null, yes, no := property.Value{}, property.Truth(true), property.Truth(false)
	whole, units, text, at := property.Int, property.Units, property.Text, property.Time
	for _, c := range []struct {
		where  string
		values []property.Value // by slot: in the order in which the text first reads them
		want   condition.Truth
	}{
		{"a.i = a.f", []property.Value{whole(9007199254740993), real(9007199254740992)}, f},
		{"a.i > a.f", []property.Value{whole(9007199254740993), real(9007199254740992)}, t},
		{"a.f = 0.1", []property.Value{real(0.1)}, t},
		{"a.d = a.f", []property.Value{units(10, 2), real(0.1)}, f},
		{"a.d < a.f", []property.Value{units(10, 2), real(0.1)}, t},
		{"a.f IN [0.1, 3]", []property.Value{real(0.1)}, t},
		{"a.d = 12.340", []property.Value{units(1234, 2)}, t},
		{"a.d = a.e", []property.Value{units(1234, 2), units(123400, 4)}, t},
		{"NOT a.i = 1", []property.Value{null}, u},
		{"a.i <> 1", []property.Value{null}, u},
		{"NOT (a.i = 1 AND a.j = 1)", []property.Value{null, whole(2)}, t},
		{"NOT (a.i = 1 OR a.j = 1)", []property.Value{null, whole(2)}, u},
		{"a.i = 1 OR a.j = 1", []property.Value{null, whole(1)}, t},
		{"a.i = 1 XOR a.j = 1", []property.Value{whole(1), whole(1)}, f},
		{"a.i = a.i", []property.Value{null}, u},
		{"NOT a.p", []property.Value{null}, u},
		{"a.p = false OR a.q", []property.Value{no, null}, t},
		{"a.p < a.q", []property.Value{no, yes}, t},
		{"a.i IS NULL OR a.i > 5", []property.Value{null}, t},
		{"a.i IN [1, null]", []property.Value{whole(2)}, u},
		{"NOT a.i IN [1, null] OR a.j = 5", []property.Value{whole(1), whole(4)}, f},
		{"NOT a.i IN [1, null] OR a.j = 5", []property.Value{whole(2), whole(4)}, u},
		{"NOT a.i IN [1, 3]", []property.Value{null}, u},
		{"a.s STARTS WITH 'é'", []property.Value{text("éa")}, t},
		{"NOT a.s STARTS WITH 'x'", []property.Value{null}, u},
		{"a.s > 'Z'", []property.Value{text("a")}, t},
		{"a.s < 'é'", []property.Value{text("z")}, t},
		{"a.i + a.j > 0", []property.Value{whole(math.MaxInt64), whole(1)}, u},
		{"(a.i + a.j) IS NULL AND a.i > 0", []property.Value{whole(math.MaxInt64), whole(1)}, t},
		{"-a.i > 0", []property.Value{whole(math.MinInt64)}, u},
		{"a.i * a.j < 0", []property.Value{whole(math.MinInt64), whole(-1)}, u},
		{"10 * u.d >= 9 * t.d", []property.Value{units(90, 2), units(100, 2)}, t},
		{"10 * u.d >= 9 * t.d", []property.Value{units(89, 2), units(100, 2)}, f},
		{"u.ts - t.ts <= duration('P1D')", []property.Value{at(86_400_000), at(0)}, t},
		{"u.ts - t.ts <= duration('P1D')", []property.Value{at(86_400_001), at(0)}, f},
		{"u.ts - t.ts <= $day", []property.Value{at(1), null}, u},
		{"u.ts - t.ts > 0", []property.Value{at(math.MinInt64), at(1)}, u},
		{"t.ts < u.ts OR false", []property.Value{at(5), at(5)}, f},
		{"NOT (1 < a.i < 3)", []property.Value{whole(3)}, t},
		{"NOT (a.i < a.j < 3)", []property.Value{null, whole(3)}, t},
	} {
		conditions := parse(test, c.where)
		// A conjunction at the top is several conditions: a match needs all.
		got := t
		for _, one := range conditions {
			got = got.And(one.Eval(c.values[:len(one.Slots)]))
		}
		require.Equal(test, c.want, got, c.where)
	}
}

func parse(test *testing.T, where string) []*condition.Condition {
	scope := conditiontest.Scope()
	declared := pattern.Declared{Schema: scope.Schema, Parameters: scope.Parameters}
	text := conditiontest.Pattern + " WHERE " + where
	r, err := pattern.ParseRule([]byte(text), pattern.Options{Name: "q", Directed: true}, declared)
	require.NoError(test, err, where)
	require.NotEmpty(test, r.Conditions, where)
	return r.Conditions
}
