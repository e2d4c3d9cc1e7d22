//go:build emu && !cuda

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"motifd/kernels"
)

// emulatorProgram names the variable with the path of the emulator's program, as kernels/emu/build.sh makes it; several
// paths, as in PATH, are as many GPUs. The build tag emu is for tests. Variables that begin with MOTIFD_ are fields of
// the configuration.
const emulatorProgram = "GPU_EMULATOR"

func countDevices() int { return len(filepath.SplitList(os.Getenv(emulatorProgram))) }

func openDevice(number int) (kernels.Device, error) {
	programs := filepath.SplitList(os.Getenv(emulatorProgram))
	if number >= len(programs) {
		return nil, fmt.Errorf("opening GPU %d: %w: %s is %q", number, kernels.ErrNoDevice, emulatorProgram, programs)
	}
	return kernels.StartEmulator(programs[number], uint64(number)+1)
}
