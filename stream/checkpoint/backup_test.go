package checkpoint

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
)

// TestBackup copies a checkpoint after each step of a history, with the daemon's store open, and writes on. Each copy
// equals the checkpoint at that moment, opens, and fits together; nobody but the owner reads it.
func TestBackup(t *testing.T) {
	h := newHistory(newRand(5), 12, true)
	dir, backups := filepath.Join(t.TempDir(), "state"), t.TempDir()
	opt := testOptions(h, nil)
	opt.memTable = 256 << 10
	s, err := Open(dir, opt)
	require.NoError(t, err)
	path := func(i int) string { return filepath.Join(backups, string(rune('a'+i)), "copy") }
	for i, st := range h.steps {
		require.NoError(t, st.do(s), st.name)
		require.NoError(t, s.Backup(path(i)))
	}
	require.ErrorContains(t, s.Backup(filepath.Join(dir, "x")), "inside the checkpoint")
	require.ErrorIs(t, s.Backup(path(0)), fs.ErrExist)
	require.NoError(t, s.Close())
	for i, st := range h.steps {
		v, err := Verify(t.Context(), path(i), nil, nil)
		require.NoError(t, err)
		require.Empty(t, v.Problems)
		requireSame(t, st.after, recoveredAt(t, path(i), opt), st.name)
		require.NoError(t, filepath.WalkDir(path(i), func(name string, d fs.DirEntry, err error) error {
			require.NoError(t, err)
			info, err := d.Info()
			require.NoError(t, err)
			require.Zero(t, info.Mode().Perm()&0o077, name)
			return nil
		}))
	}
	last := filepath.Join(backups, "stopped")
	require.NoError(t, Backup(dir, last, nil))
	requireSame(t, h.steps[len(h.steps)-1].after, recoveredAt(t, last, opt))
}

// TestCopiesGoWithTheNextOpen but for one that somebody reads.
func TestCopiesGoWithTheNextOpen(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, Options{})
	require.NoError(t, err)
	left, _, err := s.Copy()
	require.NoError(t, err)
	read, _, err := s.Copy()
	require.NoError(t, err)
	gone, remove, err := s.Copy()
	require.NoError(t, err)
	require.NoError(t, remove())
	require.NoDirExists(t, filepath.Join(dir, gone))
	r, err := OpenReplay(filepath.Join(dir, read), nil)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	s, err = Open(dir, Options{})
	require.NoError(t, err)
	require.NoDirExists(t, filepath.Join(dir, left))
	require.DirExists(t, filepath.Join(dir, read))
	require.NoError(t, r.Close())
	require.NoError(t, s.Close())
}

// full is a file system of which one directory is full.
type full struct {
	vfs.FS
	dir string
}

var errFull = errors.New("no space left there")

func (f full) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, c)
	if err == nil && strings.HasPrefix(name, f.dir) {
		return fullFile{file}, nil
	}
	return file, err
}

type fullFile struct{ vfs.File }

func (fullFile) Write([]byte) (int, error) { return 0, errFull }

// TestABackupThatFailsHarmsNothing: a full disk under the backup is the backup's trouble alone, and leaves nothing
// there.
func TestABackupThatFailsHarmsNothing(t *testing.T) {
	h := newHistory(newRand(6), 4, false)
	mem := vfs.NewMem()
	opt := testOptions(h, full{mem, "backup"})
	s, err := Open(testDir, opt)
	require.NoError(t, err)
	for _, st := range h.steps {
		require.ErrorIs(t, s.Backup("backup"), errFull)
		require.NoError(t, st.do(s))
	}
	require.NoError(t, s.Close())
	_, err = mem.Stat("backup")
	require.ErrorIs(t, err, os.ErrNotExist)
	requireSame(t, h.steps[len(h.steps)-1].after, recovered(t, opt))
}
