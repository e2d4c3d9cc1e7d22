// Package cudatest opens the device that tests of the GPU backend's packages run on: an emulator that it compiles once
// a process (build tag emu), or the first GPU (build tag cuda).
package cudatest
