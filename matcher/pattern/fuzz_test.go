package pattern

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"motifd/matcher"
)

func FuzzCypher(f *testing.F) {
	fuzz(f, Cypher, "testdata/cypher.case", "testdata/paths.case", "testdata/negation.case")
}
func FuzzText(f *testing.F) { fuzz(f, Text, "testdata/text.case") }

// fuzz holds that a parser never panics, that its errors point into the source, and that Format prints what it parsed.
func fuzz(f *testing.F, language string, seeds ...string) {
	for _, src := range cases(f, seeds...) {
		f.Add([]byte(src), true)
		f.Add([]byte(src), false)
	}
	f.Fuzz(func(t *testing.T, src []byte, directed bool) {
		opt := Options{Name: "q", File: "f", Directed: directed}
		q, err := Parse(language, src, opt)
		if err != nil {
			checkError(t, src, err)
			return
		}
		if err := q.Validate(directed); err != nil {
			t.Fatal(err)
		}
		if q.IsVertex() {
			return // Format prints edges
		}
		text := Format(q)
		again, err := Parse(Cypher, []byte(text), opt)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if !reflect.DeepEqual(q.Vertices, again.Vertices) || !reflect.DeepEqual(q.Edges, again.Edges) {
			t.Fatalf("%+v\nbecame\n%+v\nby\n%s", q, again, text)
		}
	})
}

// cases returns the patterns of transcripts.
func cases(t testing.TB, files ...string) (all []string) {
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range strings.Split(string(src), "\n\n") {
			c, _, _ = strings.Cut(c, "----")
			if _, pattern, ok := strings.Cut(c, "\n"); ok {
				all = append(all, pattern)
			}
		}
	}
	return all
}

func checkError(t *testing.T, src []byte, err error) {
	var at *Error
	if !errors.As(err, &at) || !errors.Is(err, matcher.ErrQuery) {
		t.Fatalf("%T: %v", err, err)
	}
	lines := strings.Split(string(src), "\n")
	if at.Line < 1 || at.Line > len(lines) {
		t.Fatalf("%v: there are %d lines", err, len(lines))
	}
	if n := len([]rune(lines[at.Line-1])); at.Column < 1 || at.Column > n+1 {
		t.Fatalf("%v: the line has %d characters", err, n)
	}
	if at.File != "f" || at.Msg == "" || len(at.Msg) > 700 {
		t.Fatalf("%q", at.Msg)
	}
}
