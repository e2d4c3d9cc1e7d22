package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	// What a citation looks like: DESIGN S7, or S7 alone in a comment, on a page or in the name of a test.
	designParagraph = regexp.MustCompile(`(?m)^\*\*([SAP]\d+) `)
	designNumber    = regexp.MustCompile(`\b[SAPH]\d{1,2}\b`)
	designTest      = regexp.MustCompile(`(?m)^func (?:Test|Fuzz|Benchmark)([SAPH]\d{1,2})[A-Z]`)
	lineComment     = regexp.MustCompile(`(?m)//.*$`)
)

// designCitations returns the paragraphs of docs/design.md that a source or a page cites.
func designCitations(path, text string) (cited []string) {
	if filepath.Ext(path) == ".md" {
		return designNumber.FindAllString(mdFence.ReplaceAllString(text, ""), -1)
	}
	for _, m := range designTest.FindAllStringSubmatch(text, -1) {
		cited = append(cited, m[1])
	}
	for _, comment := range lineComment.FindAllString(text, -1) {
		cited = append(cited, designNumber.FindAllString(comment, -1)...)
	}
	return cited
}

// TestDesignIsComplete holds that docs/design.md has each paragraph that the sources and the pages cite, in order.
func TestDesignIsComplete(t *testing.T) {
	root := filepath.Join("..", "..")
	page := readFile(t, filepath.Join(root, "docs", "design.md"))
	defined := map[string]bool{}
	letter, before := byte(0), 0
	for _, m := range designParagraph.FindAllStringSubmatch(page, -1) {
		id := m[1]
		require.False(t, defined[id], "%s stands twice", id)
		defined[id] = true
		n, err := strconv.Atoi(id[1:])
		require.NoError(t, err)
		if id[0] == letter {
			require.Equal(t, before+1, n, "%s does not stand behind the paragraph before it", id)
		}
		letter, before = id[0], n
	}
	extensions := []string{".go", ".cu", ".cuh", ".md"}
	citations := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{"build", ".git", "testdata"}, d.Name()) {
			return filepath.SkipDir
		}
		if d.IsDir() || !slices.Contains(extensions, filepath.Ext(path)) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, id := range designCitations(path, string(text)) {
			citations++
			if !defined[id] {
				t.Errorf("%s cites %s, which docs/design.md does not have", path, id)
			}
		}
		return nil
	}))
	require.Greater(t, citations, 700)
}

// TestDesignCitationsAreFound holds that TestDesignIsComplete sees each way to cite a paragraph.
func TestDesignCitationsAreFound(t *testing.T) {
	source := strings.Join([]string{
		"x := S1 /" + "/ (A98), DESIGN P97 and S96-S95",
		"func Test" + "S94Word(t *testing.T) {",
		"/" + "/ not of T1, H100, p99 or S3000",
	}, "\n")
	require.ElementsMatch(t, []string{"S94", "A98", "P97", "S96", "S95"}, designCitations("a.cu", source))
	require.Equal(t, []string{"A93"}, designCitations("a.md", "kept (A93)\n```\nS92\n```\n"))
}

// TestDesignListsPackages holds that the table of packages in docs/design.md has every package but those of tests.
func TestDesignListsPackages(t *testing.T) {
	_, text, _ := strings.Cut(readFile(t, filepath.Join("..", "..", "docs", "design.md")), "\n## H. The house\n")
	text, _, _ = strings.Cut(text, "\n## A. ")
	listed := map[string]bool{}
	below := []string{} // whose packages have one row together
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?) \\|").FindAllStringSubmatch(text, -1) {
		for _, m := range regexp.MustCompile("`([^`]+)`( and below)?").FindAllStringSubmatch(row[1], -1) {
			listed[m[1]] = true
			if _, ok := arrows[m[1]]; !ok {
				t.Errorf("the table has %s, which is no package", m[1])
			}
			if m[2] != "" {
				below = append(below, m[1]+"/")
			}
		}
	}
	for name := range arrows {
		if !listed[name] && !slices.Contains(testOnly, name) &&
			!slices.ContainsFunc(below, func(p string) bool { return strings.HasPrefix(name, p) }) {
			t.Errorf("the table has no row of %s", name)
		}
	}
}
