package condition

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph/property"
)

// TestLabelledHolds: alternatives of labels that are there, and absent; a vertex without labels has a truth, too.
func TestLabelledHolds(t *testing.T) {
	labels := NewLabels(Alternative{All: []string{"A", "B"}, None: []string{"C"}}, Alternative{None: []string{"A"}})
	c := Labelled(1, labels, Pos{})
	require.True(t, c.Own())
	require.Equal(t, Ref{Index: 1}, c.Elements[0])
	for _, x := range []struct {
		set  property.Value
		want Truth
	}{
		{property.LabelSet("A", "B"), True}, {property.LabelSet("B", "A", "D"), True}, {property.LabelSet("A"), False},
		{property.LabelSet("A", "B", "C"), False}, {property.Value{}, True}, {property.LabelSet("AB", "C"), True},
	} {
		require.Equal(t, x.want, c.Eval([]property.Value{x.set}), "%q", x.set)
	}
	name := func(r Ref) string { return r.String() }
	require.Equal(t, "v1:A&B&!C|!A", c.Format(name))
	got, ok := c.Labels()
	require.True(t, ok)
	require.Equal(t, labels, got)
}

// TestLabelledIsStored: a demand is stored and read again; what is no demand in its one form is refused.
func TestLabelledIsStored(t *testing.T) {
	c := Labelled(0, NewLabels(Alternative{All: []string{"b c", "A"}}), Pos{2, 3})
	text, err := json.Marshal(c)
	require.NoError(t, err)
	var again Condition
	require.NoError(t, json.Unmarshal(text, &again))
	require.Equal(t, c.Key(nil), again.Key(nil))
	require.Equal(t, c.Slots, again.Slots)
	require.NotEqual(t, c.OwnKey(), Labelled(0, NewLabels(Alternative{All: []string{"A"}}), Pos{}).OwnKey())
	require.Equal(t, c.OwnKey(), Labelled(3, NewLabels(Alternative{All: []string{"A", "b c"}}), Pos{}).OwnKey())
	require.True(t, Preserved([]*Condition{c, Labelled(1, NewLabels(Alternative{All: []string{"A", "b c"}}), Pos{})},
		func(r Ref) Ref { return Ref{Index: 1 - r.Index} }))
	for _, bad := range []string{
		`{"op":"labelled","element":{"index":0}}`, `{"op":"labelled","labels":[{"all":["A"]}]}`,
		`{"op":"labelled","element":{"index":-1},"labels":[{"all":["A"]}]}`,
		`{"op":"labelled","element":{"index":0,"edge":true},"labels":[{"all":["A"]}]}`,
		`{"op":"labelled","element":{"index":0},"labels":[{"all":["B","A"]}]}`,
		`{"op":"labelled","element":{"index":0},"labels":[{"all":["A"]}],"args":[{"op":"truth","truth":"TRUE"}]}`,
	} {
		require.ErrorIs(t, json.Unmarshal([]byte(bad), &again), errStored, bad)
	}
}
