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

// TestDirectoryOfOthers: a directory with other files is refused and stays as it is, its mode included. What the file
// system keeps in an empty volume is no hindrance.
func TestDirectoryOfOthers(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o755))
	notes := filepath.Join(dir, "notes.txt")
	require.NoError(t, os.WriteFile(notes, nil, 0o644))
	_, err := Open(dir, Options{})
	require.ErrorIs(t, err, ErrNone)
	require.ErrorContains(t, err, "it has other files, such as notes.txt")
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o755), info.Mode().Perm())
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, names, 1)

	require.NoError(t, os.Remove(notes))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "lost+found"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".snapshot"), nil, 0o600))
	s, err := Open(dir, Options{})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoError(t, os.WriteFile(notes, nil, 0o644)) // beside a checkpoint it does not matter
	s, err = Open(dir, Options{})
	require.NoError(t, err)
	require.NoError(t, s.Close())
}
