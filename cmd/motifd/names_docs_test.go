package main

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
)

var (
	inBackquotes = regexp.MustCompile("`([^`]+)`")
	cudaComment  = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/`)
	cudaWord     = regexp.MustCompile(`[A-Za-z_]\w*`)
	settingTag   = regexp.MustCompile(`yaml:"(\w+)`)
)

// TestDocsNamesExist holds that each name that docs/contributing.md#names defends is still one in the sources: an
// identifier of Go or CUDA, or a setting. Comments do not count.
func TestDocsNamesExist(t *testing.T) {
	matchertest.NotUnderRace(t, "it reads sources on one goroutine")
	root := filepath.Join("..", "..")
	names := defendedNames(t, filepath.Join(root, "docs", "contributing.md"))
	require.Greater(t, len(names), 30)
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, words := []byte(nil), namesOfCUDA
		switch filepath.Ext(path) {
		case ".go":
			words = namesOfGo
		case ".cu", ".cuh":
		default:
			return nil
		}
		if text, err = os.ReadFile(path); err == nil {
			for _, w := range words(text) {
				delete(names, w)
			}
		}
		return err
	}))
	for name := range names {
		t.Errorf("docs/contributing.md defends the name %s, which no source has any more", name)
	}
}

// defendedNames returns the names in the first column of a page's table below the heading Names.
func defendedNames(t *testing.T, path string) map[string]bool {
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	_, section, ok := strings.Cut(string(page), "\n## Names\n")
	require.True(t, ok)
	section, _, _ = strings.Cut(section, "\n## ")
	names := map[string]bool{}
	for line := range strings.Lines(section) {
		if row, ok := strings.CutPrefix(line, "|"); ok {
			cell, _, _ := strings.Cut(row, "|")
			for _, m := range inBackquotes.FindAllStringSubmatch(cell, -1) {
				names[m[1]] = true
			}
		}
	}
	return names
}

// namesOfGo returns the identifiers of a Go file, and the settings in tags of its fields.
func namesOfGo(text []byte) (names []string) {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(text)), text, nil, 0)
	for {
		switch _, tok, word := s.Scan(); tok {
		case token.EOF:
			return names
		case token.IDENT:
			names = append(names, word)
		case token.STRING:
			if m := settingTag.FindStringSubmatch(word); m != nil {
				names = append(names, m[1])
			}
		}
	}
}

// namesOfCUDA returns the words of a CUDA source but those of its comments.
func namesOfCUDA(text []byte) []string {
	return cudaWord.FindAllString(cudaComment.ReplaceAllString(string(text), ""), -1)
}
