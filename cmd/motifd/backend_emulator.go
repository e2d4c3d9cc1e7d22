//go:build emu && !cuda

package main

import (
	"fmt"
	"os"

	"motifd/kernels"
)

// emulatorProgram names the variable with the path of the emulator's program, as kernels/emu/build.sh makes it. The
// build tag emu is for tests. Variables that begin with MOTIFD_ are fields of the configuration.
const emulatorProgram = "GPU_EMULATOR"

func openDevice(number int) (kernels.Device, error) {
	program := os.Getenv(emulatorProgram)
	if program == "" || number > 0 {
		return nil, fmt.Errorf("opening GPU %d: %w: %s is %q", number, kernels.ErrNoDevice, emulatorProgram, program)
	}
	return kernels.StartEmulator(program, 1)
}
