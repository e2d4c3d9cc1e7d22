package condition_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/condition"
	"motifd/matcher/condition/conditiontest"
	"motifd/matcher/matchertest"
	"motifd/matcher/property"
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
