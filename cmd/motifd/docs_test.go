package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
)

var (
	mdLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	mdHeading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	mdFence   = regexp.MustCompile("(?ms)^```.*?^```")
)

// anchorsOf returns the anchors that a Markdown page's headings make.
func anchorsOf(text string) map[string]bool {
	drop := regexp.MustCompile("[^a-z0-9 _-]")
	out := map[string]bool{}
	for _, m := range mdHeading.FindAllStringSubmatch(mdFence.ReplaceAllString(text, ""), -1) {
		h := mdLink.ReplaceAllString(strings.ToLower(m[1]), "")
		out[strings.ReplaceAll(drop.ReplaceAllString(h, ""), " ", "-")] = true
	}
	return out
}

// docsPages returns the files of the pages in Markdown.
func docsPages(t *testing.T) (pages []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "*/*/*.md"} {
		found, err := filepath.Glob(filepath.Join("..", "..", pattern))
		require.NoError(t, err)
		pages = append(pages, found...)
	}
	return pages
}

// TestDocsTablesAreWhole holds that no line break divides a row: each has as many cells as the first of its table.
func TestDocsTablesAreWhole(t *testing.T) {
	rows := 0
	for _, page := range docsPages(t) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		bars := 0 // of the table's rows
		for line := range strings.Lines(mdFence.ReplaceAllString(string(text), "")) {
			line = strings.TrimSpace(line)
			if !strings.HasPrefix(line, "|") && !strings.HasSuffix(line, "|") {
				bars = 0
				continue
			}
			rows++
			n := strings.Count(line, "|") - strings.Count(line, `\|`)
			if bars == 0 {
				bars = n
			}
			if n != bars {
				t.Errorf("%s has a row with another number of cells than its table: %s", page, line)
			}
		}
	}
	require.Greater(t, rows, 500)
}

// TestDocsLinks holds that each relative link of the pages leads to a file that is there, and to a heading in it.
func TestDocsLinks(t *testing.T) {
	matchertest.NotUnderRace(t, "it reads pages on one goroutine")
	links := 0
	for _, page := range docsPages(t) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range mdLink.FindAllStringSubmatch(mdFence.ReplaceAllString(string(text), ""), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			links++
			file, anchor, _ := strings.Cut(m[1], "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			there, err := os.ReadFile(target)
			if err != nil {
				if info, e := os.Stat(target); e != nil || !info.IsDir() {
					t.Errorf("%s links to %s: %v", page, m[1], err)
				}
				continue
			}
			if anchor != "" && !anchorsOf(string(there))[anchor] {
				t.Errorf("%s links to %s, which has no such heading", page, m[1])
			}
		}
	}
	require.Greater(t, links, 50)
}

// TestDocsQuoteWhatIsSaid holds that the words that docs/howto/troubleshoot.md quotes, by which a reader looks for an
// entry, are words of a message.
func TestDocsQuoteWhatIsSaid(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "howto", "troubleshoot.md"))
	require.NoError(t, err)
	said := context.DeadlineExceeded.Error()
	joined := regexp.MustCompile(`"\s*\+\s*"`)
	require.NoError(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		said += joined.ReplaceAllString(string(text), "")
		return err
	}))
	text := regexp.MustCompile("`[^`]*`").ReplaceAllString(mdFence.ReplaceAllString(string(page), ""), "")
	quotes := regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(strings.Join(strings.Fields(text), " "), -1)
	for _, m := range quotes {
		if !strings.Contains(said, m[1]) {
			t.Errorf("docs/howto/troubleshoot.md quotes %q, which no message says", m[1])
		}
	}
	require.Greater(t, len(quotes), 15)
}

// TestDocsReasons holds that the table of docs/formats.md has each reason of a dead letter that the code names, and no
// other.
func TestDocsReasons(t *testing.T) {
	root := filepath.Join("..", "..")
	constant := regexp.MustCompile(`(?m)^\tReason\w+ +(?:Reason +)?= "(\w+)"`)
	named := map[string]bool{}
	for _, dir := range []string{"dyngraph", "stream"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" {
				return err
			}
			for _, m := range constant.FindAllStringSubmatch(readFile(t, path), -1) {
				named[m[1]] = true
			}
			return nil
		})
		require.NoError(t, err)
	}
	_, text, ok := strings.Cut(readFile(t, filepath.Join(root, "docs", "formats.md")), "\n| reason | decided by |")
	require.True(t, ok)
	text, _, _ = strings.Cut(text, "\n\n")
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| (`+"`"+`.*?) \|`).FindAllStringSubmatch(text, -1) {
		for _, m := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(row[1], -1) {
			listed[m[1]] = true
		}
	}
	require.Equal(t, named, listed)
	require.Greater(t, len(named), 25)
}

// TestDocsCommands holds that each command line in a block of the pages, and in the help texts, is of a command that
// there is, with flags that it has. Commands inside a line have flags that there are; the notebook's are of their day.
func TestDocsCommands(t *testing.T) {
	parser, err := kong.New(&cli{}, helpTexts)
	require.NoError(t, err)
	inline := regexp.MustCompile("`motifd(?:-cuda)? ([a-z]+(?: [a-z]+)?)([^`]*)`")
	blocks := map[string][]string{} // by page or command
	flags := map[string]map[string]bool{}
	for _, command := range parser.Model.Leaves(false) {
		name := strings.Fields(command.FullPath())
		flags[strings.Join(name[1:], " ")] = map[string]bool{"-h": true}
		for _, group := range command.AllFlags(false) {
			for _, f := range group {
				flags[strings.Join(name[1:], " ")]["--"+f.Name] = true
				flags[strings.Join(name[1:], " ")]["-"+string(f.Short)] = true
			}
		}
		blocks[command.FullPath()+" --help"] = []string{command.Detail}
	}
	for _, page := range docsPages(t) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		blocks[page] = mdFence.FindAllString(string(text), -1)
		if !strings.Contains(page, "notebook") {
			for _, m := range inline.FindAllStringSubmatch(mdFence.ReplaceAllString(string(text), ""), -1) {
				if first, _, _ := strings.Cut(m[1], " "); flags[m[1]] != nil || flags[first] != nil {
					blocks[page] = append(blocks[page], "motifd "+strings.ReplaceAll(m[1]+m[2], "\n", " "))
				}
			}
		}
	}
	line := regexp.MustCompile(`(?m)(?:^|[\s/])motifd(?:-cuda|-new)? ([a-z]+(?: [a-z]+)?)((?: +[^#|&>\n]*)?)`)
	flag := regexp.MustCompile(`(?:^|\s)(--?[a-z][a-z-]*)`)
	found := 0
	for where, texts := range blocks {
		text := strings.ReplaceAll(strings.Join(texts, "\n"), "\\\n", " ")
		for _, m := range line.FindAllStringSubmatch(text, -1) {
			name, rest := m[1], m[2]
			known, ok := flags[name]
			if first, second, two := strings.Cut(name, " "); !ok && two {
				known, ok, rest = flags[first], flags[first] != nil, second+rest
			}
			if !ok {
				t.Errorf("%s: there is no command motifd %s", where, name)
			}
			found++
			for _, f := range flag.FindAllStringSubmatch(rest, -1) {
				if !known[f[1]] {
					t.Errorf("%s: motifd %s has no flag %s", where, name, f[1])
				}
			}
		}
	}
	require.Greater(t, found, 100)
}
