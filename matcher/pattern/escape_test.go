package pattern

import (
	"testing"

	"github.com/stretchr/testify/require"
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
