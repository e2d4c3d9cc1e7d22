//go:build emu && !cuda

package kernels_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"motifd/kernels"
)

// newDevice builds and starts an emulated device.
func newDevice(t testing.TB, rng *rand.Rand) kernels.Device {
	t.Helper()
	program := filepath.Join(t.TempDir(), "emulator")
	args := append([]string{program}, strings.Fields(os.Getenv("MOTIFD_EMULATOR_FLAGS"))...)
	if out, err := exec.Command("emu/build.sh", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	e, err := kernels.StartEmulator(program, rng.Uint64())
	must(t, err)
	t.Cleanup(func() { must(t, e.Close()) })
	return e
}
