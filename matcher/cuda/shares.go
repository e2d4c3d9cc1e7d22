//go:build cuda || emu

package cuda

import (
	"math/bits"
	"slices"
)

// Sizes of the blocks of tasks that are dealt to sides.
const (
	leastBlock = 32   // tasks: a warp takes as many
	mostBlocks = 4096 // by side; not tuned
)

// dealt deals tasks from to before-1 to a number of sides, about equally many to each. It returns, by side, ranges of
// tasks that ascend. Tasks are dealt in blocks of neighbours, in an order that spreads the blocks of a side evenly over
// all tasks: heavy tasks are often neighbours, of one query or of one label.
func dealt(from, before, sides int) (all [][][2]int) {
	n := before - from
	if sides == 1 {
		return [][][2]int{{{from, before}}}
	}
	block := max(leastBlock, n/(sides*mostBlocks))
	blocks := (n + block - 1) / block
	step := spreading(blocks)
	for side := range sides {
		var of []int
		for p := side * blocks / sides; p < (side+1)*blocks/sides; p++ {
			hi, lo := bits.Mul64(uint64(p), uint64(step))
			_, b := bits.Div64(hi, lo, uint64(blocks))
			of = append(of, int(b))
		}
		slices.Sort(of)
		var ranges [][2]int
		for _, b := range of {
			at, end := from+b*block, min(before, from+(b+1)*block)
			if k := len(ranges) - 1; k >= 0 && ranges[k][1] == at {
				ranges[k][1] = end
			} else {
				ranges = append(ranges, [2]int{at, end})
			}
		}
		all = append(all, ranges)
	}
	return all
}

// spreading returns a number near the golden section of n that has no divisor in common with it.
func spreading(n int) int {
	hi, _ := bits.Mul64(uint64(n), 11400714819323198485) // 2^64 / golden ratio
	for step := max(1, int(hi)); ; step++ {
		if gcd(step, n) == 1 {
			return step
		}
	}
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
