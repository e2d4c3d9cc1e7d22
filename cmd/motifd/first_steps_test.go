//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
)

// block is a fenced block of a Markdown page.
type block struct{ language, text string }

func blocksOf(page string) []block {
	var out []block
	for _, m := range regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```").FindAllStringSubmatch(page, -1) {
		out = append(out, block{m[1], m[2]})
	}
	return out
}

// commandsOf returns the blocks of sh as one script; what block N prints goes to the file out.N.
func commandsOf(blocks []block) (script string) {
	for i, b := range blocks {
		if b.language == "sh" {
			script += fmt.Sprintf("exec >out.%d\n%s\n", i, b.text)
		}
	}
	return script
}

// TestFirstSteps runs the commands of the pages that need no broker, each page in one shell of a folder of its own. It
// leaves out blocks of bash, which build motifd: the tests have built it. It compares what a block (sh) prints with the
// block (json, text) behind it.
func TestFirstSteps(t *testing.T) {
	matchertest.NotUnderRace(t, "TestRunOnFiles, TestReplay and TestAPI have the goroutines of its commands")
	clone := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(clone, "bin"), 0o755))
	require.NoError(t, os.Symlink(binary, filepath.Join(clone, "bin", "motifd")))
	for name, least := range map[string]int{"first-steps.md": 4, "howto/cookbook.md": 12,
		"howto/typologies.md": 17, "howto/produce.md": 4} {
		t.Run(name, func(t *testing.T) {
			page, err := os.ReadFile(filepath.Join("../../docs", name))
			require.NoError(t, err)
			if _, err := exec.LookPath("python3"); err != nil && strings.Contains(string(page), "\npython3 ") {
				t.Skip("the page runs python3, which this machine lacks; .ci/run installs it")
			}
			dir, err := os.MkdirTemp(clone, "page")
			require.NoError(t, err)
			require.GreaterOrEqual(t, runPage(t, dir, string(page)), least, "blocks that were compared")
		})
	}
}

// runPage runs the blocks of a page in dir and returns how many of them have their output on the page.
func runPage(t *testing.T, dir, page string) (compared int) {
	blocks := blocksOf(page)
	cmd := exec.Command("bash", "-c", "set -e\n"+commandsOf(blocks))
	cmd.Dir = dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MOTIFD_") }),
		"MOTIFD_ADMIN_LISTEN=") // its port may be taken
	stderr := new(strings.Builder)
	cmd.Stderr = stderr
	require.NoError(t, cmd.Run(), stderr)
	for i, b := range blocks {
		if i == 0 || b.language == "sh" || blocks[i-1].language != "sh" {
			continue
		}
		got, err := os.ReadFile(filepath.Join(dir, fmt.Sprint("out.", i-1)))
		require.NoError(t, err)
		switch b.language {
		case "text":
			require.Equal(t, b.text, string(got))
		case "json":
			require.Equal(t, valuesOf(t, b.text), valuesOf(t, string(got)))
		default:
			continue
		}
		compared++
	}
	return compared
}

// valuesOf returns the JSON values of a text.
func valuesOf(t *testing.T, text string) (all []any) {
	d := json.NewDecoder(strings.NewReader(text))
	for {
		var v any
		err := d.Decode(&v)
		if err == io.EOF {
			return all
		}
		require.NoError(t, err, text)
		all = append(all, v)
	}
}
