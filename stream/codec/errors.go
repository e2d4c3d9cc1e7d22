package codec

import (
	"fmt"
	"unicode/utf8"

	"motifd/stream"
)

// Reasons of decode errors: short stable codes, fit for a metric's label.
const (
	ReasonRecord = "record" // the source could not read the record
	// the record, a key, a label, an id or props is too long, or an array has too many elements
	ReasonSize      = "size"
	ReasonUTF8      = "utf8"      // not valid UTF-8
	ReasonSyntax    = "syntax"    // not JSON, CSV or text
	ReasonDepth     = "depth"     // nested too deeply
	ReasonDuplicate = "duplicate" // a name occurs twice in one object
	ReasonField     = "field"     // a field is unknown, missing, or belongs to another operation
	ReasonType      = "type"      // a field has a value of another type
	ReasonValue     = "value"     // a value is not one of those allowed
	ReasonProperty  = "property"  // the value of a declared property is not exactly of its type
	ReasonHeader    = "header"    // a CSV column is not in the header, or a record does not fit it
)

func refuse(reason, format string, args ...any) *stream.DecodeError {
	return &stream.DecodeError{Reason: reason, Element: -1, Msg: fmt.Sprintf(format, args...)}
}

// inElement names the element of an array, or the line of several, where err is.
func inElement(err *stream.DecodeError, what string, element int) *stream.DecodeError {
	err.Element = element
	err.Msg = fmt.Sprintf("%s %d: %s", what, element, err.Msg)
	return err
}

// checkRecord decides what can be decided before a record is looked into.
func checkRecord(rec *stream.Record, maxBytes int) *stream.DecodeError {
	if rec.Err != nil {
		return refuse(ReasonRecord, "the record could not be read: %v", rec.Err)
	}
	if len(rec.Value) > maxBytes {
		return refuse(
			ReasonSize,
			"the record has %d bytes; at most %d are allowed (input.limits.max_message_bytes)",
			len(rec.Value),
			maxBytes,
		)
	}
	if !utf8.Valid(rec.Value) {
		at := invalidUTF8(rec.Value)
		return refuse(ReasonUTF8, "byte %d: 0x%02x is not valid UTF-8; records are UTF-8 text", at, rec.Value[at])
	}
	return nil
}

// invalidUTF8 returns the offset of the first byte that is not valid UTF-8.
func invalidUTF8(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}

// show quotes a piece of hostile input for a message.
func show[T string | []byte](s T) string {
	const most = 64
	if len(s) <= most {
		return fmt.Sprintf("%q", s)
	}
	cut := most
	for cut > most-utf8.UTFMax && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%q... (%d bytes)", s[:cut], len(s))
}

// tooLong is the error of a key, label or id beyond its limit.
func tooLong[T string | []byte](what string, value T, limit int) *stream.DecodeError {
	return refuse(ReasonSize, "%s %s is too long; at most %d bytes are allowed", what, show(value), limit)
}

// nearest returns the candidate that a misspelt name was probably meant to be, or "".
func nearest(name string, candidates []string) string {
	if len(name) > 32 {
		return ""
	}
	best, found := 3, ""
	for _, c := range candidates {
		if d := distance(fold(name), fold(c)); d < best && d <= len(c)/2 {
			best, found = d, c
		}
	}
	return found
}

// fold drops what is commonly spelt in several ways: case, '_' and '-'.
func fold(s string) string {
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		switch c := s[i]; {
		case c == '_' || c == '-':
		case 'A' <= c && c <= 'Z':
			out = append(out, c+'a'-'A')
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

// distance is the Damerau-Levenshtein distance (optimal string alignment) of two short strings.
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
