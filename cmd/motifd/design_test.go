package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDesignIsComplete holds that docs/design.md has each paragraph that the sources and the pages cite.
func TestDesignIsComplete(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "design.md"))
	require.NoError(t, err)
	defined := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\*\*([SAP]\d+) `).FindAllSubmatch(page, -1) {
		require.False(t, defined[string(m[1])], "%s stands twice", m[1])
		defined[string(m[1])] = true
	}
	cited := regexp.MustCompile(`DESIGN ((?:[SAP]\d+(?:-[SAP]?\d+)?(?:, | and )?)+)`)
	number := regexp.MustCompile(`[SAP]\d+`)
	extensions := []string{".go", ".cu", ".cuh", ".md"}
	citations := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "build" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if d.IsDir() || !slices.Contains(extensions, filepath.Ext(path)) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range cited.FindAllSubmatch(text, -1) {
			for _, n := range number.FindAllString(string(m[1]), -1) {
				citations++
				if !defined[n] {
					t.Errorf("%s cites DESIGN %s, which docs/design.md does not have", path, n)
				}
			}
		}
		return nil
	}))
	require.Greater(t, citations, 100)
}
