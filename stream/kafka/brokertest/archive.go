//go:build kafka && unix

package brokertest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// classArchive returns the path of Java's archive of the classes that a broker loads (class data sharing), beside the
// jars. With it a broker starts in half the processor time. Java ignores an archive that is not there, or that another
// Java wrote.
func (b *Broker) classArchive() string { return filepath.Join(b.lib, "classes.jsa") }

// makeArchive has a broker write the archive if there is none. Test processes that start at the same time wait for the
// first one to do it.
func makeArchive(t testing.TB, lib string) {
	t.Helper()
	b := &Broker{dir: t.TempDir(), lib: lib}
	lock, err := os.OpenFile(b.classArchive()+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }() // releases the lock
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatalf("lock %s: %v", lock.Name(), err)
	}
	if _, err := os.Stat(b.classArchive()); err == nil {
		return
	} else if !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	b.configure(t, nil)
	b.format(t, clusterID())
	b.archiveAtExit = b.classArchive() + ".new"
	t.Cleanup(b.Kill)
	b.Launch(t)
	b.Stop(t)
	if err := os.Rename(b.archiveAtExit, b.classArchive()); err != nil {
		t.Fatalf("the broker has left no archive of its classes: %v", err)
	}
}
