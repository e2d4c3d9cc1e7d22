package property_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph/property"
)

func TestGuess(t *testing.T) {
	for _, c := range []struct{ values, json, cells string }{
		{"", "", ""},
		{"null", "", "string"},
		{"1 -2 null", "int64", "string"},
		{"1 2", "int64", "int64"},
		{"9223372036854775807 -9223372036854775808", "int64", "int64"},
		{"9223372036854775808", "float64", "float64"},
		{"12.50 7", "decimal(2)", "decimal(2)"},
		{"0.000000000000000001", "decimal(18)", "decimal(18)"},
		{"0.0000000000000000001", "float64", "float64"},
		{"1.5 123456789012345678", "float64", "float64"},
		{"1.5 12345678901234567", "decimal(1)", "decimal(1)"},
		{"1.5e3 2E2", "int64", "int64"},
		{"1e-3 4", "decimal(3)", "decimal(3)"},
		{"1e400", "some numbers are beyond float64", "string"},
		{"true false", "bool", "bool"},
		{"true 1", "the values are of several types", "string"},
		{`"a" "b"`, "string", "string"},
		{`"12" "13"`, "string", "string"},
		{`"12.25" 13`, "decimal(2)", "string"},
		{`"x" 13`, "the values are of several types", "string"},
		{`"x" true`, "the values are of several types", "string"},
		{`[1] 2`, "some values are arrays or objects", "string"},
		{`{"a":1}`, "some values are arrays or objects", "string"},
		{"007 8", "some values are arrays or objects", "string"}, // no JSON
	} {
		for cells, want := range map[bool]string{false: c.json, true: c.cells} {
			var all, first, rest property.Guess
			for i, v := range strings.Fields(c.values) {
				part := &rest
				if i == 0 {
					part = &first
				}
				for _, g := range []*property.Guess{&all, part} {
					if cells {
						g.AddText(v)
					} else {
						g.AddJSON([]byte(v))
					}
				}
			}
			first.Merge(&rest)
			for _, g := range []property.Guess{all, first} {
				typ, why := g.Type()
				if typ.Kind != property.Null {
					require.Empty(t, why)
					why = typ.String()
				}
				require.Equal(t, want, why, "%s, cells %v", c.values, cells)
			}
		}
	}
}

// TestAGuessFitsItsValues: each value that was shown is exactly of the type.
func TestAGuessFitsItsValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	kinds := map[property.Kind]int{}
	for range 20_000 {
		var values []string
		digits := 1 + rng.IntN(19)
		for range 1 + rng.IntN(5) {
			n := fmt.Sprint(rng.Uint64() >> 1)
			v := strings.TrimLeft(n[:min(len(n), 1+rng.IntN(digits))], "0") + "0"
			v = []string{"", "-"}[rng.IntN(2)] + v
			if rng.IntN(3) == 0 {
				v += "." + fmt.Sprint(rng.Uint64())[:1+rng.IntN(digits)%6]
			}
			if rng.IntN(8) == 0 {
				v += fmt.Sprintf("e%d", rng.IntN(8)-4)
			}
			if rng.IntN(40) == 0 {
				v = []string{"true", "null", `"7"`, `"x"`}[rng.IntN(4)]
			}
			values = append(values, v)
		}
		var g property.Guess
		for _, v := range values {
			require.True(t, json.Valid([]byte(v)), v)
			g.AddJSON([]byte(v))
		}
		typ, _ := g.Type()
		if kinds[typ.Kind]++; typ.Kind == property.Null {
			continue
		}
		for _, v := range values {
			_, err := property.FromJSON(typ, []byte(v))
			require.NoError(t, err, "%v", values)
		}
	}
	for _, k := range []property.Kind{property.Null, property.Int64, property.Decimal, property.Float64} {
		require.Positive(t, kinds[k], "%v", kinds)
	}
}
