package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// fault holds the first failure of a store.
type fault struct {
	first atomic.Pointer[error]
	log   func(string)
	// closing tells that the store is being closed: merges fail, since Pebble would wait until they are done. The next
	// start begins them anew.
	closing atomic.Bool
}

// trip records a failure; the first one counts.
func (f *fault) trip(op, name string, err error) {
	err = fmt.Errorf("%s %s: %w", op, name, err)
	if f.first.CompareAndSwap(nil, &err) && f.log != nil {
		f.log(err.Error())
	}
}

// err returns the first failure, or nil.
func (f *fault) err() error {
	if p := f.first.Load(); p != nil {
		return *p
	}
	return nil
}

func (f *fault) tripped() bool { return f.first.Load() != nil }

// mergeCategory is Pebble's category of the files that merges write.
const mergeCategory vfs.DiskWriteCategory = "pebble-compaction"

// failStop is a file system that stops at the first write that fails: from then on it drops every change and reports
// success. What is on disk stays as a crash at that moment would have left it.
//
// Pebble answers a failed write to its log or manifest by ending the process, at some places with a lock in a state
// that cannot be recovered from. Behind failStop it never sees such a failure; the store asks the fault after every
// write instead.
type failStop struct {
	vfs.FS
	fault *fault
	os    bool // FS is the operating system's
	// copyDir is the directory that a copy of the store is being made in; nil when there is none.
	copyDir atomic.Pointer[string]
	// locked tells that the directory's lock is held by somebody else: Pebble passes on whatever error the operating
	// system has for it.
	locked bool
}

// errClosing is the error of a merge that is stopped because the store is closed.
var errClosing = errors.New("the checkpoint is being closed")

// Lock takes the file's lock, which former versions know alone, and the directory's own, which stays when the file is
// deleted.
func (s *failStop) Lock(name string) (io.Closer, error) {
	c, err := s.FS.Lock(name)
	if err == nil {
		s.private(name)
		var dir io.Closer
		if dir, err = s.lockDir(s.FS.PathDir(name)); err == nil {
			return locks{dir, c}, nil
		}
		err = errors.Join(err, c.Close())
	}
	// An error about the path comes from creating the lock's file, and a bare EAGAIN or EACCES from locking it; when
	// this process has the lock, there is only a message.
	var path *os.PathError
	s.locked = err != nil && !errors.As(err, &path) &&
		(errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) ||
			strings.Contains(err.Error(), "lock held by current process"))
	return c, err
}

// locks is a file's lock and its directory's.
type locks [2]io.Closer

// Close lets go of both.
func (l locks) Close() error { return errors.Join(l[0].Close(), l[1].Close()) }

// lockDir locks a directory until it is closed, where the file system has descriptors.
func (s *failStop) lockDir(name string) (io.Closer, error) {
	d, err := s.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	if fd := d.Fd(); fd != vfs.InvalidFd {
		if err := flock(fd); err != nil {
			return nil, errors.Join(err, d.Close())
		}
	}
	return d, nil
}

// private takes a file of the operating system from everybody but its owner. On a file system without modes the file
// stays as it was made; the directory protects it all the same.
func (s *failStop) private(name string) {
	if s.os {
		_ = os.Chmod(name, 0o600)
	}
}

// closeToOthers takes a directory that was there before from those who are neither its owner nor of its group. It is a
// precaution that the owner alone can take: on a volume that belongs to somebody else the directory stays as it is.
func (s *failStop) closeToOthers(dir string) {
	if !s.os {
		return
	}
	if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o007 != 0 {
		_ = os.Chmod(dir, info.Mode()&^0o007)
	}
}

// foreign reports whether a name belongs to the copy that is being made of the store, or is of a directory above it: a
// failure there is the copy's, and is returned.
func (s *failStop) foreign(name string) bool {
	copyDir := s.copyDir.Load()
	if copyDir == nil {
		return false
	}
	below := func(name, dir string) bool {
		rest, ok := strings.CutPrefix(name, dir)
		return ok && (rest == "" || os.IsPathSeparator(rest[0]) || os.IsPathSeparator(dir[len(dir)-1]))
	}
	name = filepath.Clean(name)
	return below(name, *copyDir) || below(*copyDir, name)
}

func (s *failStop) create(op, name string, open func() (vfs.File, error)) (vfs.File, error) {
	if s.foreign(name) {
		f, err := open()
		if err == nil {
			s.private(name)
		}
		return f, err
	}
	if !s.fault.tripped() {
		f, err := open()
		if err == nil {
			s.private(name)
			return &failStopFile{f, name, s.fault}, nil
		}
		s.fault.trip(op, name, err)
	}
	return sinkhole{}, nil
}

// Create syncs the directory before a marker is created in it: Pebble does so only afterwards, so that on a file system
// that reorders directory entries a crash could keep the marker and lose the file that it names.
func (s *failStop) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if strings.HasPrefix(s.FS.PathBase(name), "marker.") {
		dir, err := s.OpenDir(s.FS.PathDir(name))
		if err != nil {
			return nil, err
		}
		if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
			return nil, err
		}
	}
	f, err := s.create("create", name, func() (vfs.File, error) { return s.FS.Create(name, c) })
	if err == nil && c == mergeCategory {
		f = mergeFile{f, s.fault}
	}
	return f, err
}

func (s *failStop) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return s.create("open", name, func() (vfs.File, error) { return s.FS.OpenReadWrite(name, c, opts...) })
}

func (s *failStop) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return s.create("reuse", newname, func() (vfs.File, error) { return s.FS.ReuseForWrite(oldname, newname, c) })
}

func (s *failStop) OpenDir(name string) (vfs.File, error) {
	f, err := s.FS.OpenDir(name)
	if err != nil || s.foreign(name) {
		return f, err
	}
	return &failStopFile{f, name, s.fault}, nil
}

// Link may fail where links are not supported; the caller then copies.
func (s *failStop) Link(oldname, newname string) error {
	if s.fault.tripped() && !s.foreign(newname) {
		return nil
	}
	return s.FS.Link(oldname, newname)
}

// Remove may fail (the file is gone already); nothing is lost by it.
func (s *failStop) Remove(name string) error {
	if s.fault.tripped() {
		return nil
	}
	return s.FS.Remove(name)
}

func (s *failStop) RemoveAll(name string) error {
	if s.fault.tripped() && !s.foreign(name) {
		return nil
	}
	return s.FS.RemoveAll(name)
}

func (s *failStop) Rename(oldname, newname string) error {
	if s.foreign(newname) {
		return s.FS.Rename(oldname, newname)
	}
	if s.fault.tripped() {
		return nil
	}
	if err := s.FS.Rename(oldname, newname); err != nil {
		s.fault.trip("rename", oldname, err)
	}
	return nil
}

func (s *failStop) MkdirAll(name string, perm os.FileMode) error {
	if s.foreign(name) {
		return s.FS.MkdirAll(name, perm&0o700)
	}
	if !s.fault.tripped() {
		if err := s.FS.MkdirAll(name, perm&0o700); err != nil {
			s.fault.trip("create directory", name, err)
		}
	}
	return nil
}

// Unwrap returns the file system below.
func (s *failStop) Unwrap() vfs.FS { return s.FS }

type failStopFile struct {
	vfs.File
	name  string
	fault *fault
}

func (f *failStopFile) Write(p []byte) (int, error) {
	n := len(p) // the file below may change p
	if !f.fault.tripped() {
		if _, err := f.File.Write(p); err != nil {
			f.fault.trip("write", f.name, err)
		}
	}
	return n, nil
}

func (f *failStopFile) WriteAt(p []byte, off int64) (int, error) {
	n := len(p)
	if !f.fault.tripped() {
		if _, err := f.File.WriteAt(p, off); err != nil {
			f.fault.trip("write", f.name, err)
		}
	}
	return n, nil
}

func (f *failStopFile) Sync() error     { return f.sync(f.File.Sync) }
func (f *failStopFile) SyncData() error { return f.sync(f.File.SyncData) }

func (f *failStopFile) sync(do func() error) error {
	if !f.fault.tripped() {
		if err := do(); err != nil {
			f.fault.trip("sync", f.name, err)
		}
	}
	return nil
}

func (f *failStopFile) SyncTo(length int64) (bool, error) {
	if f.fault.tripped() {
		return false, nil
	}
	full, err := f.File.SyncTo(length)
	if err != nil {
		f.fault.trip("sync", f.name, err)
	}
	return full, nil
}

// Preallocate is a hint: where it fails, the write that follows tells.
func (f *failStopFile) Preallocate(off, length int64) error {
	if !f.fault.tripped() {
		_ = f.File.Preallocate(off, length)
	}
	return nil
}

// Stat is asked for files that were opened to be written: the recycled write-ahead log.
func (f *failStopFile) Stat() (vfs.FileInfo, error) {
	info, err := f.File.Stat()
	if err != nil {
		f.fault.trip("stat", f.name, err)
		return emptyFile{}, nil
	}
	return info, nil
}

func (f *failStopFile) Close() error {
	if err := f.File.Close(); err != nil {
		f.fault.trip("close", f.name, err)
	}
	return nil
}

// mergeFile is a file that a merge writes.
type mergeFile struct {
	vfs.File
	fault *fault
}

func (f mergeFile) Write(p []byte) (int, error) {
	if f.fault.closing.Load() {
		return 0, errClosing
	}
	return f.File.Write(p)
}

// sinkhole is the file that a stopped file system creates.
type sinkhole struct{}

func (sinkhole) Close() error                           { return nil }
func (sinkhole) Read([]byte) (int, error)               { return 0, io.EOF }
func (sinkhole) ReadAt([]byte, int64) (int, error)      { return 0, io.EOF }
func (sinkhole) Write(p []byte) (int, error)            { return len(p), nil }
func (sinkhole) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }
func (sinkhole) Preallocate(_, _ int64) error           { return nil }
func (sinkhole) Stat() (vfs.FileInfo, error)            { return emptyFile{}, nil }
func (sinkhole) Sync() error                            { return nil }
func (sinkhole) SyncTo(int64) (bool, error)             { return false, nil }
func (sinkhole) SyncData() error                        { return nil }
func (sinkhole) Prefetch(_, _ int64) error              { return nil }
func (sinkhole) Fd() uintptr                            { return vfs.InvalidFd }

// emptyFile describes a sinkhole.
type emptyFile struct{}

func (emptyFile) Name() string           { return "" }
func (emptyFile) Size() int64            { return 0 }
func (emptyFile) Mode() os.FileMode      { return 0o644 }
func (emptyFile) ModTime() time.Time     { return time.Time{} }
func (emptyFile) IsDir() bool            { return false }
func (emptyFile) Sys() any               { return nil }
func (emptyFile) DeviceID() vfs.DeviceID { return vfs.DeviceID{} }

// logger passes on what Pebble has to say about failures, and takes a fatal error as a failure of the store: it does
// not end the process.
type logger struct{ fault *fault }

func (logger) Infof(string, ...any) {}

func (l logger) Errorf(format string, args ...any) {
	if l.fault.log != nil && !l.fault.closing.Load() {
		l.fault.log(firstLine(fmt.Sprintf(format, args...)))
	}
}

func (l logger) Fatalf(format string, args ...any) {
	l.fault.trip("storage", "engine", fmt.Errorf(format, args...))
}
