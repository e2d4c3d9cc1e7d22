package property

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Value is a value of a property, or null: the zero Value. Two Values are equal under == when they have the same type
// and value; Compare compares across types.
type Value struct {
	text  string
	bits  uint64 // the int64, the units of a decimal, the milliseconds, 0 or 1, or the bits of the float64
	kind  Kind
	scale uint8
}

// Int returns an int64.
func Int(n int64) Value { return Value{bits: uint64(n), kind: Int64} }

// Units returns the decimal units / 10^scale, with a scale of at most MaxScale.
func Units(units int64, scale uint8) Value {
	return Value{bits: uint64(units), kind: Decimal, scale: scale}
}

// Time returns a timestamp.
func Time(ms int64) Value { return Value{bits: uint64(ms), kind: Timestamp} }

// Text returns a string.
func Text(s string) Value { return Value{text: s, kind: String} }

// Truth returns a bool.
func Truth(b bool) Value {
	if b {
		return Value{bits: 1, kind: Bool}
	}
	return Value{kind: Bool}
}

// Float returns a float64. NaN and the infinities are errors; -0 is 0.
func Float(f float64) (Value, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Value{}, fmt.Errorf("%v is no float64 value of a property", f)
	}
	if f == 0 {
		f = 0 // not -0
	}
	return Value{bits: math.Float64bits(f), kind: Float64}, nil
}

// Stored returns the value of a type that Bits gives back; of a string it is the empty one.
func Stored(t Type, bits uint64) Value { return Value{bits: bits, kind: t.Kind, scale: t.Scale} }

// Bits returns what a column of the value's type stores: all of the value, unless it is a string.
func (v Value) Bits() uint64 { return v.bits }

// Type returns the value's type; that of null has the kind Null.
func (v Value) Type() Type { return Type{v.kind, v.scale} }

// IsNull reports whether the value is missing.
func (v Value) IsNull() bool { return v.kind == Null }

// Whole returns the int64, the units of a decimal, or the milliseconds of a timestamp.
func (v Value) Whole() int64 { return int64(v.bits) }

// Float64 returns the value of a float64.
func (v Value) Float64() float64 { return math.Float64frombits(v.bits) }

// True reports whether the value is the bool true.
func (v Value) True() bool { return v.kind == Bool && v.bits == 1 }

// Str returns the value of a string.
func (v Value) Str() string { return v.text }

// String returns the value as text that FromText reads back under its type: 12.34, true, abc. Null is "null".
func (v Value) String() string {
	if v.kind == String || v.kind == Labels {
		return v.text
	}
	return string(v.Append(nil))
}

// Append appends what String returns.
func (v Value) Append(b []byte) []byte {
	switch v.kind {
	case Int64, Timestamp:
		return strconv.AppendInt(b, v.Whole(), 10)
	case Decimal:
		return appendDecimal(b, v.Whole(), int(v.scale))
	case Float64:
		return strconv.AppendFloat(b, v.Float64(), 'g', -1, 64)
	case Bool:
		return strconv.AppendBool(b, v.True())
	case String, Labels:
		return append(b, v.text...)
	}
	return append(b, "null"...)
}

func appendDecimal(b []byte, units int64, scale int) []byte {
	if units < 0 {
		b = append(b, '-')
	}
	b = strconv.AppendUint(b, magnitude(units)/powers[scale], 10)
	if scale == 0 {
		return b
	}
	point := len(b)
	b = strconv.AppendUint(b, powers[scale]+magnitude(units)%powers[scale], 10) // a 1 stands where the point belongs
	b[point] = '.'
	return b
}

// stored is the JSON form of a Value: its type and its text. Null is null.
type stored struct {
	Type Type   `json:"type"`
	Text string `json:"text"`
}

// MarshalJSON implements json.Marshaler.
func (v Value) MarshalJSON() ([]byte, error) {
	if v.IsNull() {
		return []byte("null"), nil
	}
	return json.Marshal(stored{v.Type(), v.String()})
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *Value) UnmarshalJSON(text []byte) error {
	var s *stored
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	if s == nil {
		*v = Value{}
		return nil
	}
	read, err := FromText(s.Type, s.Text)
	if err == nil {
		*v = read
	}
	return err
}
