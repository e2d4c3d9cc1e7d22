package codec

import (
	"bytes"
	"fmt"
	"strings"

	"motifd/stream"
)

// layout is a mapping resolved against a header.
type layout struct {
	names   []string // of the columns; nil when unknown
	columns [mapCount]fieldSource
	props   []fieldSource
	err     *stream.DecodeError // why records with this header cannot be decoded
}

// fieldSource tells where a field is read: the index of a column, or -1 for a constant (which is "" for an unmapped
// field).
type fieldSource struct {
	index    int
	constant string
}

// has tells whether a field is mapped, to a column or a constant.
func (l *layout) has(m *Mapping, f int) bool { return m.columns[f].kind != columnNone }

// ByNumber tells that no column is named.
func (m *Mapping) ByNumber() bool {
	for _, c := range m.columns {
		if c.kind == columnName {
			return false
		}
	}
	for _, c := range m.props {
		if c.kind == columnName {
			return false
		}
	}
	return true
}

// resolve makes the layout for a header row.
func (d *csvDecoder) resolve(header []byte) *layout {
	row := bytes.TrimPrefix(header, []byte("\uFEFF")) // spreadsheets write a byte order mark
	names, err := d.newReader(bytes.NewReader(row)).Read()
	if err != nil {
		return &layout{err: refuse(ReasonHeader, "the header row %s cannot be read: %v", show(header), err)}
	}
	return d.m.layout(append([]string(nil), names...))
}

// layout resolves the mapping against column names; nil names stand for a header that is not known.
func (m *Mapping) layout(names []string) *layout {
	l := &layout{names: names}
	find := func(c column) fieldSource {
		switch c.kind {
		case columnNumber:
			if names != nil && c.number >= len(names) && l.err == nil {
				l.err = refuse(ReasonHeader, "the mapping names column #%d, but the header has %d columns", c.number+1,
					len(names))
			}
			return fieldSource{index: c.number}
		case columnName:
			at := -1
			for i, name := range names {
				if name != c.text {
					continue
				}
				if at >= 0 && l.err == nil {
					l.err = refuse(
						ReasonHeader,
						"the header has two columns %q, #%d and #%d; name the one that is meant by its number",
						c.text,
						at+1,
						i+1,
					)
				}
				at = i
			}
			if at < 0 && l.err == nil {
				quoted := "'" + strings.ReplaceAll(c.text, "'", "''") + "'"
				more := "; a constant is written " + quoted
				if n := nearest(c.text, names); n != "" {
					more = fmt.Sprintf("; did you mean %q? A constant is written %s", n, quoted)
				}
				l.err = refuse(
					ReasonHeader,
					"the mapping names a column %q, but the header has %s%s",
					c.text,
					show(strings.Join(names, ",")),
					more,
				)
			}
			return fieldSource{index: at}
		}
		return fieldSource{index: -1, constant: c.text}
	}
	for f, c := range m.columns {
		l.columns[f] = find(c)
	}
	for _, c := range m.props {
		l.props = append(l.props, find(c.column))
	}
	return l
}

// layoutOf returns the layout for a record; headers are told apart by identity, as all records of a file share one.
func (d *csvDecoder) layoutOf(header []byte) (*layout, *stream.DecodeError) {
	l := d.fixed
	if l == nil {
		if len(header) == 0 {
			return nil, refuse(
				ReasonHeader,
				"the record comes without a header row, and the column mapping has names; set the header, or number "+
					"the columns as in from=#1",
			)
		}
		if len(d.header) != len(header) || &d.header[0] != &header[0] {
			d.header, d.layout = header, d.resolve(header)
		}
		l = d.layout
	}
	if l.err != nil {
		err := *l.err // it may be annotated
		return nil, &err
	}
	return l, nil
}
