//go:build kafka && unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/stream/kafka/brokertest"
)

// TestTutorialBroker runs the commands of docs/tutorial.md in one shell, but for the first block (bash), which builds
// motifd and fetches Kafka, and compares what a block (sh) prints with the block (json, text) behind it. It changes
// nothing but ports. Ids of the match and the stream, and numbers of batches, are not on the page.
func TestTutorialBroker(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	page := readFile(t, filepath.Join(root, "docs", "tutorial.md"))
	ports := brokertest.FreePorts(t, 2)
	page = strings.NewReplacer(":9092", fmt.Sprint(":", ports[0]), ":9093", fmt.Sprint(":", ports[1])).Replace(page)
	blocks := blocksOf(page)

	// The folders that the first block makes.
	clone := t.TempDir()
	dir := filepath.Join(clone, "tutorial")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.Mkdir(filepath.Join(clone, "bin"), 0o755))
	require.NoError(t, os.Symlink(binary, filepath.Join(clone, "bin", "motifd")))
	require.NoError(t, os.Symlink(filepath.Join(root, "build"), filepath.Join(clone, "build")))

	// The end of standard input, also when the test is killed, ends all processes of the shell.
	script := "set -eo pipefail\nexec 3<&0 </dev/null\n{ read -r _ <&3; kill -KILL 0; } &\n" + commandsOf(blocks) +
		"exec 3<&-\n"
	log, err := os.Create(filepath.Join(clone, "log"))
	require.NoError(t, err)
	defer log.Close()
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir, cmd.Stderr = dir, log
	cmd.Env = append(os.Environ(), "MOTIFD_ADMIN_LISTEN=", // its port may be taken
		"JDK_JAVA_OPTIONS="+strings.Join(brokertest.JavaOptions, " "))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	err = cmd.Wait()
	_ = stdin.Close()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may be gone
	if err != nil {
		for _, name := range []string{filepath.Join(clone, "log"), filepath.Join(dir, "motifd.log")} {
			text, _ := os.ReadFile(name)
			t.Logf("%s:\n%s", filepath.Base(name), text)
		}
	}
	require.NoError(t, err)

	compared := 0
	matches := map[string]bool{}
	for i, b := range blocks[1:] {
		if b.language == "sh" || blocks[i].language != "sh" {
			continue
		}
		got := readFile(t, filepath.Join(dir, fmt.Sprint("out.", i)))
		compared++
		if b.language == "text" {
			require.Equal(t, b.text, got)
			continue
		}
		var shown, printed map[string]any
		require.NoError(t, json.Unmarshal([]byte(b.text), &shown))
		require.NoError(t, json.Unmarshal([]byte(got), &printed), got)
		matches[printed["match"].(string)] = true
		for _, record := range []map[string]any{shown, printed} {
			for _, field := range []string{"stream", "batch", "match"} {
				require.Contains(t, record, field)
				delete(record, field)
			}
		}
		require.Equal(t, shown, printed)
	}
	require.Equal(t, 3, compared)
	require.Len(t, matches, 1, "the withdrawal names the match")
}
