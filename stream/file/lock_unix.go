//go:build unix

package file

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"motifd/stream"
)

// lock takes the file for this process until it is closed.
func lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return stream.ErrLocked
	}
	return err
}
