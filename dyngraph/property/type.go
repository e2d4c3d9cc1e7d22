package property

import (
	"fmt"
	"strconv"
	"strings"
)

// Kind is a type without its scale.
type Kind uint8

// The kinds. Null is that of the missing value; no property is declared with it.
const (
	Null Kind = iota
	Int64
	Decimal   // an int64 of units of 10^-scale
	Float64   // compared, never computed with
	Bool      // false is before true
	String    // compared by bytes
	Timestamp // milliseconds since the epoch
	Labels    // the labels of a vertex that may have several; no property is declared with it
)

// MaxScale is the greatest scale of a decimal: 10^18 is the greatest power of ten below 2^63.
const MaxScale = 18

// Type is the type of a property or of an expression.
type Type struct {
	Kind  Kind
	Scale uint8 // decimals of a Decimal, 0 otherwise
}

var kindNames = [...]string{"null", "int64", "decimal", "float64", "bool", "string", "timestamp", "labels"}

// String returns the type as the configuration spells it.
func (t Type) String() string {
	if int(t.Kind) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", uint8(t.Kind))
	}
	if t.Kind == Decimal {
		return fmt.Sprintf("decimal(%d)", t.Scale)
	}
	return kindNames[t.Kind]
}

// Exact reports whether the type counts in whole units: int64 and decimal, the types that conditions compute with
// beside timestamp.
func (t Type) Exact() bool { return t.Kind == Int64 || t.Kind == Decimal }

// Numeric reports whether values of the type are numbers.
func (t Type) Numeric() bool { return t.Exact() || t.Kind == Float64 }

// ParseType reads a type as the configuration spells it.
func ParseType(s string) (Type, error) {
	for k := Int64; k <= Timestamp; k++ {
		if s == kindNames[k] && k != Decimal {
			return Type{Kind: k}, nil
		}
	}
	inner, ok := strings.CutPrefix(s, "decimal(")
	inner, closed := strings.CutSuffix(inner, ")")
	if ok && closed {
		scale, err := strconv.ParseUint(inner, 10, 8)
		if err == nil && scale <= MaxScale && inner == strconv.FormatUint(scale, 10) {
			return Type{Kind: Decimal, Scale: uint8(scale)}, nil
		}
		return Type{}, fmt.Errorf("the scale of %q is not a whole number from 0 to %d", s, MaxScale)
	}
	return Type{}, fmt.Errorf("the type %q is unknown; there are int64, decimal(scale), float64, bool, string and "+
		"timestamp", s)
}

// MarshalText implements encoding.TextMarshaler.
func (t Type) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *Type) UnmarshalText(text []byte) error {
	parsed, err := ParseType(string(text))
	if err == nil {
		*t = parsed
	}
	return err
}
