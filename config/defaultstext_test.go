package config

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func readPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", "configuration.md"))
	require.NoError(t, err)
	return string(text)
}

// TestDefaultsLoad: the written defaults, with what is required beside them, are the configuration without them.
func TestDefaultsLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "defaults.yaml")
	require.NoError(t, os.WriteFile(path, []byte(Defaults(readPage(t))), 0o600))
	set := []string{"input.file.path=-", "input.format=json", "output.file.path=-", "checkpoint.dir=state"}
	want, err := Load(LoadOptions{Set: set})
	require.NoError(t, err)
	got, err := Load(LoadOptions{File: path, Set: set})
	require.NoError(t, err)
	require.Empty(t, got.Warnings())
	want.src, got.src = nil, nil
	require.Equal(t, want, got)
}

var commentedOut = regexp.MustCompile(`(?m)^( *)#([^ \n])`)

// TestDefaultsWithoutComments: what is commented out is YAML, and has the defaults, too.
func TestDefaultsWithoutComments(t *testing.T) {
	page := readPage(t)
	text := Defaults(page)
	c := Default()
	c.src = newSources()
	whole := commentedOut.ReplaceAllString(text, "$1$2")
	require.Empty(t, bindFile(c, "defaults.yaml", []byte(whole)))
	require.NotNil(t, c.Input.Kafka)
	require.NotNil(t, c.Embedded)
	require.Len(t, c.Queries, 1)
	again := commentedOut.ReplaceAllString(writeDefaults(c, page), "$1$2")
	require.Equal(t, strings.Split(whole, "\n"), strings.Split(again, "\n"))
	for line := range strings.Lines(text) {
		require.LessOrEqual(t, len(line), 101, line)
	}
}

// TestDefaultsOfThePage: the page tells the defaults that there are.
func TestDefaultsOfThePage(t *testing.T) {
	entries := pageEntries(readPage(t))
	told := 0
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		if v.Kind() == reflect.Pointer && v.Type().Elem().Kind() == reflect.Struct {
			v = named(v)
		}
		if v.Kind() == reflect.Struct && !isScalar(v) {
			for _, f := range fieldsOf(v) {
				walk(join(path, f.name), f.value)
			}
			return
		}
		if text, ok := defaultText(v); ok && entries[path] != nil && entries[path].value != "" {
			require.Equal(t, yamlText(entries[path].value), yamlText(strings.Trim(text, `"`)), path)
			told++
		}
	}
	walk("", reflect.ValueOf(Default()).Elem())
	require.Greater(t, told, 60)
}
