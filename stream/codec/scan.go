package codec

import (
	"unicode/utf16"
	"unicode/utf8"

	"motifd/stream"
)

// scanner reads JSON tokens (RFC 8259, strictly) from a record that is known to be valid UTF-8. A method that fails
// returns an error and leaves the scanner where it is of no further use.
type scanner struct {
	b []byte
	i int

	text    []byte // scratch of unescaped strings
	escaped bool   // the last string is in text

	nameEnd int // where the last member's name ended

	names    [][]byte // names of the objects that are open, outermost first, to find duplicates
	maxDepth int
}

func (s *scanner) reset(b []byte) { s.b, s.i, s.names = b, 0, s.names[:0] }

// stringSpecial tells the bytes that do not stand for themselves in a string.
var stringSpecial = func() (t [256]bool) {
	for c := range 0x20 {
		t[c] = true
	}
	t['"'], t['\\'] = true, true
	return t
}()

// peek skips white space and returns the next byte, or 0 at the end.
func (s *scanner) peek() byte {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return c
		}
	}
	return 0
}

// unexpected is the error at the present place.
func (s *scanner) unexpected(want string) *stream.DecodeError {
	if s.i >= len(s.b) {
		return refuse(ReasonSyntax, "byte %d: the record ends, but %s was expected", s.i, want)
	}
	r, _ := utf8.DecodeRune(s.b[s.i:])
	return refuse(ReasonSyntax, "byte %d: found %q where %s was expected%s", s.i, r, want, hint(r))
}

// hint explains characters that look right and are not.
func hint(r rune) string {
	switch r {
	case 0xFEFF:
		return "; this is a byte order mark, remove it"
	case '\'':
		return "; JSON strings stand in double quotes"
	case '\u201c', '\u201d':
		return "; JSON strings stand in straight double quotes"
	}
	return ""
}

// string reads a string. What it returns is unescaped and valid until the next call.
func (s *scanner) string() ([]byte, *stream.DecodeError) {
	start := s.i + 1
	i := start
	for i < len(s.b) && !stringSpecial[s.b[i]] {
		i++
	}
	if i < len(s.b) && s.b[i] == '"' {
		s.i, s.escaped = i+1, false
		return s.b[start:i], nil
	}
	s.escaped = true
	s.text = append(s.text[:0], s.b[start:i]...)
	for i < len(s.b) {
		switch c := s.b[i]; {
		case c == '"':
			s.i = i + 1
			return s.text, nil
		case c < 0x20:
			return nil, refuse(ReasonSyntax, "byte %d: control character 0x%02x inside a string; write it as \\u%04x",
				i, c, c)
		case c == '\\':
			next, err := s.escape(i)
			if err != nil {
				return nil, err
			}
			i = next
		default:
			from := i
			for i < len(s.b) && !stringSpecial[s.b[i]] {
				i++
			}
			s.text = append(s.text, s.b[from:i]...)
		}
	}
	return nil, refuse(
		ReasonSyntax,
		"byte %d: the record ends inside the string that begins at byte %d",
		len(s.b),
		start-1,
	)
}

// escape appends what the escape sequence at i stands for to s.text and returns where reading goes on.
func (s *scanner) escape(i int) (int, *stream.DecodeError) {
	if i+1 >= len(s.b) {
		return 0, refuse(ReasonSyntax, "byte %d: the record ends inside an escape sequence", i)
	}
	switch c := s.b[i+1]; c {
	case '"', '\\', '/':
		s.text = append(s.text, c)
	case 'b':
		s.text = append(s.text, '\b')
	case 'f':
		s.text = append(s.text, '\f')
	case 'n':
		s.text = append(s.text, '\n')
	case 'r':
		s.text = append(s.text, '\r')
	case 't':
		s.text = append(s.text, '\t')
	case 'u':
		r, ok := hex4(s.b[i+2:])
		if !ok {
			return 0, refuse(ReasonSyntax, "byte %d: bad escape sequence; \\u takes four hexadecimal digits", i)
		}
		if !utf16.IsSurrogate(r) {
			s.text = utf8.AppendRune(s.text, r)
			return i + 6, nil
		}
		if rest := s.b[i+6:]; len(rest) > 2 && rest[0] == '\\' && rest[1] == 'u' {
			if low, ok := hex4(rest[2:]); ok {
				if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
					s.text = utf8.AppendRune(s.text, pair)
					return i + 12, nil
				}
			}
		}
		return 0, refuse(ReasonUTF8, "byte %d: %s is half of a surrogate pair and stands for no character; "+
			"write the character itself or both halves", i, s.b[i:i+6])
	default:
		_, n := utf8.DecodeRune(s.b[i+1:])
		return 0, refuse(ReasonSyntax, "byte %d: bad escape sequence %q; a backslash itself is written \\\\", i,
			s.b[i:i+1+n])
	}
	return i + 2, nil
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// number reads a number and returns its text; whole tells that it has no fraction and no exponent.
func (s *scanner) number() (text []byte, whole bool, _ *stream.DecodeError) {
	start := s.i
	if s.b[s.i] == '-' {
		s.i++
	}
	zero := s.i < len(s.b) && s.b[s.i] == '0'
	switch n := s.digits(); {
	case n == 0:
		return nil, false, s.unexpected("a digit")
	case zero && n > 1:
		return nil, false, refuse(ReasonSyntax, "byte %d: the number %s has a leading zero", start,
			show(s.b[start:s.i]))
	}
	whole = true
	if s.i < len(s.b) && s.b[s.i] == '.' {
		whole = false
		s.i++
		if s.digits() == 0 {
			return nil, false, s.unexpected("a digit")
		}
	}
	if s.i < len(s.b) && s.b[s.i]|0x20 == 'e' {
		whole = false
		s.i++
		if s.i < len(s.b) && (s.b[s.i] == '+' || s.b[s.i] == '-') {
			s.i++
		}
		if s.digits() == 0 {
			return nil, false, s.unexpected("a digit")
		}
	}
	return s.b[start:s.i], whole, nil
}

func (s *scanner) digits() int {
	start := s.i
	for s.i < len(s.b) && s.b[s.i]-'0' <= 9 {
		s.i++
	}
	return s.i - start
}

// literal reads true, false or null.
func (s *scanner) literal() ([]byte, *stream.DecodeError) {
	for _, w := range [...]string{"true", "false", "null"} {
		if rest := s.b[s.i:]; len(rest) >= len(w) && string(rest[:len(w)]) == w {
			s.i += len(w)
			return rest[:len(w)], nil
		}
	}
	return nil, s.unexpected("a value")
}

// member reads the name of the next member of an object, up to its colon; first tells that the object opened just
// now. at is the offset of the name; more is false when the object ends instead.
func (s *scanner) member(first bool) (name []byte, at int, more bool, _ *stream.DecodeError) {
	switch c := s.peek(); {
	case c == '}':
		s.i++
		return nil, s.i, false, nil
	case first:
	case c != ',':
		return nil, 0, false, s.unexpected(`"," or "}"`)
	default:
		s.i++
		if s.peek() == '}' {
			return nil, 0, false, refuse(ReasonSyntax, "byte %d: a comma stands before the closing brace; remove it",
				s.i)
		}
	}
	if s.peek() != '"' {
		return nil, 0, false, s.unexpected("a name in double quotes")
	}
	at = s.i
	name, err := s.string()
	if err != nil {
		return nil, 0, false, err
	}
	s.nameEnd = s.i
	if s.peek() != ':' {
		return nil, 0, false, s.unexpected(`":"`)
	}
	s.i++
	return name, at, true, nil
}

// next goes on to the next element of an array; first tells that the array opened just now. It returns false when
// the array ends instead.
func (s *scanner) next(first bool) (bool, *stream.DecodeError) {
	switch c := s.peek(); {
	case c == ']':
		s.i++
		return false, nil
	case first:
	case c != ',':
		return false, s.unexpected(`"," or "]"`)
	default:
		s.i++
		if s.peek() == ']' {
			return false, refuse(ReasonSyntax, "byte %d: a comma stands before the closing bracket; remove it", s.i)
		}
	}
	return true, nil
}
