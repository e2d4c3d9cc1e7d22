//go:build unix

package checkpoint

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/stream"
)

// TestLockIsTheDirectorys: without its LOCK file, the checkpoint is still locked.
func TestLockIsTheDirectorys(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, Options{})
	require.NoError(t, err)
	defer s.Close()
	// Pebble's own lock knows this process by the path: another path to the directory stands for another process.
	other := filepath.Join(t.TempDir(), "other")
	require.NoError(t, os.Symlink(dir, other))
	require.NoError(t, os.Remove(filepath.Join(dir, "LOCK")))
	_, err = Open(other, Options{})
	require.ErrorIs(t, err, stream.ErrLocked)
	require.ErrorContains(t, err, "deleting the file LOCK does not help")
	_, err = Info(other, nil)
	require.ErrorIs(t, err, stream.ErrLocked)
}

// TestP7CheckpointIsPrivate: nobody but the owner reads the graph.
func TestP7CheckpointIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	for range 2 {
		s, err := Open(dir, Options{})
		require.NoError(t, err)
		require.NoError(t, s.Close())
	}
	files := 0
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		if files++; d.IsDir() {
			require.Equal(t, fs.FileMode(0o700), info.Mode().Perm(), path)
		} else {
			require.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), path)
		}
		return nil
	}))
	require.Greater(t, files, 4)

	require.NoError(t, os.Chmod(dir, 0o755)) // as a former version made it
	s, err := Open(dir, Options{})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o750), info.Mode().Perm())
}
