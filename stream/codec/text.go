package codec

import (
	"bytes"

	"motifd/dyngraph"
	"motifd/stream"
)

// textDecoder reads the papers' text: lines "v id [label [degree]]", "e u v [label]", "-v id", "-e u v [label]", a
// header "t N M" and comments. A record is one line, or several: then they are one message.
type textDecoder struct {
	opt     DecoderOptions
	strings *interner
	fields  []textField
}

type textField struct {
	text []byte
	at   int
}

func newTextDecoder(opt DecoderOptions) *textDecoder {
	return &textDecoder{opt: opt, strings: newInterner()}
}

// Decode implements stream.Decoder.
func (d *textDecoder) Decode(rec stream.Record, dst []dyngraph.Update) ([]dyngraph.Update, error) {
	if err := checkRecord(&rec, d.opt.MaxBytes); err != nil {
		return dst, err
	}
	before := len(dst)
	pos := dyngraph.Position{Partition: rec.Partition, Offset: rec.Offset}
	for at := 0; at < len(rec.Value); {
		end := len(rec.Value)
		if n := bytes.IndexByte(rec.Value[at:], '\n'); n >= 0 {
			end = at + n
		}
		d.split(rec.Value[at:end], at)
		if len(d.fields) > 0 {
			u, err := d.line()
			if err == nil && u.Op != 0 && len(dst)-before == d.opt.MaxElements {
				err = refuse(
					ReasonSize,
					"the record has more than %d updates (input.limits.max_updates); send several messages",
					d.opt.MaxElements,
				)
			}
			if err != nil {
				if n := len(dst) - before; n > 0 || end < len(rec.Value)-1 {
					err = inElement(err, "update", n)
				}
				clear(dst[before:])
				return dst[:before], err
			}
			if u.Op != 0 {
				pos.Element = int32(len(dst) - before)
				u.Pos = pos
				dst = append(dst, u)
			}
		}
		at = end + 1
	}
	return dst, nil
}

// split cuts a line into its fields; at is the line's offset in the record.
func (d *textDecoder) split(line []byte, at int) {
	d.fields = d.fields[:0]
	for i := 0; i < len(line); {
		if isBlank(line[i]) {
			i++
			continue
		}
		start := i
		for i < len(line) && !isBlank(line[i]) {
			i++
		}
		d.fields = append(d.fields, textField{line[start:i], at + start})
		if len(d.fields) == 1 && (line[start] == '#' || line[start] == '%') {
			return
		}
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// line makes an update of a line's fields, or none (Op 0) of a header or comment.
func (d *textDecoder) line() (u dyngraph.Update, err *stream.DecodeError) {
	f := d.fields
	switch string(f[0].text) {
	case "e":
		return d.edge(dyngraph.InsertEdge, "e u v [label]")
	case "-e":
		return d.edge(dyngraph.DeleteEdge, "-e u v [label]")
	case "v":
		return d.vertex()
	case "-v":
		if err := d.count(2, 2, "-v id"); err != nil {
			return u, err
		}
		u.Op = dyngraph.DeleteVertex
		u.Key, err = d.key(1)
		return u, err
	case "t":
		if err := d.count(3, 3, "t vertices edges"); err != nil {
			return u, err
		}
		for _, n := range f[1:] {
			if !decimal(n.text) {
				return u, refuse(ReasonValue, "byte %d: found %s where a number was expected", n.at, show(n.text))
			}
		}
		return u, nil
	}
	if c := f[0].text[0]; c == '#' || c == '%' {
		return u, nil
	}
	return u, refuse(ReasonSyntax, "byte %d: found %s; a line begins with e, -e, v, -v, t or #", f[0].at,
		show(f[0].text))
}

func (d *textDecoder) count(least, most int, form string) *stream.DecodeError {
	if n := len(d.fields); n < least || n > most {
		return refuse(ReasonSyntax, "byte %d: the line has %d field(s); its form is %q", d.fields[0].at, n, form)
	}
	return nil
}

func (d *textDecoder) edge(op dyngraph.Op, form string) (u dyngraph.Update, err *stream.DecodeError) {
	if err = d.count(3, 4, form); err != nil {
		return u, err
	}
	u.Op = op
	if u.From, err = d.key(1); err != nil {
		return u, err
	}
	if u.To, err = d.key(2); err != nil {
		return u, err
	}
	if len(d.fields) > 3 {
		u.Label, err = d.label(3)
	}
	return u, err
}

func (d *textDecoder) vertex() (u dyngraph.Update, err *stream.DecodeError) {
	if err = d.count(2, 4, "v id [label [degree]]"); err != nil {
		return u, err
	}
	u.Op = dyngraph.InsertVertex
	if u.Key, err = d.key(1); err != nil {
		return u, err
	}
	if len(d.fields) > 2 {
		if u.Label, err = d.labels(2); err != nil {
			return u, err
		}
	}
	if len(d.fields) > 3 && !decimal(d.fields[3].text) {
		return u, refuse(
			ReasonValue,
			"byte %d: found %s where the degree, a number, was expected",
			d.fields[3].at,
			show(d.fields[3].text),
		)
	}
	return u, nil
}

func (d *textDecoder) key(i int) (string, *stream.DecodeError) {
	return d.number(i, "vertex id", d.opt.MaxKeyLen)
}

func (d *textDecoder) label(i int) (string, *stream.DecodeError) {
	return d.number(i, "label", d.opt.MaxLabelLen)
}

// labels returns the label of a vertex, or its labels where it may have several: with ; between them.
func (d *textDecoder) labels(i int) (string, *stream.DecodeError) {
	if !d.opt.Schema.Several() {
		return d.label(i)
	}
	f := d.fields[i]
	for label := range bytes.SplitSeq(f.text, []byte(";")) {
		if err := checkNames(string(label)); err != nil {
			return "", atByte(f.at, err)
		}
		if err := d.canonical(label, f.at, "label", d.opt.MaxLabelLen); err != nil {
			return "", err
		}
	}
	text, err := splitLabels(&d.opt, "the vertex", string(f.text))
	if err != nil {
		return "", atByte(f.at, err)
	}
	return d.strings.getString(text), nil
}

// number returns an id or label as it is written. Two spellings of one number would be two keys, so only the
// canonical one is taken.
func (d *textDecoder) number(i int, what string, limit int) (string, *stream.DecodeError) {
	f := d.fields[i]
	if err := d.canonical(f.text, f.at, what, limit); err != nil {
		return "", err
	}
	return d.strings.get(f.text), nil
}

// canonical refuses what is no number as it is written.
func (d *textDecoder) canonical(text []byte, at int, what string, limit int) *stream.DecodeError {
	switch {
	case !decimal(text):
		return refuse(
			ReasonValue,
			"byte %d: found %s where a %s was expected, which is a number from 0",
			at,
			show(text),
			what,
		)
	case text[0] == '0' && len(text) > 1:
		return refuse(ReasonValue, "byte %d: the %s %s has a leading zero; write it without", at, what, show(text))
	case len(text) > limit:
		return atByte(at, tooLong("the "+what, text, limit))
	}
	return nil
}

// decimal tells whether b is one or more digits.
func decimal(b []byte) bool {
	for _, c := range b {
		if c-'0' > 9 {
			return false
		}
	}
	return len(b) > 0
}
