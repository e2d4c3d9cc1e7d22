package pattern

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph/property"
	"motifd/matcher"
)

const (
	someCypher = "MATCH (a:A)-->(b)"
	someText   = "v 0 A\nv 1\ne 0 1\n"
)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
}

func TestLoadDirectory(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"b.cypher":         someCypher,
		"a-b.txt":          someText,
		"a.graph":          someText,
		"C.TXT":            someText,
		"README.md":        "not a pattern",
		"expected.tsv":     "nor this",
		".hidden.cypher":   "nor this",
		"sub.txt/x.cypher": "nor this",
	})
	queries, err := Load(dir, Options{Directed: true})
	require.NoError(t, err)
	var names []string
	for _, q := range queries {
		names = append(names, q.Name+" "+q.Language)
		require.NoError(t, q.Validate(true))
		require.Contains(t, []string{someCypher, someText}, q.Source)
	}
	require.Equal(t, []string{"C text", "a text", "a-b text", "b cypher"}, names)
}

func TestLoadRefusals(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"twice/a.txt": someText, "twice/a.cypher": someCypher,
		"none/a.md": "", "bad/x.cypher": "MATCH (a)", "bad/y.cypher": someCypher, "bad/z.txt": "v 0\nv 0\n",
		"query.sql": "", "big.cypher": someCypher + strings.Repeat(" ", MaxSource),
	})
	for path, want := range map[string]string{
		"twice":      `both would be query "a"; rename one`,
		"none":       "holds no pattern file (.cypher, .txt or .graph)",
		"query.sql":  "not a pattern file: its name ends in none of .cypher, .txt and .graph",
		"missing":    "no such file",
		"big.cypher": "big.cypher:1:1: the pattern has more than 1048576 bytes",
	} {
		_, err := Load(filepath.Join(dir, path), Options{Directed: true})
		require.ErrorContains(t, err, want)
	}
	_, err := Load(filepath.Join(dir, "query.sql"), Options{Directed: true})
	require.ErrorIs(t, err, ErrExtension)

	_, err = Load(filepath.Join(dir, "bad"), Options{Directed: true})
	require.ErrorContains(t, err, filepath.Join("bad", "x.cypher")+":1:8: the pattern has one vertex and no condition")
	require.ErrorContains(t, err, filepath.Join("bad", "z.txt")+":2:3: vertex 0 was declared on line 1")
	require.ErrorIs(t, err, matcher.ErrQuery)
	var at *Error
	require.True(t, errors.As(err, &at))
	require.Equal(t, []int{1, 8}, []int{at.Line, at.Column})
}

func TestParseRefusals(t *testing.T) {
	_, err := Parse("sql", []byte(someCypher), Options{Name: "q"})
	require.EqualError(t, err, `bad query: the pattern language "sql" is unknown; there are "cypher" and "text"`)
	_, err = Parse(Cypher, []byte(someCypher), Options{Directed: true, File: "f"})
	require.EqualError(t, err, `f:1:1: bad query "": its name is empty`)
	_, err = Parse(Cypher, []byte("MATCH a"), Options{Name: "q"})
	require.ErrorContains(t, err, "1:7: unexpected")
	require.ErrorIs(t, err, matcher.ErrQuery)
}

// TestRepetition parses long sources of one part repeated: none is accepted, none nests.
func TestRepetition(t *testing.T) {
	for name, unit := range map[string]string{
		"path": "--(a)", "paths": ",(a)", "comments": "/**/", "open comment": "/* ", "quotes": "``", "parentheses": "(",
		"brackets": "[", "quote": "`a", "strings": "'", "escapes": `'\'`, "words": "a ", "digits": "1", "blank": " ",
		"lines":   "\n",
		"matches": " MATCH (a)", "bytes": "\x00", "word": "a",
	} {
		t.Run(name, func(t *testing.T) { refuse(t, "MATCH (a)"+strings.Repeat(unit, MaxSource/256/len(unit))) })
	}
	refuse(t, "MATCH (a)"+strings.Repeat("--(a)", MaxSource/80))
}

func refuse(t *testing.T, src string) {
	for _, language := range []string{Cypher, Text} {
		_, err := Parse(language, []byte(src), Options{Name: "q", File: "f"})
		checkError(t, []byte(src), err)
	}
}

// TestDocumentedPatterns parses the examples of the user's page.
func TestDocumentedPatterns(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "patterns.md"))
	require.NoError(t, err)
	parsed := 0
	for i, block := range strings.Split(string(page), "```") {
		language := Text
		body, ok := strings.CutPrefix(block, "cypher\n")
		if ok {
			language = Cypher
		}
		if i%2 == 0 || !ok && !strings.HasPrefix(block, "\nt ") {
			continue
		}
		opt := Options{Name: "q", Directed: true}
		if strings.Contains(body, "!") {
			opt.Declared.Schema = &property.Schema{SeveralLabels: true}
		}
		if strings.Contains(body, "motifd.") {
			opt.Declared.Schema = declared().Schema
		}
		_, err := Parse(language, []byte(body), opt)
		require.NoError(t, err)
		parsed++
	}
	require.Equal(t, 6, parsed) // those with conditions run in cmd/motifd
}
