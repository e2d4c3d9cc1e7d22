package codec

import (
	"strconv"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
)

// appendValue appends a value as JSON: numbers with all their digits, null for null.
func appendValue(b []byte, v property.Value) []byte {
	switch v.Type().Kind {
	case property.Int64, property.Timestamp:
		return strconv.AppendInt(b, v.Whole(), 10)
	case property.Bool:
		return strconv.AppendBool(b, v.True())
	case property.String:
		return appendString(b, v.Str())
	}
	return append(b, v.String()...)
}

// appendProps appends the props member of an edge, if it has any: its declared properties by name, null left out, then
// with echo the others as they came. columns is nil where nothing is declared.
func appendProps(b []byte, columns *property.Columns, label string, a *dyngraph.Attr, echo bool) []byte {
	open := false
	var under []int
	if columns != nil {
		under = columns.Under(label)
	}
	for _, column := range under {
		v := a.Value(column)
		if v.IsNull() {
			continue
		}
		if open {
			b = append(b, ',')
		} else {
			b, open = append(b, `,"props":{`...), true
		}
		b = appendString(b, columns.All()[column].Name)
		b = appendValue(append(b, ':'), v)
	}
	others := a.Props
	if !echo {
		others = nil
	}
	switch {
	case open && len(others) > len("{}"):
		return append(append(b, ','), others[1:]...)
	case open:
		return append(b, '}')
	case len(others) > 0:
		return append(append(b, `,"props":`...), others...)
	}
	return b
}
