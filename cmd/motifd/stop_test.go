package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// cancelOnWrite cancels a context when something is written to it, and drops it.
type cancelOnWrite struct{ cancel context.CancelFunc }

func (c cancelOnWrite) Write(p []byte) (int, error) {
	c.cancel()
	return len(p), nil
}

// locked is a buffer for several goroutines.
type locked struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestReplayStopsInAFlood: a hub of 60 edges has 7.5 x 10^10 stars of ten leaves, all in one batch. The test ends
// because the replay does.
func TestReplayStopsInAFlood(t *testing.T) {
	dir := t.TempDir()
	var updates, q strings.Builder
	for i := range 60 {
		fmt.Fprintf(&updates, `{"op":"+","from":"s","to":"m%d","label":"T"}`+"\n", i)
	}
	q.WriteString("MATCH ")
	for i := range 10 {
		if i > 0 {
			q.WriteString(", ")
		}
		fmt.Fprintf(&q, "(s)-[:T]->(m%d)", i)
	}
	in, pattern := filepath.Join(dir, "u.jsonl"), filepath.Join(dir, "fan10.cypher")
	require.NoError(t, os.WriteFile(in, []byte(updates.String()), 0o600))
	require.NoError(t, os.WriteFile(pattern, []byte(q.String()), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stderr locked
	code := execute(ctx, []string{
		"replay", "--updates=" + in, "--query=" + pattern, "--unit=subgraphs", "--backend=cpu", "--stop-timeout=1ms",
	}, strings.NewReader(""), cancelOnWrite{cancel}, &stderr, nil)
	require.Equal(t, exitFailed, code, stderr.String())
	require.Contains(t, stderr.String(), "stopping took too long")
}

// TestAStopInAFloodOfRecovery: a stop abandons the batch in progress, and one of the next start, which does that batch
// again, says with its status that it is still not finished.
func TestAStopInAFloodOfRecovery(t *testing.T) {
	var hub strings.Builder
	for i := range 60 {
		fmt.Fprintf(&hub, `{"op":"+","from":"s","to":"m%d"}`+"\n", i)
	}
	dir := write(t, map[string]string{
		"in.jsonl":   hub.String(),
		"fan.cypher": "MATCH (s)-->(a), (s)-->(b), (s)-->(c), (s)-->(d), (s)-->(e), (s)-->(f), (s)-->(g)",
	})
	pipe := filepath.Join(dir, "out")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for _, code := range []int{exitFailed, exitUnfinished, exitUnfinished} {
		ctx, cancel := context.WithCancel(t.Context())
		out, err := os.OpenFile(pipe, os.O_RDWR, 0) // so that no opening waits for another
		require.NoError(t, err)
		read := make(chan error, 1)
		go func() {
			_, err := io.Copy(cancelOnWrite{cancel}, out)
			read <- err
		}()
		var stderr locked
		require.Equal(t, code, execute(ctx, []string{
			"run", "--set=input.file.path=" + filepath.Join(dir, "in.jsonl"), "--set=output.file.path=" + pipe,
			"--set=queries_dir=" + dir, "--set=checkpoint.dir=" + filepath.Join(dir, "state"), "--set=admin.listen=",
			"--set=stop_timeout=1ms",
		}, strings.NewReader(""), io.Discard, &stderr, nil), stderr.String())
		require.Contains(t, stderr.String(), "stopping: the batch in progress is finished first")
		require.Equal(t, code == exitFailed, strings.Contains(stderr.String(), "motifd checkpoint suspend DIR"))
		require.NoError(t, out.Close())
		require.ErrorIs(t, <-read, os.ErrClosed)
		cancel()
	}
}
