package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestMatchShowsProgress: a search that takes long shows on a terminal how many roots are done, and an estimate of what
// is left. It is stopped when that was seen.
func TestMatchShowsProgress(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	defer terminal.Close()
	raw, err := terminal.SyscallConn()
	require.NoError(t, err)
	var number int
	var ioctl error
	require.NoError(t, raw.Control(func(fd uintptr) {
		if ioctl = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); ioctl == nil {
			number, ioctl = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	}))
	require.NoError(t, ioctl)
	stderr, err := os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)

	// Every partial match is extended, for no product is 7: with 4,000 vertices of 16 edges there are 2.8 * 10^8 of
	// them, and 70,000 of each root.
	var graph strings.Builder
	const vertices, degree = 4000, 16
	for v := range vertices {
		for i := 1; i <= degree; i++ {
			fmt.Fprintf(&graph, `{"op":"+","from":"%d","to":"%d","label":"T","props":{"amount":2}}`+"\n", v,
				(v+i*i)%vertices)
		}
	}
	dir := write(t, map[string]string{"graph.jsonl": graph.String(), "long.cypher": "MATCH (a)-[s:T]->(b)-[t:T]->" +
		"(c)-[u:T]->(d)-[v:T]->(e) WHERE s.amount * t.amount * u.amount * v.amount = 7"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	without := make(chan string, 1) // what the terminal had without an estimate; empty with one
	go func() {
		var shown bytes.Buffer
		estimate := regexp.MustCompile(`searching long: \d+ roots, \d+/s, \d+%, \d\S* left`)
		part := make([]byte, 4096)
		for !estimate.Match(shown.Bytes()) {
			n, err := terminal.Read(part)
			shown.Write(part[:n])
			if err != nil {
				without <- shown.String()
				return
			}
		}
		without <- ""
		cancel()
		_, _ = io.Copy(io.Discard, terminal) // until the terminal is closed
	}()
	code := execute(ctx, []string{"match", "--graph=" + filepath.Join(dir, "graph.jsonl"), "--threads=1",
		"--query=" + filepath.Join(dir, "long.cypher"), "--properties=edges: {T: {amount: int64}}"},
		strings.NewReader(""), io.Discard, stderr, nil)
	require.NoError(t, stderr.Close())
	require.Empty(t, <-without, "the search ended before an estimate was shown")
	require.Equal(t, exitFailed, code)
}
