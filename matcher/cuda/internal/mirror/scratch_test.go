//go:build cuda || emu

package mirror

import (
	"math/rand/v2"
	"testing"

	"motifd/kernels"
)

// roomy is a device with memory that nobody uses.
type roomy struct{ kernels.Device }

func (roomy) Alloc(int) (kernels.Ptr, error) { return 256, nil }
func (roomy) Free(kernels.Ptr) error         { return nil }
func (roomy) Clear(kernels.Ptr, int) error   { return nil }

// TestA9ScratchHoldsWhatItSays: whatever the number of leaves, what kernels are told of the room beside the slots is
// there in every column.
func TestA9ScratchHoldsWhatItSays(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		a := newArray(roomy{}, false)
		a.now.leaves, a.bound = 1+rng.IntN(1<<20), bounds{vertices: 1, labels: 1, edges: 1}
		if err := a.reserveLeaves(a.now.leaves); err != nil {
			t.Fatal(err)
		}
		n := int(a.params().ScratchSize)
		if n == 0 || 8*n > a.scratchRow.Size || 4*n > a.scratchNbr.Size || 4*n > a.scratchEnt.Size {
			t.Errorf("%d leaves: %d entries in %d, %d and %d bytes", a.now.leaves, n, a.scratchRow.Size,
				a.scratchNbr.Size, a.scratchEnt.Size)
		}
	}
}
