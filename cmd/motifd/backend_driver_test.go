//go:build cuda

package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNoDriver replays a stream with motifd-cuda where the driver's library is none: auto searches on the CPU, as the
// default build does, and cuda is refused.
func TestNoDriver(t *testing.T) {
	dir := write(t, map[string]string{
		"libcuda.so.1": "found before a driver that this machine may have",
		"u.txt":        "v 0 0\nv 1 1\nv 2 0\ne 0 1\ne 1 2\n-e 0 1\n", "q.txt": "v 0 0\nv 1 1\nv 2 0\ne 0 1\ne 1 2\n",
	})
	program := filepath.Join(dir, "motifd-cuda")
	out, err := exec.Command("go", "build", "-tags", "cuda", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	t.Setenv("LD_LIBRARY_PATH", dir)
	args := []string{"replay", "--updates", "u.txt", "--query", "q.txt", "--undirected", "--batch", "1", "--backend"}
	want := succeed(t, dir, append(args, "cpu")...)
	require.NotEmpty(t, want.stdout)

	got := runProgram(t, program, dir, append(args, "auto")...)
	require.Zero(t, got.code, got.stderr)
	require.Equal(t, want.stdout, got.stdout)
	require.Contains(t, got.stderr, "no GPU is used; the CPU searches")
	require.Contains(t, got.stderr, "there is no usable NVIDIA driver: "+filepath.Join(dir, "libcuda.so.1"))

	got = runProgram(t, program, dir, append(args, "cuda")...)
	require.Equal(t, exitRefused, got.code, got.stderr)
	require.Contains(t, got.stderr, "--backend: there is no usable NVIDIA driver: "+filepath.Join(dir, "libcuda.so.1"))
	require.Empty(t, got.stdout)
}
