package property_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph/property"
)

func typ(t testing.TB, s string) property.Type {
	parsed, err := property.ParseType(s)
	require.NoError(t, err)
	require.Equal(t, s, parsed.String())
	return parsed
}

func TestTypes(t *testing.T) {
	for _, s := range []string{"int64", "decimal(0)", "decimal(18)", "float64", "bool", "string", "timestamp"} {
		typ(t, s)
	}
	for _, s := range []string{"", "int", "null", "decimal", "decimal()", "decimal(19)", "decimal(02)", "decimal(-1)",
		"decimal(2", "Int64", "decimal(2) "} {
		_, err := property.ParseType(s)
		require.Error(t, err, s)
	}
}

func TestFromJSON(t *testing.T) {
	for _, c := range []struct{ typ, json, want string }{
		{"int64", "12", "12"},
		{"int64", "-0", "0"},
		{"int64", "1.0", "1"},
		{"int64", "1e3", "1000"},
		{"int64", "1200e-2", "12"},
		{"int64", "9223372036854775807", "9223372036854775807"},
		{"int64", "-9223372036854775808", "-9223372036854775808"},
		{"int64", `"42"`, "42"},
		{"int64", "0e999999999999999999999", "0"},
		{"decimal(2)", "12.34", "12.34"},
		{"decimal(2)", "12.340", "12.34"},
		{"decimal(2)", "-0.05", "-0.05"},
		{"decimal(2)", "-0.00", "0.00"},
		{"decimal(2)", "7", "7.00"},
		{"decimal(2)", `"12.3"`, "12.30"},
		{"decimal(0)", "5", "5"},
		{"decimal(18)", "9.223372036854775807", "9.223372036854775807"},
		{"float64", "0.1", "0.1"},
		{"float64", "-0", "0"},
		{"float64", "-0.0e5", "0"},
		{"float64", "1e-400", "0"},
		{"float64", "1.7976931348623157e308", "1.7976931348623157e+308"},
		{"bool", "true", "true"},
		{"bool", `"false"`, "false"},
		{"string", `"a\u00e9\ud83d\ude00\n"`, "aé😀\n"},
		{"string", `"\\ud800"`, `\ud800`},
		{"string", `"\ufffd"`, "\ufffd"},
		{"string", `""`, ""},
		{"timestamp", "1700000000000", "1700000000000"},
		{"timestamp", "-3", "-3"},
		{"int64", "null", "null"},
		{"string", "null", "null"},
	} {
		v, err := property.FromJSON(typ(t, c.typ), []byte(c.json))
		require.NoError(t, err, "%s as %s", c.json, c.typ)
		require.Equal(t, c.want, v.String(), "%s as %s", c.json, c.typ)
		if c.json != "null" {
			require.Equal(t, c.typ, v.Type().String())
		}
	}
	for _, c := range []struct{ typ, json, why string }{
		{"decimal(2)", "12.345", "12.345 has more decimals; the declared type is decimal(2)"},
		{"decimal(2)", "92233720368547758.08", "is beyond 64 bits"},
		{"int64", "9223372036854775808", "is beyond 64 bits"},
		{"int64", "-9223372036854775809", "is beyond 64 bits"},
		{"int64", "1e999999999999999999999", "is beyond 64 bits"},
		{"int64", "1.5", "1.5 is not a whole number"},
		{"int64", "1e-999999999999999999999", "is not a whole number"},
		{"int64", "NaN", "is not a number"},
		{"float64", "NaN", "is not a number"},
		{"float64", `"Infinity"`, "is not a number"},
		{"float64", "1e999", "is beyond it"},
		{"int64", "01", "is not a number"},
		{"int64", "+1", "is not a number"},
		{"int64", "1.", "is not a number"},
		{"int64", ".5", "is not a number"},
		{"int64", "1e", "is not a number"},
		{"int64", "1e+", "is not a number"},
		{"int64", "1e5x", "is not a number"},
		{"int64", "0x10", "is not a number"},
		{"int64", "-", "is not a number"},
		{"int64", "", "an empty text"},
		{"int64", `""`, "is not a number"},
		{"int64", `" 1"`, "is not a number"},
		{"int64", "true", "is not a number"},
		{"int64", "[1]", "is not a number"},
		{"bool", "1", "is neither true nor false"},
		{"string", "1", "1 is not a string"},
		{"string", "{}", "{} is not a string"},
		{"string", `"\ud800"`, "half of a surrogate pair"},
		{"string", `"\ud800\u0041"`, "half of a surrogate pair"},
		{"string", `"\udc00\ud800"`, "half of a surrogate pair"},
		{"string", `"\ud83d\ude00\udc00"`, "half of a surrogate pair"},
		{"string", "\"\xff\"", "is not valid UTF-8"},
		{"string", `"`, "is not a JSON string"},
	} {
		_, err := property.FromJSON(typ(t, c.typ), []byte(c.json))
		require.ErrorContains(t, err, c.why, "%s as %s", c.json, c.typ)
		require.ErrorIs(t, err, property.ErrValue)
	}
}

func TestFloat(t *testing.T) {
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err := property.Float(f)
		require.Error(t, err)
	}
	zero, err := property.Float(math.Copysign(0, -1))
	require.NoError(t, err)
	require.Equal(t, float(t, 0), zero)
	require.False(t, math.Signbit(zero.Float64()))
}

// TestCompareByHand has comparisons in which a conversion would go wrong.
func TestCompareByHand(t *testing.T) {
	order := func(a, b property.Value) int {
		c, ok := property.Compare(a, b)
		require.True(t, ok)
		back, ok := property.Compare(b, a)
		require.True(t, ok)
		require.Equal(t, c, -back)
		return c
	}
	require.Equal(t, 1, order(property.Int(9007199254740993), float(t, 9007199254740992)))
	require.Equal(t, -1, order(property.Int(math.MaxInt64), float(t, 1<<63)))
	require.Equal(t, 0, order(property.Int(math.MinInt64), float(t, -1<<63)))
	require.Equal(t, -1, order(property.Units(1, 1), float(t, 0.1))) // the float is a little above
	require.Equal(t, 0, order(property.Units(50, 2), float(t, 0.5)))
	require.Equal(t, 0, order(property.Units(500, 2), property.Int(5)))
	require.Equal(t, 0, order(property.Int(0), float(t, 0)))
	require.Equal(t, 1, order(property.Units(1, 18), property.Int(0)))
	require.Equal(t, -1, order(property.Int(0), float(t, math.SmallestNonzeroFloat64)))
	require.Equal(t, -1, order(property.Text("Z"), property.Text("a")))
	require.Equal(t, -1, order(property.Text("z"), property.Text("é")))
	require.Equal(t, -1, order(property.Truth(false), property.Truth(true)))
	require.Equal(t, -1, order(property.Time(1), property.Time(2)))
	for _, pair := range [][2]property.Value{
		{{}, property.Int(1)}, {{}, {}}, {property.Int(1), property.Text("1")}, {property.Time(1), property.Int(1)},
		{property.Truth(true), property.Int(1)}, {float(t, 1), property.Time(1)},
	} {
		_, ok := property.Compare(pair[0], pair[1])
		require.False(t, ok)
		_, ok = property.Compare(pair[1], pair[0])
		require.False(t, ok)
	}
}

func TestTimestamps(t *testing.T) {
	at := property.Time(1000)
	require.Equal(t, property.Int(-500), property.Sub(at, property.Time(1500)))
	require.Equal(t, property.Time(1007), property.Add(at, property.Int(7)))
	require.Equal(t, property.Time(1007), property.Add(property.Int(7), at))
	require.Equal(t, property.Time(993), property.Sub(at, property.Int(7)))
	for _, v := range []property.Value{property.Add(at, at), property.Mul(at, property.Int(2)), property.Neg(at),
		property.Sub(property.Int(1), at), property.Add(at, property.Units(1, 2)), property.Neg(float(t, 1)),
		property.Sub(property.Time(math.MinInt64), property.Time(1)), property.Add(at, property.Value{}),
		property.Add(property.Text("a"), property.Text("b"))} {
		require.True(t, v.IsNull())
	}
}

func TestNumber(t *testing.T) {
	for text, want := range map[string]property.Value{
		"5": property.Int(5), "900.50": property.Units(90050, 2), "1e3": property.Int(1000), "1.5e1": property.Int(15),
		"1.5e-1": property.Units(15, 2), "0.000000000000000001": property.Units(1, 18), "1e300": float(t, 1e300),
		"0.1234567890123456789": float(t, 0.1234567890123456789), "1e19": float(t, 1e19), "0.0": property.Units(0, 1),
	} {
		got, err := property.Number(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"9223372036854775808", "1e309", "x", "", "1_0"} {
		_, err := property.Number(text)
		require.Error(t, err, text)
	}
	require.Equal(t, float(t, 0.1), property.Units(1, 1).Rounded())
	require.Equal(t, float(t, 0.1), property.Units(10, 2).Rounded())
	require.Equal(t, float(t, -1<<63), property.Int(math.MinInt64).Rounded())
}

func TestSchema(t *testing.T) {
	s := property.Schema{
		Vertices: property.Declarations{"*": {"risk": typ(t, "int64")}, "Account": {"country": typ(t, "string")}},
		Edges:    property.Declarations{"T": {"ts": typ(t, "timestamp")}},
	}
	require.NoError(t, s.Validate())
	got, ok := s.Vertices.Lookup("Account", "risk")
	require.True(t, ok)
	require.Equal(t, typ(t, "int64"), got)
	_, ok = s.Vertices.Lookup("", "country")
	require.False(t, ok)
	_, ok = s.Vertices.Lookup("", "risk")
	require.True(t, ok)
	require.Equal(t, []string{"Account"}, s.Vertices.Labels("country"))
	require.Equal(t, []string{"country", "risk"}, s.Vertices.Names("Account"))
	require.Empty(t, s.Edges.Names("U"))

	s.Vertices["Account"]["risk"] = typ(t, "string")
	require.ErrorContains(t, s.Validate(), `"risk" of the vertex label "Account" is declared string,`)
	s.Vertices["Account"]["risk"] = property.Type{}
	require.ErrorContains(t, s.Validate(), "has no type")
	delete(s.Vertices["Account"], "risk")
	s.Edges["T"]["ts"] = typ(t, "int64")
	require.ErrorContains(t, s.Validate(), "it is a timestamp")
}

func TestNothingAllocates(t *testing.T) {
	values := []property.Value{property.Int(3), property.Units(314, 2), float(t, 3.1), property.Text("x")}
	require.Zero(t, testing.AllocsPerRun(10, func() {
		for _, a := range values {
			for _, b := range values {
				property.Compare(a, b)
				property.Add(a, b)
				property.Mul(a, b)
			}
		}
	}))
}

func FuzzFromJSON(f *testing.F) {
	for _, s := range []string{"1", "-0.05", "1e3", `"a\ud800"`, "null", "true", "[]"} {
		f.Add([]byte(s), uint8(property.Decimal), uint8(2))
	}
	f.Fuzz(func(t *testing.T, raw []byte, kind, scale uint8) {
		typ := property.Type{Kind: property.Kind(kind%6 + 1)}
		if typ.Kind == property.Decimal {
			typ.Scale = scale % (property.MaxScale + 1)
		}
		v, err := property.FromJSON(typ, raw)
		if err != nil {
			require.ErrorIs(t, err, property.ErrValue)
			require.Less(t, len(err.Error()), 400)
			return
		}
		if v.IsNull() {
			require.Equal(t, "null", string(raw))
			return
		}
		require.Equal(t, typ, v.Type())
		again, err := property.FromText(typ, v.String())
		require.NoError(t, err)
		require.Equal(t, v, again)
	})
}
