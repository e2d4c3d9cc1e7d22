package kernels_test

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSums compares the checksums that `make ptx` wrote with the files: a kernel that was changed and not compiled, or
// compiled code that was changed, is found without a compiler. `make test-ptx` compiles.
func TestSums(t *testing.T) {
	want := make(map[string]string)
	text, err := os.ReadFile("sums")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		want[name] = sum
	}
	got := make(map[string]string)
	for _, pattern := range []string{"*.cu", "*.cuh", "ptx/*", "cubin/*.sh", "cubin/*/*"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(names), err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got[name] = fmt.Sprintf("%x", sha256.Sum256(data))
		}
	}
	all := maps.Clone(want)
	maps.Copy(all, got)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if want[name] != got[name] {
			t.Errorf("kernels/%s is not what kernels/sums has: run make ptx", name)
		}
	}
}
