//go:build unix

package checkpoint

import "golang.org/x/sys/unix"

// flock locks an open file or directory until it is closed.
func flock(fd uintptr) error { return unix.Flock(int(fd), unix.LOCK_EX|unix.LOCK_NB) }
