package property

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ErrValue is wrapped by the error of a value that is not exactly of its declared type.
var ErrValue = errors.New("bad property")

// cut shortens the text of a value for a message.
func cut(text string) string {
	const most = 64
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

func bad(t Type, text, why string) error {
	text = cut(text)
	return fmt.Errorf("%w: %s %s; the declared type is %v", ErrValue, text, why, t)
}

// FromJSON reads a JSON value. null is null. A JSON string stands for its text, so that numbers beyond 2^53, amounts of
// money and cells of a CSV file can be written as strings; a JSON number or bool is never a string.
func FromJSON(t Type, raw []byte) (Value, error) {
	text := string(raw)
	switch {
	case text == "null":
		return Value{}, nil
	case text == "":
		return Value{}, bad(t, "an empty text", "is no JSON value")
	case text[0] == '"':
		s, err := unquote(text)
		if err != nil {
			return Value{}, bad(t, text, err.Error())
		}
		return FromText(t, s)
	case t.Kind == String:
		return Value{}, bad(t, text, "is not a string")
	}
	return FromText(t, text)
}

// unquote reads a JSON string. Half a surrogate pair is refused, since it stands for no character.
func unquote(raw string) (string, error) {
	if !utf8.ValidString(raw) {
		return "", errors.New("is not valid UTF-8")
	}
	var s string
	if err := json.Unmarshal([]byte(raw), &s); err != nil {
		return "", errors.New("is not a JSON string")
	}
	if strings.ContainsRune(s, utf8.RuneError) && halfPair(raw) {
		return "", errors.New("has half of a surrogate pair")
	}
	return s, nil
}

// halfPair finds an escape of a surrogate without its other half in a valid JSON string.
func halfPair(raw string) bool {
	escape := func(i int) uint64 { // the value of a \u escape at i, or 0
		if i+6 > len(raw) || raw[i] != '\\' || raw[i+1] != 'u' {
			return 0
		}
		u, err := strconv.ParseUint(raw[i+2:i+6], 16, 32)
		if err != nil {
			return 0
		}
		return u
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		switch u := escape(i); {
		case u>>10 == 0xd800>>10 && escape(i+6)>>10 == 0xdc00>>10:
			i += 11
		case u>>11 == 0xd800>>11:
			return true
		default:
			i++ // the escaped character
		}
	}
	return false
}

// FromText reads the text of a value, such as a CSV cell: a number as JSON writes it, true or false, or the string
// itself. A number counts by its value, not by its spelling: 12.340 and 1e1 are decimals of scale 2, 1.0 is an int64.
// The value must be exactly of its type, a float64 within the range of float64: it is the nearest one.
func FromText(t Type, text string) (Value, error) {
	switch t.Kind {
	case Bool:
		if text != "true" && text != "false" {
			return Value{}, bad(t, strconv.Quote(text), "is neither true nor false")
		}
		return Truth(text == "true"), nil
	case String:
		if !utf8.ValidString(text) {
			return Value{}, bad(t, strconv.Quote(text), "is not valid UTF-8")
		}
		return Text(text), nil
	case Int64, Decimal, Float64, Timestamp:
		return numberOf(t, text)
	}
	return Value{}, fmt.Errorf("%w: %v is no type of a property", ErrValue, t)
}

func numberOf(t Type, text string) (Value, error) {
	n, err := scanNumber(text)
	if err != nil {
		return Value{}, bad(t, strconv.Quote(text), err.Error())
	}
	if t.Kind == Float64 {
		v, err := nearest(text)
		if err != nil {
			return Value{}, bad(t, text, "is beyond it")
		}
		return v, nil
	}
	u, err := n.units(int(t.Scale))
	if errors.Is(err, errDecimals) && t.Scale == 0 {
		return Value{}, bad(t, text, "is not a whole number")
	} else if err != nil {
		return Value{}, bad(t, text, err.Error())
	}
	switch t.Kind {
	case Int64:
		return Int(u), nil
	case Timestamp:
		return Time(u), nil
	}
	return Units(u, t.Scale), nil
}
