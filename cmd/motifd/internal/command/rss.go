package command

import (
	"bufio"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// PeakRSS returns the most memory that the process has held at a time, in MiB. Where the system does not tell, it is
// what the Go runtime obtained from the system. (getrusage is no help on Linux: a child inherits its parent's peak.)
func PeakRSS() float64 {
	if f, err := os.Open("/proc/self/status"); err == nil {
		defer f.Close() // opened for reading: closing it can lose nothing
		for lines := bufio.NewScanner(f); lines.Scan(); {
			rest, ok := strings.CutPrefix(lines.Text(), "VmHWM:")
			if !ok {
				continue
			}
			if kib, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64); err == nil {
				return kib / 1024
			}
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.Sys) / (1 << 20)
}
