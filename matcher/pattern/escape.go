package pattern

import (
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// escapeError is an escape that a string literal cannot have.
type escapeError string

// Error implements error.
func (e escapeError) Error() string {
	return fmt.Sprintf("the string has the escape %s; there are \\\\ \\' \\\" \\b \\f \\n \\r \\t, and \\uXXXX and "+
		"\\UXXXXXXXX for characters", string(e))
}

var escapes = map[byte]rune{'\\': '\\', '\'': '\'', '"': '"', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escaped reads the escape at the start of s: its character and its length, 0 for none. A pair of surrogates is one.
func escaped(s string) (rune, int) {
	if len(s) < 2 {
		return 0, 0
	}
	if r, ok := escapes[s[1]]; ok {
		return r, 2
	}
	r, size := coded(s)
	if size == 6 && utf16.IsSurrogate(r) {
		low, n := coded(s[size:])
		if n != 6 {
			return 0, 0
		}
		r, size = utf16.DecodeRune(r, low), 12
		if r == utf8.RuneError {
			return 0, 0
		}
	}
	if !utf8.ValidRune(r) {
		return 0, 0
	}
	return r, size
}

// coded reads \uXXXX or \UXXXXXXXX.
func coded(s string) (rune, int) {
	digits := 0
	if len(s) >= 2 && s[0] == '\\' {
		digits = map[byte]int{'u': 4, 'U': 8}[s[1]]
	}
	if digits == 0 || len(s) < 2+digits {
		return 0, 0
	}
	n, err := strconv.ParseUint(s[2:2+digits], 16, 32)
	if err != nil || n > utf8.MaxRune {
		return 0, 0
	}
	return rune(n), 2 + digits
}
