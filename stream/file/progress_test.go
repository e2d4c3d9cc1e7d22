package file

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/stream"
)

func publishBatch(t *testing.T, s *Sink, batch uint64, value string) stream.Mark {
	t.Helper()
	require.NoError(t, s.Begin(t.Context(), batch))
	require.NoError(t, s.Write(t.Context(), []stream.OutRecord{{Value: []byte(value)}}))
	m, err := s.End(t.Context(), stream.Tail{})
	require.NoError(t, err)
	return m
}

// TestP3OldCheckpointIsRefused: the mark of an old copy neither cuts off the output nor passes for that of a crash.
func TestP3OldCheckpointIsRefused(t *testing.T) {
	opt := SinkOptions{Output: filepath.Join(t.TempDir(), "out"), NoSync: true}
	s := newSink(t, opt)
	open(t, s, 0, nil, true)
	marks := []stream.Mark{nil}
	for n := uint64(1); n <= 4; n++ {
		marks = append(marks, publishBatch(t, s, n, "1234567"))
	}
	require.NoError(t, s.Close())
	whole, err := os.ReadFile(opt.Output)
	require.NoError(t, err)
	for old := range uint64(3) {
		s = newSink(t, opt)
		_, err := s.Open(t.Context(), "id", old, marks[old], false)
		require.ErrorIs(t, err, stream.ErrOldCheckpoint, "a copy of batch %d", old)
		require.ErrorContains(t, err, "the output is at batch 4")
	}
	s = newSink(t, opt)
	require.True(t, open(t, s, 3, marks[3], false).Begun, "whether batch 4 is in hand is the pipeline's to know")
	require.NoError(t, s.Close())
	s = newSink(t, opt)
	require.False(t, open(t, s, 4, marks[4], false).Begun)
	require.NoError(t, s.Close())
	_, err = newSink(t, opt).Open(t.Context(), "another", 4, marks[4], false)
	require.ErrorIs(t, err, stream.ErrMismatch)
	require.NotErrorIs(t, err, stream.ErrOldCheckpoint)
	now, err := os.ReadFile(opt.Output)
	require.NoError(t, err)
	require.Equal(t, whole, now, "nothing was touched")

	opt.ResetProgress = true
	s = newSink(t, opt)
	require.False(t, open(t, s, 2, marks[2], false).Begun)
	publishBatch(t, s, 3, "new")
	require.NoError(t, s.Close())
	now, err = os.ReadFile(opt.Output)
	require.NoError(t, err)
	require.Equal(t, "1234567\n1234567\nnew\n", string(now))
}

// TestP3CopyThatCutAnotherBatchIsRefused: the batch in progress has the number, but not the intent, of the one that was
// published.
func TestP3CopyThatCutAnotherBatchIsRefused(t *testing.T) {
	opt := SinkOptions{Output: filepath.Join(t.TempDir(), "out"), NoSync: true}
	s := newSink(t, opt)
	open(t, s, 0, nil, true)
	m := publishBatch(t, s, 1, "one")
	s.NextDigest("b's")
	publishBatch(t, s, 2, "two")
	require.NoError(t, s.Close())
	s = newSink(t, opt)
	s.CheckProgress(func(p stream.Progress) error {
		require.Equal(t, stream.Progress{Stream: "id", Batch: 2, Index: 1, Known: true, Digest: "b's"}, p)
		return stream.ErrDiverged
	})
	_, err := s.Open(t.Context(), "id", 1, m, false)
	require.ErrorIs(t, err, stream.ErrDiverged)
	require.Len(t, lines(t, opt.Output), 2, "nothing is cut off")
}

// TestTornProgress: a crash tears at most the record that is being written, and one of the two is whole.
func TestTornProgress(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	var p progress
	require.NoError(t, p.open(path))
	for n := uint64(1); n <= 5; n++ {
		require.NoError(t, p.begin("s", n, ""))
	}
	require.NoError(t, p.close())
	data, err := os.ReadFile(path + progressSuffix)
	require.NoError(t, err)
	for at := range progressSlot {
		torn := append([]byte{}, data...)
		torn[progressSlot+at] ^= 1 // the slot of batch 5
		require.NoError(t, os.WriteFile(path+progressSuffix, torn, 0o600))
		require.NoError(t, p.open(path))
		require.Equal(t, "s", p.stream)
		require.Contains(t, []uint64{4, 5}, p.batch)
		require.NoError(t, p.close())
	}
}
