package property

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLabelSetsAreSets plays sets of labels against maps.
func TestLabelSetsAreSets(t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	rng := rand.New(rand.NewPCG(seed, 21))
	names := []string{"A", "AB", "B", "é", "+", "-A"}
	some := func() (all []string) {
		for range rng.IntN(5) {
			all = append(all, names[rng.IntN(len(names))])
		}
		return all
	}
	set := map[string]bool{}
	v := Value{}
	for range 20_000 {
		labels := some()
		switch rng.IntN(3) {
		case 0:
			clear(set)
			for _, l := range labels {
				set[l] = true
			}
			v = LabelsOf(JoinLabels(labels...))
		case 1:
			for _, l := range labels {
				set[l] = true
			}
			v = v.WithLabels(JoinLabels(labels...))
		default:
			var change []string
			for _, l := range labels {
				if set[l] = rng.IntN(2) == 0; set[l] {
					change = append(change, "+"+l)
				} else {
					change = append(change, "-"+l)
				}
			}
			v = v.Relabelled(JoinLabels(change...))
		}
		var want []string
		for _, l := range names {
			if set[l] {
				want = append(want, l)
			}
			require.Equal(t, set[l], v.HasLabel(l))
		}
		slices.Sort(want)
		require.Equal(t, want, slices.Collect(v.EachLabel()))
		require.Equal(t, LabelSet(want...), v)
		require.Equal(t, len(want) == 0, v.IsNull())
		require.Equal(t, !slices.ContainsFunc(labels, func(l string) bool { return !set[l] }),
			v.HasLabels(JoinLabels(labels...)))
	}
}

func TestSeveralLabelsNeedOneType(t *testing.T) {
	whole, text := Type{Kind: Int64}, Type{Kind: String}
	s := &Schema{SeveralLabels: true, Vertices: Declarations{"A": {"x": whole, "y": text}, "B": {"x": whole}}}
	require.NoError(t, s.Validate())
	c := s.VertexColumns()
	require.Equal(t, []Column{labelsColumn, {"x", whole}, {"y", text}}, c.All())
	for _, label := range []string{"", "A", "B", "C"} {
		column, ok := c.Of(label, "y")
		require.True(t, ok)
		require.Equal(t, 2, column)
		require.Equal(t, []int{1, 2}, c.Under(label).All())
	}
	_, ok := c.Of("", "")
	require.False(t, ok, "the labels are no property")
	require.Empty(t, c.Named(""))
	require.NoError(t, c.Check("", []Value{LabelSet("B", "A"), Int(1)}))
	require.Error(t, c.Check("", []Value{{text: "B\x00A", kind: Labels}}))
	require.Error(t, c.Check("", []Value{{}, LabelSet("A")}))
	_, err := ParseType("labels")
	require.Error(t, err)

	s.Vertices["B"]["x"] = text
	require.EqualError(t, s.Validate(), `property "x" is declared int64 for the vertex label "A" and string for "B"; `+
		`a vertex may have both labels (graph.vertex_labels: several): give it one type, or two names`)
	require.True(t, strings.HasPrefix(s.Validate().Error(), "property"))
}
