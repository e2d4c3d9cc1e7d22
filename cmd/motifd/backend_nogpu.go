//go:build !cuda && !emu

package main

import (
	"errors"

	"motifd/config"
)

// gpuBuild tells whether this build has the GPU backend.
const gpuBuild = false

func newGPU(backendOptions) (*timedBackend, error) { return nil, errors.New(config.NoGPU) }
