package codec

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"

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
	values  *declaredReader

	fixed  *layout // of CSVHeader, or of a mapping by numbers
	layout *layout // of header
	header []byte  // the header row that layout was made of
}

// maxColumns bounds the fields of a row: the reader keeps room for as many as it has seen.
const maxColumns = 1 << 14

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
	d := &csvDecoder{opt: opt, m: opt.Mapping, strings: newInterner(), values: newDeclaredReader(opt.Schema)}
	d.restart()
	if opt.CSVHeader != "" {
		if d.fixed = d.resolve([]byte(opt.CSVHeader)); d.fixed.err != nil {
			return nil, d.fixed.err
		}
	} else if d.m.ByNumber() {
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
			err = refuse(ReasonSize, "the record has more than %d rows (input.limits.max_updates); send several "+
				"messages", n)
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
			return refuse(
				ReasonSyntax,
				"line %d, byte %d: %v; a field with quotes, commas or line breaks stands in double quotes, "+
					"and a quote inside is doubled",
				bad.Line,
				bad.Column,
				bad.Err,
			)
		case err != nil:
			return refuse(ReasonSyntax, "the row cannot be read: %v", err)
		}
	}
}
