//go:build cuda || emu

package kernels

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAvailableMemory has the system and cgroups leave different amounts.
func TestAvailableMemory(t *testing.T) {
	const mib = 1 << 20
	for name, c := range map[string]struct {
		files map[string]string // below proc/ and cgroup/
		want  int64
	}{
		"no cgroup":        {map[string]string{}, 1000 * mib},
		"cgroup version 1": {map[string]string{"proc/self/cgroup": "5:memory:/a\n"}, 1000 * mib},
		"no limit": {map[string]string{"proc/self/cgroup": "0::/a/b\n", "cgroup/a/b/memory.max": "max\n"},
			1000 * mib},
		"own limit": {map[string]string{"proc/self/cgroup": "0::/a/b\n", "cgroup/a/b/memory.max": "524288000\n",
			"cgroup/a/b/memory.current": "314572800\n", "cgroup/a/b/memory.stat": "anon 5\ninactive_file 104857600\n"},
			300 * mib},
		"limit above": {map[string]string{"proc/self/cgroup": "0::/a/b\n", "cgroup/a/memory.max": "524288000\n",
			"cgroup/a/memory.current": "314572800\n"}, 200 * mib},
		"used up": {map[string]string{"proc/self/cgroup": "0::/\n", "cgroup/memory.max": "5\n",
			"cgroup/memory.current": "7\n"}, 0},
	} {
		dir := t.TempDir()
		c.files["proc/meminfo"] = "MemTotal: 2048000 kB\nMemAvailable: 1024000 kB\nHugePages_Total: 0\n"
		for f, text := range c.files {
			f = filepath.Join(dir, f)
			if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(f, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := availableMemory(filepath.Join(dir, "proc"), filepath.Join(dir, "cgroup"))
		if err != nil || got != c.want {
			t.Errorf("%s: %d, %v; want %d", name, got, err, c.want)
		}
	}
	if n, err := hostMemory(); err != nil || n <= 0 {
		t.Errorf("this machine: %d, %v", n, err)
	}
	if _, err := availableMemory(t.TempDir(), ""); err == nil {
		t.Error("no error without meminfo")
	}
}
