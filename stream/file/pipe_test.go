//go:build unix

package file

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/stream"
)

// TestSinkGivesUpAPipe: a reader that takes nothing does not hold a stop up.
func TestSinkGivesUpAPipe(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	r, w, err := os.Pipe()
	require.NoError(t, err)
	for _, path := range []string{Stdout, fifo} {
		s, err := NewSink(SinkOptions{Output: path, Out: w})
		require.NoError(t, err)
		_, err = s.Open(t.Context(), "stream", 0, nil, true)
		require.NoError(t, err)
		stopped := errors.New("stopped")
		ctx, stop := context.WithCancelCause(t.Context())
		require.NoError(t, s.Begin(ctx, 1))
		record := stream.OutRecord{Batch: 1, Value: bytes.Repeat([]byte("x"), 1<<20)} // more than a pipe holds
		time.AfterFunc(10*time.Millisecond, func() { stop(stopped) })
		require.ErrorIs(t, s.Write(ctx, []stream.OutRecord{record}), stopped)
		_, err = s.End(ctx, stream.Tail{})
		require.ErrorIs(t, err, stopped)
		require.NoError(t, s.Close())
	}
	require.NoError(t, r.Close()) // the write that was given up ends
	require.NoError(t, w.Close())
}
