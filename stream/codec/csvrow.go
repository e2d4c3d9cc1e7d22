package codec

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"motifd/dyngraph"
	"motifd/stream"
)

// row makes an update of the fields of a row.
func (d *csvDecoder) row(l *layout, row []string, u *dyngraph.Update) *stream.DecodeError {
	if l.names != nil && len(row) != len(l.names) {
		return refuse(
			ReasonHeader,
			"the row has %d field(s), but the header has %d: %s",
			len(row),
			len(l.names),
			show(strings.Join(l.names, ",")),
		)
	}
	if len(row) > maxColumns {
		return refuse(ReasonSize, "the row has %d fields; at most %d are allowed", len(row), maxColumns)
	}
	r := rowReader{d: d, l: l, row: row}
	u.Op = dyngraph.InsertEdge
	if l.has(d.m, mapOp) {
		text := r.text(mapOp)
		if u.Op = opOf(text); u.Op == 0 && r.err == nil {
			return refuse(ReasonValue, "%s: the op %s is unknown; it is +, -, +v, -v or =v", r.where(mapOp), show(text))
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
			return refuse(
				ReasonType,
				"%s: ts is %s; it must be a whole number of milliseconds within 64 bits",
				r.where(mapTS),
				show(text),
			)
		}
		u.Attr.TS, u.Attr.HasTS = ts, true
	}
	if u.Op.OfVertex() {
		r.vertex(u)
	} else {
		r.edge(u)
	}
	return r.err
}

// rowReader reads mapped fields of a row and keeps the first error.
type rowReader struct {
	d   *csvDecoder
	l   *layout
	row []string
	err *stream.DecodeError
}

func (r *rowReader) at(p fieldSource) string {
	if p.index < 0 {
		return p.constant
	}
	if p.index >= len(r.row) {
		if r.err == nil {
			r.err = refuse(ReasonHeader, "the row has %d field(s), but the mapping names column #%d", len(r.row),
				p.index+1)
		}
		return ""
	}
	return r.row[p.index]
}

func (r *rowReader) text(f int) string { return r.at(r.l.columns[f]) }

// where names the column of a field.
func (r *rowReader) where(f int) string {
	return r.l.where(r.l.columns[f])
}

func (l *layout) where(p fieldSource) string {
	switch {
	case p.index < 0:
		return fmt.Sprintf("constant '%s'", p.constant)
	case l.names != nil:
		return fmt.Sprintf("column %q (#%d)", l.names[p.index], p.index+1)
	}
	return fmt.Sprintf("column #%d", p.index+1)
}

func (r *rowReader) key(f int) string {
	if !r.l.has(r.d.m, f) {
		if r.err == nil {
			r.err = refuse(
				ReasonField,
				"the row is an operation that needs %s, which the mapping does not set; set %s=COLUMN",
				mapNames[f],
				mapNames[f],
			)
		}
		return ""
	}
	text := r.text(f)
	switch {
	case r.err != nil:
	case text == "":
		r.err = refuse(
			ReasonValue,
			"%s: %s is empty; a vertex key has 1 to %d bytes",
			r.where(f),
			mapNames[f],
			r.d.opt.MaxKeyLen,
		)
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

// labels returns the label of a vertex, or its labels where it may have several.
func (r *rowReader) labels(op dyngraph.Op, f int) string {
	if !r.d.opt.Schema.Several() {
		return r.label(f)
	}
	text, err := splitLabels(&r.d.opt, mapNames[f], r.text(f))
	switch {
	case err != nil:
	case op == dyngraph.ReviseVertex:
		err = checkChange(text)
	default:
		err = checkNames(text)
	}
	if err != nil && r.err == nil {
		r.err = r.in(f, err)
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
			r.err = refuse(
				ReasonField,
				"%s: the row is an operation on the vertex %s, but names another one, %s; leave to empty, or set "+
					"key=COLUMN",
				r.where(mapTo),
				show(r.text(mapFrom)),
				show(r.text(mapTo)),
			)
		}
	}
	if !r.l.has(r.d.m, mapKeyLabel) {
		label = mapFromLabel
	}
	u.Key = r.key(key)
	u.Label = r.labels(u.Op, label)
	switch {
	case r.d.opt.KeepProps:
		r.properties(u)
	case r.d.values.ofVertices():
		r.vertexProperties(u)
	case u.Op == dyngraph.ReviseVertex && r.err == nil && !r.d.opt.Schema.Several():
		r.err = refuse(ReasonField, "op =v sets declared properties of a vertex, and graph.properties.vertices "+
			"declares none")
	}
}

// vertexProperties reads the mapped columns that are declared for vertices.
func (r *rowReader) vertexProperties(u *dyngraph.Update) {
	for i, p := range r.l.props {
		if err := r.d.values.vertexFromText(u, r.d.m.props[i].name, r.at(p)); err != nil && r.err == nil {
			err.Msg = r.l.where(p) + ": " + err.Msg
			r.err = err
		}
	}
	r.d.values.takeVertex(u)
}

func (r *rowReader) edge(u *dyngraph.Update) {
	u.From, u.To = r.key(mapFrom), r.key(mapTo)
	u.Label, u.FromLabel, u.ToLabel = r.label(mapLabel), r.labels(u.Op, mapFromLabel), r.labels(u.Op, mapToLabel)
	id := r.text(mapID)
	if len(id) > r.d.opt.MaxIDLen && r.err == nil {
		r.err = r.in(mapID, tooLong("id", id, r.d.opt.MaxIDLen))
	}
	u.Attr.ID = strings.Clone(id)
	if u.Op == dyngraph.InsertEdge && len(r.l.props) > 0 {
		r.properties(u)
	}
}

// properties reads the mapped columns: the declared ones as values, the others as a JSON object of strings, in the
// order of the mapping.
func (r *rowReader) properties(u *dyngraph.Update) {
	out := append(r.d.props[:0], '{')
	for i, p := range r.l.props {
		name, text := r.d.m.props[i].name, r.at(p)
		declared, err := r.d.values.fromText(u.Label, name, text)
		if err != nil && r.err == nil {
			err.Msg = r.l.where(p) + ": " + err.Msg
			r.err = err
		}
		if declared {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = appendString(out, name)
		out = append(out, ':')
		out = appendString(out, text)
	}
	if r.d.values != nil {
		if u.Attr.Values = r.d.values.take(); len(out) == 1 {
			return // all are declared
		}
	}
	out = append(out, '}')
	r.d.props = out
	if limit := r.d.opt.MaxPropsBytes; len(out) > limit && r.err == nil {
		r.err = refuse(
			ReasonSize,
			"the properties have %d bytes as JSON; at most %d are allowed (input.limits.max_props_bytes)",
			len(out),
			limit,
		)
	}
	u.Attr.Props = bytes.Clone(out)
}
