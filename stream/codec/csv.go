package codec

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"motifd/dyngraph"
	"motifd/stream"
)

// csvDecoder reads rows of comma-separated values, by a column mapping. A record is one row, or several: then they
// are one message.
type csvDecoder struct {
	opt     DecoderOptions
	m       *Mapping
	strings *interner
	in      reloadable
	r       *csv.Reader // over in; made again after an error
	props   []byte      // scratch

	fixed  *layout // of CSVHeader, or of a mapping by numbers
	layout *layout // of header
	header []byte  // the header row that layout was made of
}

// maxColumns bounds the fields of a row: the reader keeps room for as many as it has seen.
const maxColumns = 1 << 14

// layout is a mapping resolved against a header.
type layout struct {
	names   []string // of the columns; nil when unknown
	columns [mapCount]place
	props   []place
	err     *stream.DecodeError // why records with this header cannot be decoded
}

// place is a resolved column: an index, or -1 for the constant (which is "" for a field that is not mapped).
type place struct {
	index    int
	constant string
}

// reloadable is a reader that can be given new bytes after its end.
type reloadable struct{ b []byte }

func (r *reloadable) Read(p []byte) (int, error) {
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.b)
	r.b = r.b[n:]
	return n, nil
}

func newCSVDecoder(opt DecoderOptions) (*csvDecoder, error) {
	if opt.Mapping == nil {
		return nil, errors.New("CSV updates need a column mapping, as in from=source,to=target")
	}
	d := &csvDecoder{opt: opt, m: opt.Mapping, strings: newInterner()}
	d.restart()
	if opt.CSVHeader != "" {
		if d.fixed = d.resolve([]byte(opt.CSVHeader)); d.fixed.err != nil {
			return nil, d.fixed.err
		}
	} else if d.m.byNumber() {
		d.fixed = d.m.layout(nil)
	}
	return d, nil
}

func (d *csvDecoder) newReader(in io.Reader) *csv.Reader {
	r := csv.NewReader(in)
	r.Comma, r.FieldsPerRecord, r.ReuseRecord = d.opt.CSVComma, -1, true
	return r
}

func (d *csvDecoder) restart() {
	d.in.b = nil
	d.r = d.newReader(&d.in)
}

// byNumber tells that no column is named.
func (m *Mapping) byNumber() bool {
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
	find := func(c column) place {
		switch c.kind {
		case columnNumber:
			if names != nil && c.number >= len(names) && l.err == nil {
				l.err = refuse(ReasonHeader, "the mapping names column #%d, but the header has %d columns", c.number+1, len(names))
			}
			return place{index: c.number}
		case columnName:
			at := -1
			for i, name := range names {
				if name != c.text {
					continue
				}
				if at >= 0 && l.err == nil {
					l.err = refuse(ReasonHeader, "the header has two columns %q, #%d and #%d; name the one that is meant by its number", c.text, at+1, i+1)
				}
				at = i
			}
			if at < 0 && l.err == nil {
				more := ""
				if n := nearest(c.text, names); n != "" {
					more = fmt.Sprintf("; did you mean %q?", n)
				}
				l.err = refuse(ReasonHeader, "the mapping names a column %q, but the header has %s%s", c.text, show(strings.Join(names, ",")), more)
			}
			return place{index: at}
		}
		return place{index: -1, constant: c.text}
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
			return nil, refuse(ReasonHeader, "the record comes without a header row, and the column mapping has names; set the header, or number the columns as in from=#1")
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

// Decode implements stream.Decoder.
func (d *csvDecoder) Decode(rec stream.Record, dst []dyngraph.Update) ([]dyngraph.Update, error) {
	if err := checkRecord(&rec, d.opt.MaxBytes); err != nil {
		return dst, err
	}
	l, err := d.layoutOf(rec.Header)
	if err != nil {
		return dst, err
	}
	before := len(dst)
	pos := dyngraph.Position{Partition: rec.Partition, Offset: rec.Offset}
	d.in.b = rec.Value
	for n := 0; ; n++ {
		row, bad := d.r.Read()
		if bad == io.EOF {
			return dst, nil
		}
		if bad != nil {
			err = d.syntax(rec.Value)
		} else if n == d.opt.MaxElements {
			err = refuse(ReasonSize, "the record has more than %d rows (input.limits.max_updates); send several messages", n)
		} else {
			pos.Element = int32(n)
			dst = append(dst, dyngraph.Update{Pos: pos})
			err = d.row(l, row, &dst[len(dst)-1])
		}
		if err != nil {
			d.restart()
			if n > 0 || bytes.IndexByte(bytes.TrimRight(rec.Value, "\r\n"), '\n') >= 0 {
				err = inElement(err, "update", n)
			}
			clear(dst[before:])
			return dst[:before], err
		}
	}
}

// syntax finds the error in a record again, with the line and column as they are in the record alone.
func (d *csvDecoder) syntax(value []byte) *stream.DecodeError {
	r := d.newReader(bytes.NewReader(value))
	for {
		_, err := r.Read()
		var bad *csv.ParseError
		switch {
		case errors.As(err, &bad):
			return refuse(ReasonSyntax, "line %d, byte %d: %v; a field with quotes, commas or line breaks stands in double quotes, "+
				"and a quote inside is doubled", bad.Line, bad.Column, bad.Err)
		case err != nil:
			return refuse(ReasonSyntax, "the row cannot be read: %v", err)
		}
	}
}

// row makes an update of the fields of a row.
func (d *csvDecoder) row(l *layout, row []string, u *dyngraph.Update) *stream.DecodeError {
	if l.names != nil && len(row) != len(l.names) {
		return refuse(ReasonHeader, "the row has %d field(s), but the header has %d: %s", len(row), len(l.names), show(strings.Join(l.names, ",")))
	}
	if len(row) > maxColumns {
		return refuse(ReasonSize, "the row has %d fields; at most %d are allowed", len(row), maxColumns)
	}
	r := rowReader{d: d, l: l, row: row}
	u.Op = dyngraph.InsertEdge
	if l.has(d.m, mapOp) {
		text := r.text(mapOp)
		if u.Op = opOf(text); u.Op == 0 && r.err == nil {
			return refuse(ReasonValue, "%s: the op %s is unknown; it is +, -, +v or -v", r.where(mapOp), show(text))
		}
	}
	if l.has(d.m, mapVertex) && r.text(mapVertex) == d.m.vertexValue {
		switch u.Op {
		case dyngraph.InsertEdge:
			u.Op = dyngraph.InsertVertex
		case dyngraph.DeleteEdge:
			u.Op = dyngraph.DeleteVertex
		}
	}
	if text := r.text(mapTS); text != "" {
		ts, err := strconv.ParseInt(text, 10, 64)
		if err != nil && r.err == nil {
			return refuse(ReasonType, "%s: ts is %s; it must be a whole number of milliseconds within 64 bits", r.where(mapTS), show(text))
		}
		u.Attr.TS, u.Attr.HasTS = ts, true
	}
	if u.Op == dyngraph.InsertVertex || u.Op == dyngraph.DeleteVertex {
		r.vertex(u)
	} else {
		r.edge(u)
	}
	return r.err
}

// has tells whether a field is mapped, to a column or a constant.
func (l *layout) has(m *Mapping, f int) bool { return m.columns[f].kind != columnNone }

// rowReader reads mapped fields of a row and keeps the first error.
type rowReader struct {
	d   *csvDecoder
	l   *layout
	row []string
	err *stream.DecodeError
}

func (r *rowReader) at(p place) string {
	if p.index < 0 {
		return p.constant
	}
	if p.index >= len(r.row) {
		if r.err == nil {
			r.err = refuse(ReasonHeader, "the row has %d field(s), but the mapping names column #%d", len(r.row), p.index+1)
		}
		return ""
	}
	return r.row[p.index]
}

func (r *rowReader) text(f int) string { return r.at(r.l.columns[f]) }

// where names the column of a field.
func (r *rowReader) where(f int) string {
	p := r.l.columns[f]
	switch {
	case p.index < 0:
		return fmt.Sprintf("constant '%s'", p.constant)
	case r.l.names != nil:
		return fmt.Sprintf("column %q (#%d)", r.l.names[p.index], p.index+1)
	}
	return fmt.Sprintf("column #%d", p.index+1)
}

func (r *rowReader) key(f int) string {
	if !r.l.has(r.d.m, f) {
		if r.err == nil {
			r.err = refuse(ReasonField, "the row is an operation that needs %s, which the mapping does not set; set %s=COLUMN", mapNames[f], mapNames[f])
		}
		return ""
	}
	text := r.text(f)
	switch {
	case r.err != nil:
	case text == "":
		r.err = refuse(ReasonValue, "%s: %s is empty; a vertex key has 1 to %d bytes", r.where(f), mapNames[f], r.d.opt.MaxKeyLen)
	case len(text) > r.d.opt.MaxKeyLen:
		r.err = r.in(f, tooLong(mapNames[f], text, r.d.opt.MaxKeyLen))
	}
	if r.err != nil {
		return ""
	}
	return r.d.strings.getString(text)
}

func (r *rowReader) label(f int) string {
	text := r.text(f)
	if len(text) > r.d.opt.MaxLabelLen {
		if r.err == nil {
			r.err = r.in(f, tooLong(mapNames[f], text, r.d.opt.MaxLabelLen))
		}
		return ""
	}
	return r.d.strings.getString(text)
}

func (r *rowReader) in(f int, err *stream.DecodeError) *stream.DecodeError {
	err.Msg = r.where(f) + ": " + err.Msg
	return err
}

func (r *rowReader) vertex(u *dyngraph.Update) {
	key, label := mapKey, mapKeyLabel
	if !r.l.has(r.d.m, mapKey) {
		key = mapFrom
		// The other end of an edge would be lost silently: the row is more likely an edge with a wrong op.
		if p := r.l.columns[mapTo]; p.index >= 0 && r.text(mapTo) != "" && r.err == nil {
			r.err = refuse(ReasonField, "%s: the row is an operation on the vertex %s, but names another one, %s; leave to empty, or set key=COLUMN",
				r.where(mapTo), show(r.text(mapFrom)), show(r.text(mapTo)))
		}
	}
	if !r.l.has(r.d.m, mapKeyLabel) {
		label = mapFromLabel
	}
	u.Key = r.key(key)
	u.Label = r.label(label)
}

func (r *rowReader) edge(u *dyngraph.Update) {
	u.From, u.To = r.key(mapFrom), r.key(mapTo)
	u.Label, u.FromLabel, u.ToLabel = r.label(mapLabel), r.label(mapFromLabel), r.label(mapToLabel)
	id := r.text(mapID)
	if len(id) > r.d.opt.MaxIDLen && r.err == nil {
		r.err = r.in(mapID, tooLong("id", id, r.d.opt.MaxIDLen))
	}
	u.Attr.ID = strings.Clone(id)
	if u.Op == dyngraph.InsertEdge && len(r.l.props) > 0 {
		u.Attr.Props = r.properties()
	}
}

// properties makes a JSON object of the mapped columns, in the order of the mapping; the values are strings.
func (r *rowReader) properties() []byte {
	out := append(r.d.props[:0], '{')
	for i, p := range r.l.props {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendString(out, r.d.m.props[i].name)
		out = append(out, ':')
		out = appendString(out, r.at(p))
	}
	out = append(out, '}')
	r.d.props = out
	if limit := r.d.opt.MaxPropsBytes; len(out) > limit && r.err == nil {
		r.err = refuse(ReasonSize, "the properties have %d bytes as JSON; at most %d are allowed (input.limits.max_props_bytes)", len(out), limit)
	}
	return bytes.Clone(out)
}
