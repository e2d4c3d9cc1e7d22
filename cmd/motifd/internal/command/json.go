package command

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"time"
)

// Rounded is a duration in seconds, to the microsecond.
func Rounded(d time.Duration) float64 { return math.Round(d.Seconds()*1e6) / 1e6 }

// GroupDigits puts commas into a whole number.
func GroupDigits(s string) string {
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// PrintJSON writes v as JSON for people and programs: indented, and with > in patterns as it is.
func PrintJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// WriteSummary writes v as JSON to a file; it does nothing when the path is empty.
func WriteSummary(path string, v any) error {
	if path == "" {
		return nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("writing the summary: %w", err)
	}
	if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing the summary: %w", err)
	}
	return nil
}
