//go:build cuda || emu

package kernels

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// hostMemory returns how many bytes of the host's memory are available to this process without swapping, by the system
// and by the process's cgroup (version 2), if it has one with a limit.
func hostMemory() (int64, error) { return availableMemory("/proc", "/sys/fs/cgroup") }

func availableMemory(proc, cgroups string) (int64, error) {
	of, err := fields(filepath.Join(proc, "meminfo"))
	if err != nil {
		return 0, fmt.Errorf("looking for available memory: %w", err)
	}
	free, ok := of["MemAvailable:"]
	if !ok {
		return 0, fmt.Errorf("looking for available memory: %s/meminfo has no MemAvailable", proc)
	}
	free <<= 10 // it is in kB
	self, err := os.ReadFile(filepath.Join(proc, "self/cgroup"))
	if err != nil {
		return free, nil
	}
	for line := range strings.Lines(string(self)) {
		path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok {
			continue
		}
		for dir := path; ; dir = filepath.Dir(dir) {
			free = min(free, cgroupMemory(filepath.Join(cgroups, dir), free))
			if dir == "/" || dir == "." {
				break
			}
		}
	}
	return free, nil
}

// cgroupMemory returns what a cgroup leaves of its limit, where caches of files give way; most without a limit.
func cgroupMemory(dir string, most int64) int64 {
	number := func(name string) (int64, bool) {
		b, err := os.ReadFile(filepath.Join(dir, name))
		n, e := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
		return n, err == nil && e == nil
	}
	limit, ok := number("memory.max")
	if !ok { // no limit ("max"), or no such cgroup
		return most
	}
	used, ok := number("memory.current")
	if !ok {
		return most
	}
	stat, _ := fields(filepath.Join(dir, "memory.stat"))
	return max(0, limit-used+stat["inactive_file"])
}

// fields reads lines of a name and a number.
func fields(path string) (map[string]int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, s := map[string]int64{}, bufio.NewScanner(f)
	for s.Scan() {
		if of := strings.Fields(s.Text()); len(of) >= 2 {
			if n, err := strconv.ParseInt(of[1], 10, 64); err == nil {
				all[of[0]] = n
			}
		}
	}
	return all, s.Err()
}
