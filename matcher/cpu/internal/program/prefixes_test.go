package program

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestS26BoundsOfACommonStep: the weaker of two bounds is taken, but none beyond what a condition asks for.
func TestS26BoundsOfACommonStep(t *testing.T) {
	limit := func(by, asked int64) []Limit { return []Limit{{Kind: AtMost, Value: 1, By: by, asked: asked}} }
	for _, c := range []struct {
		a, b []Limit
		by   int64 // -1: the steps are not one
	}{
		{limit(10, 10), limit(9, unasked), 10},
		{limit(9, unasked), limit(10, 10), 10},
		{limit(9, unasked), limit(10, unasked), 10},
		{limit(7, 10), limit(9, unasked), 9},
		{limit(7, 8), limit(9, unasked), -1},
		{limit(7, 7), limit(9, 9), -1},
		{limit(7, 7), nil, -1},
		{limit(7, 7), []Limit{{Kind: AtLeast, Value: 1, By: 7, asked: 7}}, -1},
		{limit(7, 7), []Limit{{Kind: AtMost, Value: 2, By: 7, asked: 7}}, -1},
	} {
		a, b := Reading{Limits: [][]Limit{c.a}}, Reading{Limits: [][]Limit{c.b}}
		require.Equal(t, c.by >= 0, equalReadings(a, b), "%+v", c)
		if c.by >= 0 {
			weaken([]Reading{a}, []Reading{b})
			require.Equal(t, c.by, c.a[0].By, "%+v", c)
		}
	}
}
