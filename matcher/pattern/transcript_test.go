package pattern

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher"
)

var rewrite = flag.Bool("rewrite", false, "write the answers into testdata; read the difference before committing it")

// TestTranscripts parses every case of testdata/*.case and compares the answer. A case is a line `cypher directed` (or
// text, rule, several or severaltext, or undirected; with `ends` behind it edges that compete for one data edge are
// refused), the pattern, a line `----` and the answer up to a blank line. In a pattern, \r, \t and \x stand for a
// carriage return, a tab and an invalid byte, and \n for the line break that a case cannot hold.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.case")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { transcript(t, file) })
	}
}

func transcript(t *testing.T, file string) {
	src, err := os.ReadFile(file)
	require.NoError(t, err)
	var out strings.Builder
	rest := string(src)
	for rest != "" {
		var head, input, want string
		var ok bool
		head, rest, ok = strings.Cut(rest, "\n")
		if head == "" || head[0] == '#' {
			fmt.Fprintln(&out, head)
			continue
		}
		require.True(t, ok)
		input, rest, ok = strings.Cut(rest, "----\n")
		require.True(t, ok, "a case without ----: %s", rest)
		want, rest, _ = strings.Cut(rest, "\n\n")
		language, graph, _ := strings.Cut(head, " ")
		direction, ends := strings.CutSuffix(graph, " ends")
		text := strings.NewReplacer(`\r`, "\r", `\t`, "\t", `\x`, "\xff", `\n`, "\n").
			Replace(strings.TrimSuffix(input, "\n"))
		got := parsed(language, []byte(text), Options{Name: "q", File: "q", Directed: direction == "directed",
			OnePerLabel: ends})
		if !*rewrite && strings.TrimSpace(want) != got {
			t.Errorf("%s:\n%s\n%s\nwant:\n%s\ngot:\n%s", file, head, input, want, got)
		}
		fmt.Fprintf(&out, "%s\n%s----\n%s\n\n", head, input, got)
	}
	if *rewrite {
		require.NoError(t, os.WriteFile(file, []byte(strings.TrimSpace(out.String())+"\n"), 0o644))
	}
}

func parsed(language string, src []byte, opt Options) string {
	switch language {
	case "rule":
		return ruleAnswer(ParseRule(src, opt, declared()))
	case "several":
		return ruleAnswer(ParseRule(src, opt, severalDeclared()))
	case "severaltext":
		opt.Declared, language = severalDeclared(), Text
		opt.Declared.Parameters = nil
		q, err := Parse(language, src, opt)
		if err != nil {
			return err.Error()
		}
		return ruleAnswer(&Rule{Query: q, Conditions: q.Conditions}, nil)
	}
	q, err := Parse(language, src, opt)
	return answer(q, err)
}

// answer describes what Parse returned: the error, or the vertices and a line for each edge.
func answer(q *matcher.Query, err error) string {
	if err != nil {
		return err.Error()
	}
	if q.Groups != nil {
		return groupAnswer(q)
	}
	plain := func(s string) string { return s }
	var b strings.Builder
	b.WriteString("vertices")
	for _, v := range q.Vertices {
		fmt.Fprintf(&b, " %s", v.Name)
		if l := v.Labels(); l != nil {
			fmt.Fprintf(&b, ":%s", l.Format(plain))
		}
	}
	for _, e := range q.Edges {
		sign := ">"
		if e.Either {
			sign = "-"
		}
		fmt.Fprintf(&b, "\n%s %s%s%s", e.Name, q.Vertices[e.From].Name, sign, q.Vertices[e.To].Name)
		if l := e.Labels(); l != nil {
			fmt.Fprintf(&b, " %s", l.Format(plain))
		}
		if h := e.Hops; h != nil {
			fmt.Fprintf(&b, " *%d..%d", h.Least, h.Most)
		}
	}
	return b.String()
}
