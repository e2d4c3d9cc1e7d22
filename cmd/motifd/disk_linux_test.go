package main

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
)

// TestP3DiskFullOfTmpfs is TestP3DiskFull on a real file system that is full, and is then enlarged. It needs the
// right to mount one; without it, TestP3DiskFull alone tells.
func TestP3DiskFullOfTmpfs(t *testing.T) {
	t.Parallel()
	matchertest.NotUnderRace(t, "TestP3DiskFull has the same goroutines")
	d := newOnDisk(t, testLog(t), "tmpfs")
	mount := func(sub string) error {
		dir := filepath.Join(d.dir, sub)
		err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m")
		if err == nil {
			t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, 0)) })
		}
		return err
	}
	err := mount("state")
	if errors.Is(err, syscall.EPERM) {
		t.Log("mounting is not permitted here")
		return
	}
	require.NoError(t, err)
	larger := func(sub string) {
		require.NoError(t, syscall.Mount("tmpfs", filepath.Join(d.dir, sub), "tmpfs", syscall.MS_REMOUNT, "size=64m"))
	}
	d.fails(start(t, d.dir), "checkpoint state: the checkpoint cannot be written any more", "no space left on device")
	d.fails(start(t, d.dir), "no space left on device") // still no space
	larger("state")
	d.goesOn()

	require.NoError(t, mount("spill"))
	d.pathsThrough(100)
	p := start(t, d.dir)
	d.send("a", "hub", "U", 20<<10)
	d.failed(p, "spool of the open transaction", "no space left on device")
	larger("spill")
	d.goesOn()
}
