package checkpoint

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// complete tells whether a directory holds a database. One that holds tables or a log, but not the marker that says
// which of its manifests counts, is damaged: Pebble would take it for an empty one, begin a new database in it and
// remove the tables.
func complete(fs vfs.FS, dir string) (bool, error) {
	names, err := fs.List(dir)
	if errors.Is(err, iofs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("checkpoint: %w", err)
	}
	content := ""
	for _, name := range names {
		switch {
		case strings.HasPrefix(name, "marker.manifest."):
			return true, nil
		case strings.HasSuffix(name, ".sst"):
			content = name
		case strings.HasSuffix(name, ".log"):
			if info, err := fs.Stat(fs.PathJoin(dir, name)); err == nil && info.Size() > 0 {
				content = name
			}
		}
	}
	if content == "" {
		return false, nil
	}
	return false, damaged("%s: there is a file %s, but none whose name begins with marker.manifest", dir, content)
}

// tables returns the names of the tables in the directory.
func (d *database) tables() (of []string, err error) {
	names, err := d.fs.List(d.dir)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasSuffix(name, ".sst") }), nil
}

// onlyOurs checks that a directory without a checkpoint holds nothing but what an unfinished start left there, so that
// a new checkpoint neither mixes with the files of others nor takes them from their users. Hidden files and lost+found
// belong to the file system.
func onlyOurs(fs vfs.FS, dir string) error {
	names, err := fs.List(dir)
	if err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return fmt.Errorf("checkpoint: %w", err)
	}
	slices.Sort(names)
	for _, name := range names {
		switch {
		case strings.HasPrefix(name, "."), slices.Contains([]string{"lost+found", "LOCK", "CURRENT", copiesDir}, name):
		case strings.HasPrefix(name, "MANIFEST-"), strings.HasPrefix(name, "OPTIONS-"),
			strings.HasPrefix(name, "marker."), strings.HasPrefix(name, "temporary."):
		case strings.HasSuffix(name, ".log"), strings.HasSuffix(name, ".dbtmp"), strings.HasSuffix(name, ".sock"):
		default:
			return fmt.Errorf("%s: %w in it, and it has other files, such as %s; choose a directory that is empty, "+
				"or is not there yet", dir, ErrNone, name)
		}
	}
	return nil
}

// unreadable answers for a database that cannot be opened or read. What the operating system does not blame on
// something else (a permission, a device) is damage: a file is missing, or holds what was not written.
func unreadable(dir string, err error) error {
	var code syscall.Errno
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case strings.Contains(err.Error(), "format major version"):
		return fmt.Errorf("%s: %w: a later motifd has written it: %s", dir, ErrFormat, firstLine(err.Error()))
	case pebble.IsCorruptionError(err), !errors.As(err, &code), errors.Is(code, syscall.ENOENT):
		if errors.Is(err, ErrDamaged) {
			return err
		}
		return damaged("%s: %s", dir, firstLine(err.Error()))
	}
	return fmt.Errorf("checkpoint %s: %w", dir, err)
}

// firstLine leaves out what Pebble's errors carry for its developers.
func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
