package monitor_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDocsAreTheExamples: each block of Go in docs/library.md stands in an example, at any indentation.
func TestDocsAreTheExamples(t *testing.T) {
	page, err := os.ReadFile("../../docs/library.md")
	require.NoError(t, err)
	var source []byte
	for _, file := range []string{"example_test.go", "properties_example_test.go"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		source = append(source, text...)
	}
	blocks := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	require.GreaterOrEqual(t, len(blocks), 6)
	for _, b := range blocks {
		found := false
		for indent := 0; indent < 4 && !found; indent++ {
			margin := strings.Repeat("\t", indent)
			text := regexp.MustCompile("(?m)^(.)").ReplaceAllString(b[1], margin+"$1")
			found = strings.Contains("\n"+string(source), "\n"+text)
		}
		require.True(t, found, "no example has this block:\n%s", b[1])
	}
}
