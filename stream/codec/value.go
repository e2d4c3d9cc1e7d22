package codec

import (
	"motifd/dyngraph/property"
)

// appendValue appends a value as JSON: numbers with all their digits, null for null.
func appendValue(b []byte, v property.Value) []byte {
	if v.Type().Kind == property.String {
		return appendString(b, v.Str())
	}
	return v.Append(b)
}

// appendProps appends the props member of an edge, if it has any: its declared properties by name, null left out, then
// the others as they came. columns is nil where nothing is declared.
func appendProps(b []byte, columns *property.Columns, label string, value func(column int) property.Value,
	others []byte) []byte {
	before := len(b)
	if columns != nil {
		b = appendDeclared(b, columns, label, value)
	}
	switch open := len(b) > before; {
	case open && len(others) > len("{}"):
		b[len(b)-1] = ','
		return append(b, others[1:]...)
	case !open && len(others) > 0:
		return append(append(b, `,"props":`...), others...)
	}
	return b
}

// appendDeclared appends the props member with the declared properties of a label by name, null left out; nothing if
// all are null.
func appendDeclared(b []byte, columns *property.Columns, label string, value func(column int) property.Value) []byte {
	open := false
	for _, column := range columns.Under(label).All() {
		v := value(column)
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
	if open {
		b = append(b, '}')
	}
	return b
}
