package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"motifd/stream"
)

// frame is one record of a file.
type frame struct {
	value     []byte // without the line's end; owned by the taker
	off, next int64
	err       error // a *stream.RecordError; value is then what was kept
}

// framer cuts bytes into records: lines, or CSV rows, in which a quoted field may span lines. A record longer than
// limit becomes a frame with an error, and framing goes on after its line.
//
// A quote that is never closed would swallow what follows. When a row that spans lines reaches the limit or the end
// of the file, only its first line is given up, and framing begins again at the second: nothing else is lost.
type framer struct {
	r     io.Reader
	csv   bool
	comma byte
	limit int
	block int // bytes to read at once

	buf     []byte // buf[:pos] was handed out, buf[pos:] is still to be framed
	pos     int
	off     int64 // offset of buf[pos]
	scanned int   // bytes from pos on that hold no end of a record
	state   csvState
	err     error // of r, once everything before it was read

	skipping bool  // inside a line that is too long
	skipped  frame // the part of it that was kept
}

// csvState is the state of the scan within a CSV row.
type csvState uint8

const (
	atFieldStart csvState = iota
	inField
	inQuotes
	afterQuote // a quote inside a quoted field: its end, or the first of a pair
)

var bom = []byte("\xef\xbb\xbf")

// next returns the next record, reading as needed. The error is r's, io.EOF for the end; a last line without a line end
// is a record. After an error other than io.EOF, rest holds the bytes that were read and not framed.
func (f *framer) next() (frame, error) {
	for {
		if fr, ok := f.buffered(); ok {
			return fr, nil
		}
		if f.err != nil {
			return f.last()
		}
		f.fill()
	}
}

// buffered returns the next record if it is completely in the buffer.
func (f *framer) buffered() (frame, bool) {
	for {
		b := f.buf[f.pos:]
		if f.off == 0 && f.scanned == 0 {
			if bytes.HasPrefix(b, bom) {
				f.advance(len(bom))
				continue
			}
			if f.err == nil && bytes.HasPrefix(bom, b) {
				return frame{}, false
			}
		}
		if f.skipping {
			return f.skipLine(b)
		}
		n := f.end(b)
		if n >= 0 && n-1 <= f.limit+1 {
			v := trimLineEnd(b[:n])
			if len(v) <= f.limit {
				fr := frame{value: v[:len(v):len(v)], off: f.off, next: f.off + int64(n)}
				f.advance(n)
				return fr, true
			}
		}
		if n < 0 && len(b) <= f.limit+2 {
			return frame{}, false
		}
		if fr, ok := f.giveUpLine(b); ok {
			return fr, true
		}
	}
}

// giveUpLine ends a record that is too long. If it spans lines, its first one is returned as unreadable; otherwise
// the framer skips to the line's end.
func (f *framer) giveUpLine(b []byte) (frame, bool) {
	if i := bytes.IndexByte(b, '\n'); i >= 0 && len(trimLineEnd(b[:i+1])) <= f.limit {
		fr := f.unclosed(
			b[:i+1],
			fmt.Sprintf("a quoted field is not closed within %d bytes (input.limits.max_message_bytes)", f.limit),
		)
		f.advance(i + 1)
		return fr, true
	}
	f.skipping = true
	f.skipped = frame{off: f.off, value: append([]byte(nil), b[:f.limit]...)}
	f.scanned = 0
	return frame{}, false
}

// unclosed is the frame of a line that begins a quoted field which never ends.
func (f *framer) unclosed(line []byte, msg string) frame {
	v := trimLineEnd(line)
	kept := min(len(v), f.limit)
	return frame{
		value: v[:kept:kept], off: f.off, next: f.off + int64(len(line)),
		err: &stream.RecordError{Reason: stream.ReasonFraming, Size: int64(len(v)), Msg: msg},
	}
}

// skipLine drops bytes up to the line's end.
func (f *framer) skipLine(b []byte) (frame, bool) {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		f.advance(len(b))
		return frame{}, false
	}
	f.advance(i + 1)
	return f.endSkip(1), true
}

func (f *framer) endSkip(lineEnd int64) frame {
	fr := f.skipped
	fr.next = f.off
	size := fr.next - fr.off - lineEnd
	fr.err = &stream.RecordError{
		Reason: stream.ReasonSize, Size: size,
		Msg: fmt.Sprintf("the record has %d bytes; at most %d are allowed (input.limits.max_message_bytes)", size,
			f.limit),
	}
	f.skipping, f.skipped = false, frame{}
	return fr
}

// last frames what is left before the end.
func (f *framer) last() (frame, error) {
	b := f.buf[f.pos:]
	if !errors.Is(f.err, io.EOF) {
		return frame{}, f.err
	}
	switch {
	case f.skipping:
		return f.endSkip(0), nil
	case len(b) == 0:
		return frame{}, io.EOF
	case f.csv && f.state == inQuotes:
		i := bytes.IndexByte(b, '\n') + 1
		if i == 0 {
			i = len(b)
		}
		fr := f.unclosed(b[:i], "a quoted field is not closed at the end of the file")
		f.advance(i)
		return fr, nil
	}
	v := trimLineEnd(b)
	v = v[:len(v):len(v)]
	fr := frame{value: v, off: f.off, next: f.off + int64(len(b))}
	if len(v) > f.limit {
		fr.value = v[:f.limit:f.limit]
		fr.err = &stream.RecordError{
			Reason: stream.ReasonSize,
			Size:   int64(len(v)),
			Msg: fmt.Sprintf(
				"the record has %d bytes; at most %d are allowed (input.limits.max_message_bytes)",
				len(v),
				f.limit,
			),
		}
	}
	f.advance(len(b))
	return fr, nil
}

// unframed returns the offset of the first byte that belongs to no complete record.
func (f *framer) unframed() int64 {
	if f.skipping {
		return f.skipped.off
	}
	return f.off
}

// rest returns what was read and not framed.
func (f *framer) rest() []byte {
	if f.skipping {
		return f.skipped.value
	}
	b := f.buf[f.pos:]
	return b[:min(len(b), f.limit)]
}

// advance moves past n bytes, to the start of a record.
func (f *framer) advance(n int) {
	f.pos += n
	f.off += int64(n)
	f.scanned, f.state = 0, atFieldStart
}

// fill reads once. Memory that was handed out is not written again.
func (f *framer) fill() {
	if cap(f.buf)-len(f.buf) < max(1, f.block/4) {
		carry := f.buf[f.pos:]
		buf := make([]byte, len(carry), max(f.block, 2*len(carry)+1))
		copy(buf, carry)
		f.buf, f.pos = buf, 0
	}
	n, err := f.r.Read(f.buf[len(f.buf):cap(f.buf)])
	f.buf = f.buf[:len(f.buf)+n]
	f.err = err
}

// end returns the length of the record that b starts with, its line end included, or -1 when b does not hold it all.
func (f *framer) end(b []byte) int {
	if !f.csv {
		i := bytes.IndexByte(b[f.scanned:], '\n')
		if i < 0 {
			f.scanned = len(b)
			return -1
		}
		return f.scanned + i + 1
	}
	if f.scanned == 0 {
		if i := bytes.IndexByte(b, '\n'); i >= 0 && bytes.IndexByte(b[:i], '"') < 0 {
			return i + 1
		}
	}
	for i, c := range b[f.scanned:] {
		switch f.state {
		case inQuotes:
			if c == '"' {
				f.state = afterQuote
			}
			continue
		case afterQuote:
			if c == '"' {
				f.state = inQuotes
				continue
			}
		case atFieldStart:
			if c == '"' {
				f.state = inQuotes
				continue
			}
		}
		switch c {
		case '\n':
			return f.scanned + i + 1
		case f.comma:
			f.state = atFieldStart
		default:
			f.state = inField
		}
	}
	f.scanned = len(b)
	return -1
}

// trimLineEnd removes "\n" or "\r\n".
func trimLineEnd(b []byte) []byte {
	b = bytes.TrimSuffix(b, []byte("\n"))
	return bytes.TrimSuffix(b, []byte("\r"))
}
