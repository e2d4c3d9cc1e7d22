package property

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Members calls f for each member of a JSON object: its name, its text and that of its value. Names that are escaped
// are given as they read.
func Members(object []byte, f func(name string, member, value []byte)) error {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("is no JSON object")
	}
	for d.More() {
		start := d.InputOffset()
		for object[start] != '"' { // a comma, or white space
			start++
		}
		name, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		f(name.(string), object[start:d.InputOffset()], value)
	}
	_, err := d.Token()
	return err
}

// AppendMember appends a member with a value to a JSON object; nil is an object without members.
func AppendMember(object []byte, name string, v Value) []byte {
	text := v.Append(nil)
	if v.Type().Kind == String {
		text = quote(v.Str())
	}
	return appendText(object, append(append(quote(name), ':'), text...))
}

// appendText appends the text of a member to a JSON object; nil is an object without members.
func appendText(object, member []byte) []byte {
	if len(object) <= len("{}") {
		object = append(object[:0], '{')
	} else {
		object = append(object[:len(object)-1], ',')
	}
	return append(append(object, member...), '}')
}

// quote returns a JSON string.
func quote(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // of a string, into memory: it cannot fail
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// TakeDeclared moves members of a JSON object to values by column: those whose names a label declares, if the value is
// exactly of the type. It returns the object of the others, nil for none, and the values without nulls at the end;
// moved is false if nothing is moved, and then both are as given. It does not write to what it is given.
func (c *Columns) TakeDeclared(label string, object []byte, values []Value) (rest []byte, now []Value, moved bool) {
	under := c.Under(label)
	if len(object) == 0 || len(under.all) == 0 {
		return object, values, false
	}
	now = make([]Value, len(c.all))
	copy(now, values)
	err := Members(object, func(name string, member, value []byte) {
		column, ok := c.Of(label, name)
		if ok && column != TS {
			if v, err := FromJSON(c.all[column].Type, value); err == nil {
				now[column], moved = v, true
				return
			}
		}
		rest = appendText(rest, member)
	})
	if err != nil || !moved {
		return object, values, false
	}
	return rest, WithoutNulls(now), true
}
