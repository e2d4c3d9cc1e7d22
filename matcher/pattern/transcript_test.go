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
// text, or rule, or undirected), the pattern, a line `----` and the answer up to a blank line. In a pattern, \r, \t and
// \x stand for a carriage return, a tab and an invalid byte, and \n for the line break that a case cannot hold.
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
		language, direction, _ := strings.Cut(head, " ")
		text := strings.NewReplacer(`\r`, "\r", `\t`, "\t", `\x`, "\xff", `\n`, "\n").
			Replace(strings.TrimSuffix(input, "\n"))
		got := parsed(language, []byte(text), Options{Name: "q", File: "q", Directed: direction == "directed"})
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
	if language == "rule" {
		r, err := ParseRule(src, opt, declared())
		return ruleAnswer(r, err)
	}
	q, err := Parse(language, src, opt)
	return answer(q, err)
}

// answer describes what Parse returned: the error, or the vertices and a line for each edge.
func answer(q *matcher.Query, err error) string {
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	b.WriteString("vertices")
	for _, v := range q.Vertices {
		fmt.Fprintf(&b, " %s", v.Name)
		if v.Label != "" {
			fmt.Fprintf(&b, ":%s", v.Label)
		}
	}
	for _, e := range q.Edges {
		sign := ">"
		if e.Either {
			sign = "-"
		}
		fmt.Fprintf(&b, "\n%s %s%s%s", e.Name, q.Vertices[e.From].Name, sign, q.Vertices[e.To].Name)
		if e.Label != "" {
			fmt.Fprintf(&b, " %s", e.Label)
		}
	}
	return b.String()
}
