//go:build ptx

package kernels_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// TestCubinsAreWhatThePTXGives assembles the committed PTX with the pinned ptxas and compares with what is committed.
func TestCubinsAreWhatThePTXGives(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("cubin/generate.sh", dir).CombinedOutput(); err != nil {
		t.Fatalf("cubin/generate.sh: %v\n%s", err, out)
	}
	kernels, err := filepath.Glob("ptx/*.ptx")
	if err != nil || len(kernels) == 0 {
		t.Fatal(kernels, err)
	}
	if folders, _ := filepath.Glob("cubin/sm_*"); len(folders) != 2 {
		t.Errorf("there are cubins in %s", folders)
	}
	for _, device := range []string{"sm_80", "sm_90"} {
		if committed, _ := filepath.Glob("cubin/" + device + "/*"); len(committed) != len(kernels) {
			t.Errorf("%d kernels and %d files in cubin/%s", len(kernels), len(committed), device)
		}
		for _, k := range kernels {
			name := filepath.Join(device, strings.TrimSuffix(filepath.Base(k), ".ptx")+".cubin.gz")
			want, err := unzipped(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			got, err := unzipped(filepath.Join("cubin", name))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("cubin/%s is not what %s gives (%v): run cubin/generate.sh", name, k, err)
			}
		}
	}
}

// unzipped reads a file of gzip, of which versions may write other bytes for the same content.
func unzipped(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
