//go:build unix

package cpu

import (
	"syscall"
	"time"
)

// cpuTime is the CPU time that the process has taken. Unlike its parts, of which the system knows the shares only, it
// is exact.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
