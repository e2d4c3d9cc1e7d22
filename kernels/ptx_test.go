//go:build ptx

package kernels_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestPTXIsWhatTheSourcesGive compiles the kernels with the pinned compiler and compares with what is committed.
func TestPTXIsWhatTheSourcesGive(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("ptx/generate.sh", dir).CombinedOutput(); err != nil {
		t.Fatalf("ptx/generate.sh: %v\n%s", err, out)
	}
	sources, err := filepath.Glob("*.cu")
	if err != nil || len(sources) == 0 {
		t.Fatal(sources, err)
	}
	committed, _ := filepath.Glob("ptx/*.ptx")
	if len(committed) != len(sources) {
		t.Errorf("%d kernels and %d files in ptx", len(sources), len(committed))
	}
	for _, s := range sources {
		name := s[:len(s)-len(".cu")] + ".ptx"
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("ptx", name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("ptx/%s is not what %s gives (%v): run ptx/generate.sh", name, s, err)
		}
	}
}
