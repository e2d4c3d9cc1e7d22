package count

import "math/bits"

// Where a component cannot be mapped, its count is 0 because of the images of some mapped vertices: while these stay,
// it is 0 whatever the others are mapped to. Counter.failed is such a set of pattern vertices, for the component that
// was counted last (failing sets: Han et al., SIGMOD 2019; conflict-directed backjumping: Prosser 1993). A sum over the
// images of a block ends at the first image whose failure does not depend on the block. The set is never too small: of
// a count from the memo, or of a method, it is the whole separator, with the vertices that the component is kept apart
// from.

// everything is the set of all pattern vertices: nothing is known about a failure.
const everything = ^uint32(0)

// whyNone returns on which vertices it depends that a block has the images that it has beside what is mapped: those
// that edges join it to, and those whose images it may not have.
func (c *Counter) whyNone(u int, to *filter, from []Edge) (failed uint32) {
	for i := range from {
		failed |= from[i].fromAll
	}
	for m := c.q.conflicts[u] & c.mapped; m != 0; m &= m - 1 {
		if x := bits.TrailingZeros32(m); c.fits(to, c.image[x]) {
			failed |= 1 << x
		}
	}
	return failed
}

// whyNoLeaves is whyNone for leaves that are mapped together.
func (c *Counter) whyNoLeaves(leaves []int) (failed uint32) {
	for _, u := range leaves {
		failed |= c.whyNone(u, &c.q.filters[u], c.q.Edges[u])
	}
	return failed
}
