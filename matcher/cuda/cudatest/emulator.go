//go:build emu && !cuda

package cudatest

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"motifd/kernels"
)

// EmulatorFlags names the environment variable with compiler flags for the emulator, such as
// -fsanitize=address,undefined. EmulatorProgram names the one with the path of an emulator that is compiled already:
// tests of several packages share it.
const (
	EmulatorFlags   = "MOTIFD_EMULATOR_FLAGS"
	EmulatorProgram = "MOTIFD_EMULATOR_PROGRAM"
)

var build struct {
	once    sync.Once
	dir     string
	program string
	err     error
	out     []byte
}

// Main runs the tests of a package, and removes what was compiled for them.
func Main(m *testing.M) {
	code := m.Run()
	if build.dir != "" {
		os.RemoveAll(build.dir)
	}
	os.Exit(code)
}

// kernelsDir returns where the kernels are, above or beside the folder of a test.
func kernelsDir() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "kernels"), nil
		}
		if up := filepath.Dir(dir); up != dir {
			dir = up
			continue
		}
		err = os.ErrNotExist
	}
	return "", err
}

// NewDevice starts an emulated device.
func NewDevice(t testing.TB, rng *rand.Rand) kernels.Device {
	t.Helper()
	build.once.Do(func() {
		if build.program = os.Getenv(EmulatorProgram); build.program != "" {
			return
		}
		var kernels string
		if kernels, build.err = kernelsDir(); build.err != nil {
			return
		}
		if build.dir, build.err = os.MkdirTemp("", "motifd-emulator-*"); build.err != nil {
			return
		}
		build.program = filepath.Join(build.dir, "emulator")
		args := append([]string{build.program}, strings.Fields(os.Getenv(EmulatorFlags))...)
		build.out, build.err = exec.Command(filepath.Join(kernels, "emu", "build.sh"), args...).CombinedOutput()
	})
	if build.err != nil {
		t.Fatalf("%v\n%s", build.err, build.out)
	}
	e, err := kernels.StartEmulator(build.program, rng.Uint64())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Rounds is the number of random cases of a test: lanes are emulated one after the other.
const Rounds = 3
