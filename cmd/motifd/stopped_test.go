package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/config"
	"motifd/stream"
	"motifd/stream/checkpoint"
)

// TestStoppedDuringRecovery: a stop before the batch in progress is done has a status of its own, and an old copy of a
// checkpoint with file output is refused with what to do.
func TestStoppedDuringRecovery(t *testing.T) {
	dir := write(t, map[string]string{
		"in.jsonl": "{\"op\":\"+\",\"from\":\"a\",\"to\":\"b\",\"label\":\"T\"}\n",
		"conf.yaml": "input: {file: {path: DIR/in.jsonl}}\noutput: {file: {path: DIR/out.jsonl}}\ncheckpoint: {dir: " +
			"DIR/state}\nadmin: {listen: \"\"}\nqueries:\n  - {name: edge, cypher: \"MATCH (a)-[:T]->(b)\"}\n",
	})
	conf := filepath.Join(dir, "conf.yaml")
	require.NoError(t, os.WriteFile(conf, []byte(strings.ReplaceAll(readFile(t, conf), "DIR", dir)), 0o600))
	cfg, err := config.Load(config.LoadOptions{File: conf})
	require.NoError(t, err)
	store, err := checkpoint.Open(cfg.Checkpoint.Dir, cfg.CheckpointOptions())
	require.NoError(t, err)
	b := &stream.Batch{Positions: stream.Positions{}}
	b.Number = 1
	require.NoError(t, store.Intent(t.Context(), b))
	require.NoError(t, store.Close())

	run := func(ctx context.Context, args ...string) (int, string) {
		var out, errs bytes.Buffer
		code := execute(ctx, append([]string{"run", "-c", conf}, args...), strings.NewReader(""), &out, &errs, nil)
		return code, errs.String()
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	code, text := run(stopped)
	require.Equal(t, exitUnfinished, code, text)
	require.Contains(t, text, "batches in progress")
	old := filepath.Join(dir, "old")
	require.NoError(t, os.CopyFS(old, os.DirFS(filepath.Join(dir, "state"))))
	code, text = run(t.Context())
	require.Zero(t, code, text)
	published := readFile(t, filepath.Join(dir, "out.jsonl"))
	require.NotEmpty(t, published)

	code, text = run(t.Context(), "--checkpoint", old)
	require.Equal(t, exitFailed, code, text)
	require.Contains(t, text, stream.ErrOldCheckpoint.Error())
	require.Contains(t, text, "--reset-progress")
	require.Equal(t, published, readFile(t, filepath.Join(dir, "out.jsonl")), "nothing is cut off")
	code, text = run(t.Context(), "--checkpoint", old, "--reset-progress")
	require.Zero(t, code, text)
	code, text = run(t.Context(), "--checkpoint", old)
	require.Zero(t, code, text)
}
