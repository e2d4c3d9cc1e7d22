package tempfile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/stream/tempfile"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	f, err := tempfile.Open(dir, "sort")
	require.NoError(t, err)
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, names)
	_, err = f.WriteAt([]byte("kept"), 3)
	require.NoError(t, err)
	got := make([]byte, 7)
	_, err = f.ReadAt(got, 0)
	require.NoError(t, err)
	require.Equal(t, "\x00\x00\x00kept", string(got))
	require.NoError(t, f.Close())

	_, err = tempfile.Open(filepath.Join(dir, "none"), "sort")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, dir)
}
