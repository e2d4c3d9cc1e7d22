package condition_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph/property"
	"motifd/matcher/condition"
	"motifd/matcher/condition/conditiontest"
	"motifd/matcher/matchertest"
)

// TestStored holds that a condition comes back from its JSON form as it was.
func TestStored(t *testing.T) {
	matchertest.ForSeeds(t, 10, func(t *testing.T, rng *rand.Rand) {
		scope := conditiontest.Scope()
		for range 40 {
			conditions, err := condition.Split(scope, conditiontest.Source{Rand: rng}.Predicate(3))
			if err != nil {
				continue
			}
			text, err := json.Marshal(conditions)
			require.NoError(t, err)
			var again []*condition.Condition
			require.NoError(t, json.Unmarshal(text, &again), "%s", text)
			require.Len(t, again, len(conditions))
			for i, c := range conditions {
				require.Equal(t, c.Key(nil), again[i].Key(nil))
				require.Equal(t, c.Slots, again[i].Slots)
				require.Equal(t, c.Elements, again[i].Elements)
				require.Equal(t, c.Pos, again[i].Pos)
				for range 10 {
					values := newWorld(rng, scope).slots(c.Slots)
					require.Equal(t, c.Eval(values), again[i].Eval(values))
				}
			}
		}
	})
}

// TestStoredGolden holds the form: checkpoints have it.
func TestStoredGolden(t *testing.T) {
	e := &condition.Expr{Op: condition.OpNot, Pos: condition.Pos{Line: 1, Col: 7}, Args: []*condition.Expr{{
		Op: condition.OpIn, Args: []*condition.Expr{
			{Op: condition.OpProperty, Text: "t", Property: "d"},
			{Op: condition.OpParameter, Text: "whole"},
		}}}}
	text, err := json.Marshal(split(t, e)[0])
	require.NoError(t, err)
	require.JSONEq(t, `{"op":"not","line":1,"column":7,"args":[{"op":"in","members":[
		{"type":"int64","text":"-1"},{"type":"decimal(2)","text":"2.50"},{"type":"int64","text":"3"}],
		"args":[{"op":"read","element":{"edge":true,"index":0},"property":"d","type":"decimal(2)"}]}]}`, string(text))
}

func TestFormulaStored(t *testing.T) {
	scope := conditiontest.Scope()
	rng := rand.New(rand.NewPCG(4, 4))
	stored := 0
	for range 400 {
		e := conditiontest.Source{Rand: rng}.Predicate(2)
		if e.Op != condition.OpCompare {
			continue
		}
		f, err := condition.NewFormula(scope, e.Args[0])
		if err != nil {
			continue
		}
		stored++
		text, err := json.Marshal(f)
		require.NoError(t, err)
		var again condition.Formula
		require.NoError(t, json.Unmarshal(text, &again), "%s", text)
		require.Equal(t, f.Type, again.Type)
		require.Equal(t, f.Slots, again.Slots)
		values := newWorld(rng, scope).slots(f.Slots)
		require.Equal(t, f.Eval(values), again.Eval(values))
	}
	require.Greater(t, stored, 30)
}

// TestLongestIsStored stores the deepest expression that is accepted.
func TestLongestIsStored(t *testing.T) {
	sum := func(n int) *condition.Expr {
		e := &condition.Expr{Op: condition.OpProperty, Text: "a", Property: "i"}
		for range n {
			e = &condition.Expr{Op: condition.OpAdd, Args: []*condition.Expr{e, {Op: condition.OpProperty, Text: "a",
				Property: "j"}}}
		}
		return &condition.Expr{Op: condition.OpIsNotNull, Args: []*condition.Expr{e}}
	}
	n := condition.MaxNodes/2 - 1
	_, err := condition.Split(conditiontest.Scope(), sum(n+1))
	require.ErrorContains(t, err, "more than 2048 operators and operands")
	longest := split(t, sum(n))[0]
	text, err := json.Marshal(longest)
	require.NoError(t, err)
	var again condition.Condition
	require.NoError(t, json.Unmarshal(text, &again))
	require.Equal(t, longest.Key(nil), again.Key(nil))
}

func TestStoredRefusals(t *testing.T) {
	const one = `{"op":"constant","value":{"type":"int64","text":"1"}}`
	const yes = `{"op":"truth","truth":"TRUE"}`
	for text, want := range map[string]string{
		`null`:                                "it has no end",
		`[]`:                                  "bad stored condition",
		`{"op":"no"}`:                         `the operation "no" is unknown`,
		`{"op":"not"}`:                        `"not" has 0 operands`,
		`{"op":"constant"}`:                   "a constant without a value",
		`{"op":"truth","truth":"x"}`:          `the truth "x" is unknown`,
		yes:                                   "it reads nothing",
		`{"op":"read","property":"x"}`:        "a property without its element",
		`{"op":"not","args":[null]}`:          "it has no end",
		`{"op":"and","args":[` + yes + `]}`:   `"and" has 1 operands`,
		`{"op":"not","args":[` + one + `]}`:   `"not" has the operand "constant"`,
		one:                                   "a value in place of a condition",
		strings.Replace(one, `"1"`, `"x"`, 1): "is not a number",
		`{"op":"neg","args":[` + yes + `]}`:   `"neg" has the operand "truth"`,
		`{"op":"in","args":[` + one + `]}`:    "an empty list",
		`{"op":"compare","relation":"!","args":[` + one + `,` + one + `]}`: `the relation "!" is unknown`,
		`{"op":"is null","args":[{"op":"add","args":[` + one + `,{"op":"constant","value":{"type":"bool",` +
			`"text":"true"}}]}]}`: `"add" of int64 and bool`,
	} {
		var c condition.Condition
		require.ErrorContains(t, json.Unmarshal([]byte(text), &c), want, text)
	}
}

func FuzzStored(f *testing.F) {
	for seed := range uint64(40) {
		conditions, err := condition.Split(conditiontest.Scope(),
			conditiontest.Source{Rand: rand.New(rand.NewPCG(seed, 3))}.Predicate(3))
		if err != nil || len(conditions) == 0 {
			continue
		}
		text, err := json.Marshal(conditions[0])
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var c condition.Condition
		if json.Unmarshal(text, &c) != nil {
			return
		}
		c.Eval(make([]property.Value, len(c.Slots)))
		again, err := json.Marshal(&c)
		require.NoError(t, err)
		var d condition.Condition
		require.NoError(t, json.Unmarshal(again, &d))
		require.Equal(t, c.Key(nil), d.Key(nil))
	})
}
