package codec

import (
	"bytes"
	"strconv"

	"motifd/dyngraph"
	"motifd/stream"
)

// jsonDecoder reads one update object or an array of them.
type jsonDecoder struct {
	opt     DecoderOptions
	s       scanner
	strings *interner
	props   []byte          // scratch
	values  *declaredReader // nil: no property is declared
	several bool            // a vertex may have several labels

	labelText []byte // scratch
}

func newJSONDecoder(opt DecoderOptions) *jsonDecoder {
	return &jsonDecoder{opt: opt, s: scanner{maxDepth: opt.MaxDepth}, strings: newInterner(),
		values: newDeclaredReader(opt.Schema), several: opt.Schema.Several()}
}

// Decode implements stream.Decoder.
func (d *jsonDecoder) Decode(rec stream.Record, dst []dyngraph.Update) ([]dyngraph.Update, error) {
	if err := checkRecord(&rec, d.opt.MaxBytes); err != nil {
		return dst, err
	}
	before := len(dst)
	dst, err := d.message(&rec, dst)
	if err != nil {
		clear(dst[before:])
		return dst[:before], err
	}
	return dst, nil
}

func (d *jsonDecoder) message(rec *stream.Record, dst []dyngraph.Update) ([]dyngraph.Update, *stream.DecodeError) {
	s := &d.s
	s.reset(rec.Value)
	pos := dyngraph.Position{Partition: rec.Partition, Offset: rec.Offset}
	switch s.peek() {
	case '{':
		dst = append(dst, dyngraph.Update{Pos: pos})
		if err := d.update(&dst[len(dst)-1]); err != nil {
			return dst, err
		}
	case '[':
		s.i++
		for n := 0; ; n++ {
			more, err := s.next(n == 0)
			if err != nil {
				return dst, err
			}
			if !more {
				break
			}
			if n == d.opt.MaxElements {
				return dst, refuse(
					ReasonSize,
					"the array has more than %d elements (input.limits.max_updates); send several messages",
					n,
				)
			}
			pos.Element = int32(n)
			dst = append(dst, dyngraph.Update{Pos: pos})
			if s.peek() != '{' {
				return dst, inElement(s.unexpected("an update object"), "element", n)
			}
			if err := d.update(&dst[len(dst)-1]); err != nil {
				return dst, inElement(err, "element", n)
			}
		}
	case 0:
		if s.i == len(s.b) {
			return dst, nil // blank
		}
		fallthrough
	default:
		return dst, s.unexpected("an update object or an array of them")
	}
	switch c := s.peek(); {
	case s.i == len(s.b):
		return dst, nil
	case c == '{', c == '[', c == ',':
		return dst, refuse(
			ReasonSyntax,
			"byte %d: more data follows the first value; put several updates into one array",
			s.i,
		)
	}
	return dst, s.unexpected("the end of the record")
}

// update reads the object at the scanner's place.
func (d *jsonDecoder) update(u *dyngraph.Update) *stream.DecodeError {
	s := &d.s
	start := s.i
	s.i++
	var (
		seen    fieldSet
		at      [fieldCount]int
		unknown nameSet
	)
	for first := true; ; first = false {
		name, where, more, err := s.member(first)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		f := d.fieldOf(name)
		if f == fieldUnknown {
			if !d.opt.AllowUnknownFields {
				return d.unknownField(name, where)
			}
			if err := s.declare(0, &unknown, name, where); err != nil {
				return err
			}
			if d.props, err = s.value(d.props[:0], 1); err != nil {
				return err
			}
			continue
		}
		if seen&(1<<f) != 0 {
			return refuse(ReasonDuplicate, "byte %d: the field %q occurs twice", where, fieldNames[f])
		}
		seen |= 1 << f
		at[f] = where
		if err := d.field(u, f); err != nil {
			return err
		}
	}
	s.names = s.names[:0]
	return d.belongs(u, seen, &at, start)
}

// field reads the value of a field.
func (d *jsonDecoder) field(u *dyngraph.Update, f int) *stream.DecodeError {
	s := &d.s
	c := s.peek()
	at := s.i
	if f == fieldTS {
		return d.timestamp(u, c, at)
	}
	if f == fieldProps {
		if c != '{' {
			return s.wrongType(f, "an object")
		}
		var err *stream.DecodeError
		if d.props, err = s.value(d.props[:0], 1); err != nil {
			return err
		}
		if len(d.props) > d.opt.MaxPropsBytes {
			return refuse(
				ReasonSize,
				"byte %d: props has %d bytes; at most %d are allowed (input.limits.max_props_bytes)",
				at,
				len(d.props),
				d.opt.MaxPropsBytes,
			)
		}
		u.Attr.Props = bytes.Clone(d.props)
		return nil
	}
	var err *stream.DecodeError
	switch f {
	case fieldLabels:
		u.Label, err = d.labelList(f)
		return err
	case fieldFromLabels:
		u.FromLabel, err = d.labelList(f)
		return err
	case fieldToLabels:
		u.ToLabel, err = d.labelList(f)
		return err
	}
	if c != '"' {
		return s.wrongType(f, "a string")
	}
	text, err := s.string()
	if err != nil {
		return err
	}
	switch f {
	case fieldOp:
		if u.Op = opOf(text); u.Op == 0 {
			return refuse(ReasonValue, `byte %d: the op %s is unknown; it is "+", "-", "+v", "-v" or "=v"`, at,
				show(text))
		}
	case fieldFrom:
		u.From, err = d.key(f, text, at)
	case fieldTo:
		u.To, err = d.key(f, text, at)
	case fieldKey:
		u.Key, err = d.key(f, text, at)
	case fieldLabel:
		u.Label, err = d.label(f, text, at)
	case fieldFromLabel:
		u.FromLabel, err = d.end(f, text, at)
	case fieldToLabel:
		u.ToLabel, err = d.end(f, text, at)
	case fieldID:
		if len(text) > d.opt.MaxIDLen {
			return atByte(at, tooLong(fieldNames[f], text, d.opt.MaxIDLen))
		}
		if len(text) == 0 && d.opt.EdgeIDs {
			return refuse(ReasonValue, "byte %d: id is empty; an edge without id has no field id", at)
		}
		u.Attr.ID = string(text)
	}
	return err
}

func opOf[T string | []byte](text T) dyngraph.Op {
	switch string(text) {
	case "+":
		return dyngraph.InsertEdge
	case "-":
		return dyngraph.DeleteEdge
	case "+v":
		return dyngraph.InsertVertex
	case "-v":
		return dyngraph.DeleteVertex
	case "=v":
		return dyngraph.ReviseVertex
	}
	return 0
}

func (d *jsonDecoder) key(f int, text []byte, at int) (string, *stream.DecodeError) {
	if len(text) == 0 {
		return "", refuse(
			ReasonValue,
			"byte %d: %q is empty; a vertex key has 1 to %d bytes",
			at,
			fieldNames[f],
			d.opt.MaxKeyLen,
		)
	}
	if len(text) > d.opt.MaxKeyLen {
		return "", atByte(at, tooLong(fieldNames[f], text, d.opt.MaxKeyLen))
	}
	return d.strings.get(text), nil
}

func (d *jsonDecoder) label(f int, text []byte, at int) (string, *stream.DecodeError) {
	if len(text) > d.opt.MaxLabelLen {
		return "", atByte(at, tooLong(fieldNames[f], text, d.opt.MaxLabelLen))
	}
	return d.strings.get(text), nil
}

// end is label for the label of an edge's end.
func (d *jsonDecoder) end(f int, text []byte, at int) (string, *stream.DecodeError) {
	if d.several {
		return d.oneOfSeveral(f, text, at)
	}
	return d.label(f, text, at)
}

func (d *jsonDecoder) timestamp(u *dyngraph.Update, c byte, at int) *stream.DecodeError {
	if c != '-' && c-'0' > 9 {
		return d.s.wrongType(fieldTS, "a whole number of milliseconds")
	}
	text, whole, err := d.s.number()
	if err != nil {
		return err
	}
	if !whole {
		return refuse(
			ReasonType,
			`byte %d: "ts" is %s; it must be a whole number of milliseconds, without fraction or exponent`,
			at,
			show(text),
		)
	}
	ts, bad := strconv.ParseInt(string(text), 10, 64)
	if bad != nil {
		return refuse(
			ReasonValue,
			`byte %d: "ts" is %s, which is beyond 64 bits; it is milliseconds since 1970`,
			at,
			show(text),
		)
	}
	u.Attr.TS, u.Attr.HasTS = ts, true
	return nil
}

// wrongType is the error of a value of the wrong type at the scanner's place, or the syntax error that is there.
func (s *scanner) wrongType(f int, want string) *stream.DecodeError {
	at := s.i
	var is, more string
	switch c := s.peek(); {
	case c == '"':
		is = "a string"
		if f == fieldTS {
			more = "; write milliseconds since 1970, without quotes"
		}
	case c == '{':
		is = "an object"
	case c == '[':
		is = "an array"
	case c == '-' || c-'0' <= 9:
		text, _, err := s.number()
		if err != nil {
			return err
		}
		is = "a number"
		if want == "a string" {
			more = `; write "` + string(text[:min(len(text), 64)]) + `"`
		}
	default:
		text, err := s.literal()
		if err != nil {
			return err
		}
		is = string(text)
		if is == "null" {
			more = "; leave a field out when it has no value"
		}
	}
	return refuse(ReasonType, "byte %d: %q must be %s, not %s%s", at, fieldNames[f], want, is, more)
}

func atByte(at int, err *stream.DecodeError) *stream.DecodeError {
	err.Msg = "byte " + strconv.Itoa(at) + ": " + err.Msg
	return err
}
