//go:build cuda

package kernels_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"motifd/kernels"
)

// opens names the variable with the number of a GPU that the test binary opens, and allocates memory of, to print
// what came of it.
const opens = "MOTIFD_TEST_OPEN"

func TestMain(m *testing.M) {
	if os.Getenv(opens) == "" {
		os.Exit(m.Run())
	}
	number, err := strconv.Atoi(os.Getenv(opens))
	if err != nil {
		panic(err)
	}
	g, err := kernels.OpenGPU(number)
	if err == nil && os.Getenv(tells) != "" {
		fmt.Printf("loaded %s; refused: %v; ", g.Info().Code, g.Info().Refused)
	}
	if err == nil && os.Getenv(launches) != "" {
		err = launchWhileCollecting(g)
	}
	if err == nil {
		_, err = g.Alloc(3 << 20)
	}
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

// launches names the variable with which the test binary also launches kernels.
const launches = "MOTIFD_TEST_LAUNCH"

// tells names the variable with which the test binary also prints what the kernels were loaded from.
const tells = "MOTIFD_TEST_TELL"

// launchWhileCollecting launches a kernel again and again while garbage is collected. Its parameters are addresses
// that Go's heap had once.
func launchWhileCollecting(g *kernels.GPU) error {
	params := make([]uint64, 6)
	for i := range params {
		params[i] = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(make([]byte, 1<<20+i)))))
	}
	debug.FreeOSMemory()
	stop, collecting := make(chan struct{}), sync.WaitGroup{}
	collecting.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	})
	defer collecting.Wait()
	defer close(stop)
	for range 100_000 {
		if err := g.Launch("fetch", 7, 32, kernels.Bytes(params)); err != nil {
			return err
		}
	}
	return nil
}

// Sources of stand-ins for the driver's library, each of more functions; % is the result of a call.
const (
	found  = "int cuInit(unsigned f) { return 0; }\nint cuDriverGetVersion(int *v) { *v = 12000; return 0; }\n"
	device = "int cuDeviceGetCount(int *n) { *n = 1; return 0; }\nint cuDeviceGet(int *d, int i) { *d = i; return " +
		"0; }\n"
	version = "int cuDeviceGetAttribute(int *a, int which, int d) { *a = which == 75 ? % : 5; return 0; }\n"
	context = "int cuCtxCreate_v2(void **c, unsigned f, int d) { return %; }\n"
	// the second of two is old
	two = "int cuDeviceGetCount(int *n) { *n = 2; return 0; }\nint cuDeviceGet(int *d, int i) { *d = i; " +
		"return 0; }\n"
	oldSecond = "int cuDeviceGetAttribute(int *a, int which, int d) { *a = which == 75 ? 9 - 3 * d : 5; return 0; }\n"
	// what is asked of a device before kernels are loaded, and what ends its context
	described = "int cuCtxDestroy_v2(void *c) { return 0; }\nint cuDeviceGetName(char *s, int n, int d) { *s = 0; " +
		"return 0; }\n" +
		"int cuMemGetInfo_v2(unsigned long *free, unsigned long *all) { *free = *all = 1; return 0; }\n"
	module   = "int cuModuleLoadData(void **m, const void *ptx) { return %; }\n"
	function = "int cuModuleGetFunction(void **f, void *m, const char *name) { return %; }\n"
	launched = "int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, void *f, int b, unsigned long s, " +
		"unsigned g) { *n = 1; return 0; }\n" +
		"int cuCtxSetCurrent(void *c) { return 0; }\n"
	memory = "int cuMemAlloc_v2(unsigned long long *p, unsigned long n) { return %; }\n"
)

var (
	inContext = found + device + with(version, "9") + with(context, "0") + described
	opened    = inContext + with(module, "0") + with(function, "0") + launched
)

func with(text, value string) string { return strings.ReplaceAll(text, "%", value) }

// TestWhatIsMissingIsSaid opens a GPU with drivers that lack something. They are stand-ins, found before the real one.
func TestWhatIsMissingIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		source string // of the library; empty: an empty file
		number string // of the device; empty: 0
		want   string
	}{
		"no library": {want: "no driver; there is no usable NVIDIA driver: DIR/libcuda.so.1: "},
		"a library without anything": {source: "int cuNothing;",
			want: "no driver; there is no usable NVIDIA driver: libcuda.so.1 has no cuInit"},
		"initialisation finds nothing": {source: "int cuInit(unsigned f) { return 100; }",
			want: "no device; there is no NVIDIA GPU"},
		"initialisation fails": {source: "int cuInit(unsigned f) { return 803; }",
			want: "no driver; there is no usable NVIDIA driver: its initialisation failed with CUDA error 803"},
		"an old driver": {
			source: "int cuInit(unsigned f) { return 0; }\nint cuDriverGetVersion(int *v) { *v = 10020; return 0; }",
			want: "old driver; the NVIDIA driver is too old; one for CUDA 11.0 or later is needed: it is for CUDA " +
				"10.2"},
		"no devices": {source: found + "int cuDeviceGetCount(int *n) { *n = 0; return 0; }",
			want: "no device; opening GPU 0: there is no NVIDIA GPU"},
		"a driver without functions": {source: found, want: "opening GPU 0: "},
		"a number too high": {source: found + device, number: "1",
			want: "no device; opening GPU 1: there is no NVIDIA GPU of this number; there are 1, the first is 0"},
		"a negative number": {source: found + device, number: "-1",
			want: "no device; opening GPU -1: there is no NVIDIA GPU of this number; there are 1, the first is 0"},
		"the second device": {source: found + two + oldSecond, number: "1",
			want: "old device; opening GPU 1: the GPU is too old; compute capability 7.5 or later is needed: 6.5"},
		"an old device": {source: found + device + with(version, "6"),
			want: "old device; opening GPU 0: the GPU is too old; compute capability 7.5 or later is needed: 6.5"},
		"no memory for a context": {source: found + device + with(version, "9") + with(context, "2"),
			want: "memory; opening GPU 0: the GPU has too little free memory: OutOfMemory"},
		"a context that fails": {source: found + device + with(version, "9") + with(context, "999"),
			want: "opening GPU 0: "},
		"no memory for a kernel": {source: inContext + with(module, "2"),
			want: "memory; opening GPU 0: the GPU has too little free memory: loading kernel "},
		"no memory for a function": {source: inContext + with(module, "0") + with(function, "2"),
			want: "memory; opening GPU 0: the GPU has too little free memory: loading kernel "},
		"no memory for data": {source: opened + with(memory, "2"),
			want: "memory; the GPU has no room for another 3 MiB: OutOfMemory"},
		"an allocation that fails": {source: opened + with(memory, "700"), want: "IllegalAddress"},
		"a kernel that is refused": {source: inContext + with(module, "218"),
			want: "opening GPU 0: loading kernel "},
	} {
		t.Run(name, func(t *testing.T) {
			out, dir, err := open(t, c.source, opens+"="+cmp.Or(c.number, "0"))
			if want := strings.ReplaceAll(c.want, "DIR", dir); err != nil || !strings.HasPrefix(out, want) {
				t.Errorf("%v\n got %s\nwant %s", err, out, want)
			}
		})
	}
}

// TestLaunchWhileCollecting launches kernels with a driver that leaves, in freed memory of many sizes, addresses that
// Go's heap had once, as a real one may leave what it was given.
func TestLaunchWhileCollecting(t *testing.T) {
	const leaves = `
#include <stdlib.h>
#include <string.h>
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
	unsigned shared, void *stream, void **params, void **extra) {
	const unsigned long *words = params ? params[0] : extra[1];
	if (gx != 7 || gy != 1 || gz != 1 || bx != 32 || by != 1 || bz != 1 || shared || stream ||
		(extra && *(size_t *)extra[3] != 48))
		return 1;
	for (size_t size = 16; size <= 256; size += 16) {
		void *p[7];
		for (int i = 0; i < 7; i++) {
			p[i] = malloc(size);
			for (size_t at = 0; at < size; at += 16)
				memcpy((char *)p[i] + at, words + 2, 16);
		}
		for (int i = 0; i < 7; i++)
			free(p[i]);
	}
	return %;
}
`
	for name, c := range map[string]struct{ status, want string }{
		// what comes after the launches
		"succeeds": {"0", "memory; the GPU has no room for another 3 MiB: OutOfMemory"},
		"fails":    {"701", "kernel fetch: LaunchOutOfResources"},
	} {
		t.Run(name, func(t *testing.T) {
			out, _, err := open(t, opened+with(memory, "2")+with(leaves, c.status), opens+"=0", launches+"=1")
			if err != nil || out != c.want {
				t.Errorf("%v\n got %s\nwant %s", err, out, c.want)
			}
		})
	}
}

// open runs the test binary with a driver's library that is made from a source, or is an empty file, in a folder.
func open(t *testing.T, source string, env ...string) (out, folder string, err error) {
	t.Helper()
	folder = t.TempDir()
	library := filepath.Join(folder, "libcuda.so.1")
	if source == "" {
		if err := os.WriteFile(library, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	} else {
		cc := exec.Command("cc", "-shared", "-fPIC", "-x", "c", "-o", library, "-")
		cc.Stdin = strings.NewReader(source)
		if out, err := cc.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(append(os.Environ(), "LD_LIBRARY_PATH="+folder), env...)
	printed, err := cmd.CombinedOutput()
	return string(printed), folder, err
}
