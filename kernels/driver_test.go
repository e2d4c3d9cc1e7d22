//go:build cuda

package kernels_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"motifd/kernels"
)

// opens names the variable under which the test binary opens a GPU and prints what came of it.
const opens = "MOTIFD_TEST_OPEN"

func TestMain(m *testing.M) {
	if os.Getenv(opens) == "" {
		os.Exit(m.Run())
	}
	_, err := kernels.OpenGPU(0)
	var memory *kernels.MemoryError
	for _, known := range []struct {
		name string
		is   bool
	}{
		{"no driver", errors.Is(err, kernels.ErrNoDriver)}, {"old driver", errors.Is(err, kernels.ErrOldDriver)},
		{"no device", errors.Is(err, kernels.ErrNoDevice)}, {"old device", errors.Is(err, kernels.ErrOldDevice)},
		{"memory", errors.As(err, &memory)},
	} {
		if known.is {
			os.Stdout.WriteString(known.name + "; ")
		}
	}
	os.Stdout.WriteString(err.Error())
}

// TestWhatIsMissingIsSaid opens a GPU with drivers that lack something. They are stand-ins, found before the real one.
func TestWhatIsMissingIsSaid(t *testing.T) {
	const (
		found   = "int cuInit(unsigned f) { return 0; }\nint cuDriverGetVersion(int *v) { *v = 12000; return 0; }\n"
		device  = "int cuDeviceGetCount(int *n) { *n = 1; return 0; }\nint cuDeviceGet(int *d, int i) { *d = i; return 0; }\n"
		version = "int cuDeviceGetAttribute(int *a, int which, int d) { *a = which == 75 ? % : 5; return 0; }\n"
		context = "int cuCtxCreate_v2(void **c, unsigned f, int d) { return %; }\n"
	)
	with := func(text, value string) string { return strings.ReplaceAll(text, "%", value) }
	for name, c := range map[string]struct{ source, want string }{
		"a library without anything":   {"int cuNothing;", "no driver; there is no usable NVIDIA driver: libcuda.so.1 has no cuInit"},
		"initialisation finds nothing": {"int cuInit(unsigned f) { return 100; }", "no device; there is no NVIDIA GPU"},
		"initialisation fails":         {"int cuInit(unsigned f) { return 803; }", "no driver; there is no usable NVIDIA driver: its initialisation failed with CUDA error 803"},
		"an old driver":                {"int cuInit(unsigned f) { return 0; }\nint cuDriverGetVersion(int *v) { *v = 10020; return 0; }", "old driver; the NVIDIA driver is too old; one for CUDA 11.0 or later is needed: it is for CUDA 10.2"},
		"no devices":                   {found + "int cuDeviceGetCount(int *n) { *n = 0; return 0; }", "no device; opening GPU 0: there is no NVIDIA GPU"},
		"a driver without functions":   {found, "opening GPU 0: "},
		"an old device":                {found + device + with(version, "6"), "old device; opening GPU 0: the GPU is too old; compute capability 7.5 or later is needed: 6.5"},
		"no memory for a context":      {found + device + with(version, "9") + with(context, "2"), "memory; opening GPU 0: the GPU has too little free memory: OutOfMemory"},
		"a context that fails":         {found + device + with(version, "9") + with(context, "999"), "opening GPU 0: "},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			source := filepath.Join(dir, "driver.c")
			if err := os.WriteFile(source, []byte(c.source), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", filepath.Join(dir, "libcuda.so.1"), source).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), opens+"=1", "LD_LIBRARY_PATH="+dir)
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.HasPrefix(string(out), c.want) {
				t.Errorf("%v\n got %s\nwant %s", err, out, c.want)
			}
		})
	}
}
