//go:build emu && !cuda

package cuda_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"motifd/kernels"
	"motifd/matcher/cuda"
	"motifd/matcher/cuda/cudatest"
)

func TestMain(m *testing.M) {
	cuda.SetStagingSize(2 << 10) // some copies are too large for it
	cudatest.Main(m)
}

// randomOptions draws grids and buffers so small that everything runs full.
func randomOptions(rng *rand.Rand) cuda.Options {
	o := cuda.Options{Shape: kernels.Shape{Blocks: 1 + rng.IntN(3), BlockWarps: 1 + rng.IntN(3)},
		RowMemory: 1 << (15 + rng.IntN(6)), Apart: rng.IntN(6) == 0,
		NoMail: rng.IntN(3) == 0, NoSteal: rng.IntN(4) == 0, NoFlat: rng.IntN(2) == 0,
		Narrow: []float64{0, 1e-9}[rng.IntN(2)], Memo: -rng.IntN(2), Slice: []int{3, 50, 0}[rng.IntN(3)],
		Tasks: []int{0, 7, 100}[rng.IntN(3)], Rarer: []float64{0, 1, math.Inf(1)}[rng.IntN(3)]}
	if rng.IntN(4) == 0 {
		o.RowMemory = 1 // room for the least number of rows
	}
	if rng.IntN(3) == 0 {
		o.Ranges = 1 + rng.IntN(2)
	}
	if rng.IntN(2) == 0 {
		o.Clock = clock
	}
	return o
}

// large cases are left out.
const large = false
