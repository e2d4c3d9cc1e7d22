//go:build cuda

package cuda_test

import (
	"math/rand/v2"
	"os"
	"testing"

	"motifd/kernels"
	"motifd/matcher/cuda"
)

// newDevice opens the first GPU.
func newDevice(t testing.TB, _ *rand.Rand) kernels.Device {
	t.Helper()
	g, err := kernels.OpenGPU(0)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// NoSteal names the environment variable that turns stealing in the block off, for race checkers that know no locks.
const NoSteal = "MOTIFD_TEST_NOSTEAL"

// randomOptions draws grids and buffers: as they are in use, or so small that everything runs full.
func randomOptions(rng *rand.Rand) cuda.Options {
	o := cuda.Options{Ring: 1 << 20}
	if rng.IntN(2) == 0 {
		o = cuda.Options{Shape: kernels.Shape{Blocks: 1 + rng.IntN(40), BlockWarps: 1 + rng.IntN(8)}, Ring: 1,
			Queue: []int{-1, 1, 64}[rng.IntN(3)], NoSteal: rng.IntN(4) == 0, Memo: -rng.IntN(2), Slice: []int{3, 50, 0}[rng.IntN(3)]}
		if rng.IntN(4) == 0 {
			o.RowMemory = 1 << (6 + rng.IntN(12))
		}
	}
	o.NoSteal = o.NoSteal || os.Getenv(NoSteal) != ""
	return o
}

// rounds is the number of random cases of a test.
const rounds = 60

// large cases are played.
const large = true
