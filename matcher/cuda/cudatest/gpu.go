//go:build cuda

package cudatest

import (
	"math/rand/v2"
	"os"
	"testing"

	"motifd/kernels"
)

// Main runs the tests of a package.
func Main(m *testing.M) { os.Exit(m.Run()) }

// NewDevice opens the first GPU.
func NewDevice(t testing.TB, _ *rand.Rand) kernels.Device {
	t.Helper()
	g, err := kernels.OpenGPU(0)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Rounds is the number of random cases of a test.
const Rounds = 60
