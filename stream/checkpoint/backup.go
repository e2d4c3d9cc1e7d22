package checkpoint

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// copiesDir, inside the checkpoint, holds the copies that Copy makes.
const copiesDir = "copies"

// Backup copies the checkpoint in dir, on which no daemon runs, to a directory that is not there; fs nil is the
// operating system's file system. It fails as Open does, or with ErrNone.
func Backup(dir, to string, fs vfs.FS) error {
	s, err := Open(dir, Options{FS: fs, existing: true})
	if err != nil {
		return err
	}
	return errors.Join(s.Backup(to), s.Close())
}

// Backup copies the checkpoint as it is at one moment, between two writes, to a directory that is not there. Writing
// goes on meanwhile, and a failure there does not concern it. On the same file system tables are linked, not copied,
// and take no room before they are merged here.
func (s *Store) Backup(to string) error {
	inside, err := within(s.db.dir, to)
	if err == nil && inside {
		err = fmt.Errorf("%s is inside the checkpoint", to)
	}
	if err == nil {
		err = s.copyTo(to)
	}
	if err != nil {
		return fmt.Errorf("checkpoint %s: backup: %w", s.db.dir, err)
	}
	return nil
}

func (s *Store) copyTo(to string) error {
	if err := s.db.broken(); err != nil {
		return err
	}
	s.copying.Lock()
	defer s.copying.Unlock()
	to = filepath.Clean(to)
	s.db.fs.copyDir.Store(&to)
	defer s.db.fs.copyDir.Store(nil)
	if err := s.db.Checkpoint(to); err != nil {
		return err
	}
	return s.db.broken() // it may have been linked from a directory that is not written any more
}

// within reports whether path is dir, or below it.
func within(dir, path string) (bool, error) {
	rel, err := relative(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)), err
}

// relative is filepath.Rel for paths of which one may be absolute and the other not.
func relative(dir, path string) (string, error) {
	var err error
	if dir, err = filepath.Abs(dir); err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", err
	}
	return filepath.Rel(dir, path)
}

// Copy makes a copy inside the checkpoint's directory, which others may read and which goes with remove. It returns
// where the copy is, seen from that directory. A copy that is left behind goes with the next Open, unless somebody
// reads it.
func (s *Store) Copy() (name string, remove func() error, err error) {
	if err := os.MkdirAll(filepath.Join(s.db.dir, copiesDir), 0o700); err != nil {
		return "", nil, err
	}
	name = filepath.Join(copiesDir, newStreamID())
	path := filepath.Join(s.db.dir, name)
	if err := s.copyTo(path); err != nil {
		return "", nil, fmt.Errorf("checkpoint %s: copy: %w", s.db.dir, err)
	}
	return name, func() error { return os.RemoveAll(path) }, nil
}

// removeCopies removes the copies that nobody reads. What cannot be removed does no harm but take room.
func (d *database) removeCopies() {
	if !d.fs.os {
		return
	}
	dir := filepath.Join(d.dir, copiesDir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // most often: there are none
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if f, err := os.Open(path); err == nil {
			if flock(f.Fd()) == nil {
				err = os.RemoveAll(path)
			}
			if err = errors.Join(err, f.Close()); err != nil && d.fault.log != nil {
				d.fault.log(err.Error())
			}
		}
	}
}
