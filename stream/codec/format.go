package codec

import "strings"

// The update formats, as the configuration names them.
const (
	FormatJSON = "json"
	FormatCSV  = "csv"
	FormatText = "text"
)

// FormatOf tells the update format of a file from its name: .jsonl and .json, .csv, .txt and .graph, each also with
// .gz or .zst behind it. It returns "" when the name tells nothing.
func FormatOf(filename string) string {
	name := strings.ToLower(filename)
	for _, ext := range []string{".gz", ".zst"} {
		if rest, ok := strings.CutSuffix(name, ext); ok {
			name = rest
			break
		}
	}
	for _, f := range []struct{ ext, format string }{
		{".jsonl", FormatJSON}, {".json", FormatJSON},
		{".csv", FormatCSV},
		{".txt", FormatText}, {".graph", FormatText},
	} {
		if strings.HasSuffix(name, f.ext) {
			return f.format
		}
	}
	return ""
}
