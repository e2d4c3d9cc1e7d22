package pattern

import (
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/condition"
)

func TestEscapes(t *testing.T) {
	for text, want := range map[string]string{
		`'a\\\'\"\b\f\n\r\tz'`: "a\\'\"\b\f\n\r\tz", `"'"`: "'", `'\u00e9\U0001F600'`: "é😀", `'\ud83d\ude00!'`: "😀!",
		`''`: "",
	} {
		got, err := unescape(text)
		require.NoError(t, err)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{
		`'\q'`, `'\u12'`, `'\ud83d'`, `'\ud83dx'`, `'\ud83d\u0041'`, `'\ude00\ud83d'`, `'\U00110000'`, `'\U0000d83d'`,
		`'\uzzzz'`, `'\é'`,
	} {
		_, err := unescape(text)
		require.ErrorContains(t, err, "the string has the escape", text)
	}
}

// TestQuotedStringsAreReadAgain holds that what explain and the API print of a string is that string, and moves no
// terminal's cursor.
func TestQuotedStringsAreReadAgain(t *testing.T) {
	for _, text := range []string{"", "a'b\\", "\r\n\t", "\x00\b\f\x1b[2J\x7f", "\u0085\u009b", "é😀"} {
		quoted := condition.QuoteString(text)
		got, err := unescape(quoted)
		require.NoError(t, err, quoted)
		require.Equal(t, text, got)
		require.NotRegexp(t, `[[:cntrl:]\x{80}-\x{9f}]`, quoted)
	}
}
