//go:build cuda

package cuda_test

import (
	"math"
	"math/rand/v2"
	"os"

	"motifd/kernels"
	"motifd/matcher/cuda"
)

// randomOptions draws grids and buffers: as they are in use, or so small that everything runs full.
func randomOptions(rng *rand.Rand) cuda.Options {
	o := cuda.Options{RowMemory: 8 << 20}
	few := os.Getenv(Few) != ""
	if few || rng.IntN(2) == 0 {
		o = cuda.Options{Shape: kernels.Shape{Blocks: 1 + rng.IntN(40), BlockWarps: 1 + rng.IntN(8)},
			RowMemory: 1 << (15 + rng.IntN(6)),
			Narrow:    []float64{0, 1e-9}[rng.IntN(2)],
			Rarer:     []float64{0, 1, math.Inf(1)}[rng.IntN(3)],
			NoMail:    rng.IntN(3) == 0, NoSteal: rng.IntN(4) == 0, NoFlat: rng.IntN(2) == 0,
			Memo: -rng.IntN(2), Slice: []int{3, 50, 0}[rng.IntN(3)],
			Tasks: []int{0, 7, 100}[rng.IntN(3)]}
		if rng.IntN(4) == 0 {
			o.RowMemory = 1 // room for the least number of rows
		}
	}
	if rng.IntN(2) == 0 {
		o.Clock = clock
	}
	if rng.IntN(3) == 0 {
		o.Ranges = 1 + rng.IntN(2)
	}
	if few {
		o.Shape = kernels.Shape{Blocks: 1 + rng.IntN(2), BlockWarps: 2 + rng.IntN(2)}
	}
	return o
}

// farOf returns the device.
func farOf(dev kernels.Device, _ *rand.Rand) kernels.Device { return dev }

// large cases are played.
const large = true
