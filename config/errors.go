package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Error is one mistake in the configuration.
type Error struct {
	Where string // file:line:column, variable or flag; "" when nothing set the field
	Path  string // of the field; "" when it is about none
	Msg   string // what is wrong and what would be right
}

// credentials are the user and the password of a URL.
var credentials = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^\s"]*@`)

// Error returns "where: path: message", less what is unknown, and less user and password of a URL.
func (e *Error) Error() string {
	var parts []string
	for _, p := range []string{e.Where, e.Path, credentials.ReplaceAllString(e.Msg, "$1***@")} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, ": ")
}

// Errors are all mistakes that Load found.
type Errors []error

// Error returns one mistake per line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the mistakes.
func (e Errors) Unwrap() []error { return e }

// or returns nil for no mistake.
func (e Errors) or() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// maxNear bounds the words that are compared: what is longer is no slip of the keyboard.
const maxNear = 64

// nearest returns the candidate most like word, or "" when none is near.
func nearest(word string, candidates []string) string {
	if len(word) > maxNear {
		return ""
	}
	best, found := "", len(word)/2+1
	for _, c := range candidates {
		if d := distance(strings.ToLower(word), strings.ToLower(c)); d < found {
			best, found = c, d
		}
	}
	return best
}

// distance is the number of letters to insert, delete, replace or swap with their neighbour to get from a to b.
func distance(a, b string) int {
	row := make([][]int, len(a)+1)
	for i := range row {
		row[i] = make([]int, len(b)+1)
		row[i][0] = i
	}
	for j := range row[0] {
		row[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[i][j] = min(row[i-1][j]+1, row[i][j-1]+1, row[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[i][j] = min(row[i][j], row[i-2][j-2]+1)
			}
		}
	}
	return row[len(a)][len(b)]
}

// unknown says that there is no such thing and what there is.
func unknown(what, word string, candidates []string) string {
	if len(word) > maxNear {
		word = word[:maxNear] + "..."
	}
	slices.Sort(candidates)
	if near := nearest(word, candidates); near != "" {
		return fmt.Sprintf("there is no %s %q; did you mean %q?", what, word, near)
	}
	return fmt.Sprintf("there is no %s %q; there are %s", what, word, strings.Join(candidates, ", "))
}
