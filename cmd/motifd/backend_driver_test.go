//go:build cuda

package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
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
	program := buildCUDA(t, dir)
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

// refusing is a driver for a device of compute capability 9.0 that loads no cubin and has no memory.
const refusing = `
#include <string.h>
int cuInit(unsigned flags) { return 0; }
int cuDriverGetVersion(int *version) { *version = 12000; return 0; }
int cuDeviceGetCount(int *n) { *n = 1; return 0; }
int cuDeviceGet(int *d, int i) { *d = i; return 0; }
int cuDeviceGetAttribute(int *a, int which, int d) { *a = which == 75 ? 9 : which == 76 ? 0 : 5; return 0; }
int cuDeviceGetName(char *name, int n, int d) { strcpy(name, "a stand-in"); return 0; }
int cuCtxCreate_v2(void **c, unsigned flags, int d) { return 0; }
int cuCtxDestroy_v2(void *c) { return 0; }
int cuCtxSetCurrent(void *c) { return 0; }
int cuMemGetInfo_v2(unsigned long *free, unsigned long *all) { *free = *all = 1; return 0; }
int cuMemAlloc_v2(unsigned long long *p, unsigned long n) { return 2; }
int cuModuleLoadData(void **m, const char *image) { return memcmp(image, "\177ELF", 4) ? 0 : 209; }
int cuModuleGetFunction(void **f, void *m, const char *name) { return 0; }
int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, void *f, int b, unsigned long s, unsigned flags) {
	*n = 1;
	return 0;
}
`

// TestNoDriverForCubins holds that motifd-cuda logs once that the driver refuses the machine code of the kernels, and
// not where CUDA_FORCE_PTX_JIT has it load none. It logs what it has loaded.
func TestNoDriverForCubins(t *testing.T) {
	dir := write(t, map[string]string{
		"driver.c": refusing, "u.txt": "v 0 0\nv 1 1\ne 0 1\n", "q.txt": "v 0 0\nv 1 1\ne 0 1\n",
	})
	out, err := exec.Command("cc", "-shared", "-fPIC", "-o", filepath.Join(dir, "libcuda.so.1"),
		filepath.Join(dir, "driver.c")).CombinedOutput()
	require.NoError(t, err, string(out))
	program := buildCUDA(t, dir)
	t.Setenv("LD_LIBRARY_PATH", dir)
	refused := regexp.MustCompile(`loading kernel \w+: NoBinaryForGpu`)
	for force, want := range map[string]int{"": 1, "1": 0} {
		t.Setenv("CUDA_FORCE_PTX_JIT", force)
		got := runProgram(t, program, dir, "replay", "--updates", "u.txt", "--query", "q.txt", "--backend", "cuda")
		require.Equal(t, want, strings.Count(got.stderr, "the driver refuses the machine code"), got.stderr)
		require.Len(t, refused.FindAllString(got.stderr, -1), want, got.stderr)
		require.Equal(t, 1, strings.Count(got.stderr, `"code":"ptx"`), got.stderr)
	}
}

// buildCUDA builds motifd-cuda.
func buildCUDA(t *testing.T, dir string) string {
	t.Helper()
	program := filepath.Join(dir, "motifd-cuda")
	out, err := exec.Command("go", "build", "-tags", "cuda", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	return program
}
