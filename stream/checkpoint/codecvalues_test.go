package checkpoint

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
)

// TestValuesRoundTrip: every kind at its extremes; nulls at the end are not stored, so that equal values have equal
// bytes.
func TestValuesRoundTrip(t *testing.T) {
	float := func(f float64) property.Value {
		v, err := property.Float(f)
		require.NoError(t, err)
		return v
	}
	var null property.Value
	values := []property.Value{null, property.Int(math.MinInt64), property.Int(math.MaxInt64), property.Units(-1, 18),
		property.Units(math.MinInt64, 0), property.Time(-1), float(-math.MaxFloat64), float(0),
		float(math.SmallestNonzeroFloat64), property.Truth(true), property.Truth(false), property.Text(""), null,
		property.Text("\x00é"), property.LabelSet("B", "A"), property.LabelSet("é")}
	for n := range len(values) + 1 {
		a := dyngraph.Attr{ID: "x", Values: values[:n:n]}
		stored := appendAttr(nil, &a)
		d := decoder{b: stored}
		got := d.attr()
		require.False(t, d.bad)
		require.Empty(t, d.b)
		require.Equal(t, len(property.WithoutNulls(a.Values)), len(got.Values))
		require.True(t, n == 0 || len(got.Values) == 0 || got.Values[len(got.Values)-1] == values[len(got.Values)-1])
		for i := range got.Values {
			require.Equal(t, values[i], got.Values[i])
		}
		a.Values = append(a.Values, null, null)
		require.Equal(t, stored, appendAttr(nil, &a))
	}
	require.Empty(t, appendAttr(nil, &dyngraph.Attr{Values: []property.Value{null}}))
	for _, bad := range [][]byte{
		{attrValues}, {attrValues, 0}, {attrValues, 1, valueNull}, {attrValues, 1, 9}, {attrValues, 2, valueTrue},
		{attrValues, 1, valueDecimal, 19, 2}, {attrValues, 1, valueFloat64, 0, 0, 0, 0, 0, 0, 0, 0x80}, // -0
		{attrValues, 1, valueFloat64, 0, 0, 0, 0, 0, 0, 0xf0, 0x7f}, {attrValues, 200, 1},
		{attrValues, 1, valueString, 9}, {attrValues, 1, valueLabels, 0}, {attrValues, 1, valueLabels, 3, 'B', 0, 'A'},
		{attrValues, 1, valueLabels, 3, 'A', 0, 'A'}, {attrValues, 1, valueLabels, 2, 'A', 0},
	} {
		d := decoder{b: bad}
		d.attr()
		require.True(t, d.bad, "%v", bad)
	}
}
