//go:build emu && !cuda

package cuda_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"motifd/kernels"
	"motifd/matcher/cuda"
)

// EmulatorFlags names the environment variable with compiler flags for the emulator, such as
// -fsanitize=address,undefined.
const EmulatorFlags = "MOTIFD_EMULATOR_FLAGS"

var build struct {
	once    sync.Once
	dir     string
	program string
	err     error
	out     []byte
}

func TestMain(m *testing.M) {
	cuda.SetLaneRoom(2 << 10) // some copies are too large for it
	code := m.Run()
	if build.dir != "" {
		os.RemoveAll(build.dir)
	}
	os.Exit(code)
}

// newDevice starts an emulated device.
func newDevice(t testing.TB, rng *rand.Rand) kernels.Device {
	t.Helper()
	build.once.Do(func() {
		if build.dir, build.err = os.MkdirTemp("", "motifd-emulator-*"); build.err != nil {
			return
		}
		build.program = filepath.Join(build.dir, "emulator")
		args := append([]string{build.program}, strings.Fields(os.Getenv(EmulatorFlags))...)
		build.out, build.err = exec.Command("../../kernels/emu/build.sh", args...).CombinedOutput()
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

// randomOptions draws grids and buffers so small that everything runs full.
func randomOptions(rng *rand.Rand) cuda.Options {
	o := cuda.Options{Shape: kernels.Shape{Blocks: 1 + rng.IntN(3), BlockWarps: 1 + rng.IntN(3)}, RowMemory: 1 << (15 + rng.IntN(6)), Apart: rng.IntN(6) == 0,
		NoMail: rng.IntN(3) == 0, NoSteal: rng.IntN(4) == 0, NoFlat: rng.IntN(2) == 0,
		Memo: -rng.IntN(2), Slice: []int{3, 50, 0}[rng.IntN(3)],
		Tasks: []int{0, 7, 100}[rng.IntN(3)]}
	if rng.IntN(4) == 0 {
		o.RowMemory = 1 // room for the least number of rows
	}
	if rng.IntN(2) == 0 {
		o.Clock = clock
	}
	return o
}

// rounds is the number of random cases of a test: lanes are emulated one after the other.
const rounds = 6

// large cases are left out.
const large = false
