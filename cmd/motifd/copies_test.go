package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/cmd/motifd/internal/copies"
	"motifd/stream"
)

// TestCheckpointOfARunningDaemon reads, replays and backs up the checkpoint of a daemon that runs. The backup is
// refused once the output goes on beyond it; the checkpoint itself goes on.
func TestCheckpointOfARunningDaemon(t *testing.T) {
	t.Parallel()
	dir, port := logDir(t)
	p := start(t, dir)
	p.ready()
	pay := func(text string) {
		t.Helper()
		require.NoError(t, produceOne(t.Context(), port, []byte(text)))
		end := endOffset(t, port)
		p.until("all input was taken", func() bool { return p.status().Positions["0"] >= end })
	}
	pay(`[{"op":"+","from":"1","to":"2","label":"T"},{"op":"+","from":"2","to":"1","label":"T"}]`)
	require.Contains(t, succeed(t, dir, "checkpoint", "info", "state").stdout, "1 label")
	require.Contains(
		t,
		succeed(t, dir, "checkpoint", "verify", "state").stdout,
		"state: intact; 1 label, 2 vertices, 2 edges",
	)
	first := succeed(t, dir, "replay", "--batch-log", "state").stdout
	require.Equal(t, 1, strings.Count(first, `"query":"pair"`))
	succeed(t, dir, "checkpoint", "backup", "state", "backup")
	r := motifd(t, dir, "checkpoint", "backup", "state", "backup")
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.stderr, "exists")
	require.Contains(
		t,
		motifd(t, dir, "checkpoint", "backup", "state", filepath.Join(dir, "state", "b")).stderr,
		"inside the checkpoint",
	)
	p.until("no copy is left", func() bool {
		left, err := os.ReadDir(filepath.Join(dir, "state", "copies"))
		return err == nil && len(left) == 0
	})

	// A reader that dies takes its copy with it; what is no request is answered by the end of the connection.
	c, err := net.Dial("unix", filepath.Join(dir, "state", copies.Socket))
	require.NoError(t, err)
	_, err = c.Write([]byte("{\"to\":\"\"}\n"))
	require.NoError(t, err)
	var answer struct{ Name string }
	require.NoError(t, json.NewDecoder(c).Decode(&answer))
	require.DirExists(t, filepath.Join(dir, "state", answer.Name))
	require.NotEmpty(t, answer.Name)
	require.NoError(t, c.Close())
	p.until("the copy is gone", func() bool {
		left, err := os.ReadDir(filepath.Join(dir, "state", "copies"))
		return err == nil && len(left) == 0
	})
	bad, err := net.Dial("unix", filepath.Join(dir, "state", copies.Socket))
	require.NoError(t, err)
	_, err = bad.Write([]byte("{\"too\":1}\n"))
	require.NoError(t, err)
	_, err = bad.Read(make([]byte, 1))
	require.Error(t, err)
	require.NoError(t, bad.Close())

	pay(`{"op":"-","from":"2","to":"1","label":"T"}`)
	p.kill() // its socket stays
	require.FileExists(t, filepath.Join(dir, "state", copies.Socket))
	require.Contains(t, succeed(t, dir, "checkpoint", "info", "state").stdout, "on disk")
	succeed(t, dir, "checkpoint", "backup", "state", "stopped")
	require.Contains(t, succeed(t, dir, "checkpoint", "verify", "backup").stdout, "intact")
	require.Equal(t, first, succeed(t, dir, "replay", "--batch-log", "backup").stdout)

	r = motifd(t, dir, "run", "-c", "motifd.yaml", "--set", "admin.listen=", "--checkpoint", "backup")
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.stderr, stream.ErrOldCheckpoint.Error())
	require.Contains(t, r.stderr, "restore the newest copy")
	p = start(t, dir, "--checkpoint", "stopped") // the newest one goes on
	p.ready()
	pay(`{"op":"+","from":"2","to":"1","label":"T"}`)
	p.stop()
	log := openLog(t, dir, port)
	output := outputOf(t, log.Addr())
	require.Equal(t, strings.Join(output, ""), succeed(t, dir, "replay", "--batch-log", "stopped").stdout)
	var last struct{ Op string }
	require.NoError(t, json.Unmarshal([]byte(output[len(output)-1]), &last))
	require.Equal(t, "+", last.Op)
}
