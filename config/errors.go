package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"motifd/matcher"
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

// unknown says that there is no such thing and what there is.
func unknown(what, word string, candidates []string) string {
	if len(word) > matcher.MaxNear {
		word = word[:matcher.MaxNear] + "..."
	}
	slices.Sort(candidates)
	if near := matcher.Nearest(word, candidates); near != "" {
		return fmt.Sprintf("there is no %s %q; did you mean %q?", what, word, near)
	}
	return fmt.Sprintf("there is no %s %q; there are %s", what, word, strings.Join(candidates, ", "))
}
