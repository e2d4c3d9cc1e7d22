package neighbors

import (
	"slices"

	"motifd/dyngraph"
)

// Intersecter intersects neighbor lists, which ascend without repetition (DESIGN A7). The method depends on the
// lengths, as measured by BenchmarkIntersect: mergeBlocks reads both lists, the longer one by blocks, and counts the
// members of a block that are less instead of branching on each, since every second branch would be mispredicted;
// gallop searches the longer list for each member of the shorter one, from where the last search ended. Its memory
// belongs to one worker; results are valid until the next call.
type Intersecter struct {
	room [2][]uint32 // positions in the shorter list and in the longer one
}

const (
	// galloping is the least ratio of lengths at which the longer list is searched instead of merged.
	galloping = 512
	// readBlock is the number of members of a block.
	readBlock = 8
)

// grow returns room for n positions in each list.
func (m *Intersecter) grow(n int) (inA, inB []uint32) {
	if n > len(m.room[0]) {
		m.room[0], m.room[1] = make([]uint32, 2*n), make([]uint32, 2*n)
	}
	return m.room[0][:n], m.room[1][:n]
}

// Of returns the positions in a and in b of their common members, ascending. a should be the shorter list.
func (m *Intersecter) Of(a, b []dyngraph.VertexID) (inA, inB []uint32) {
	inA, inB = m.grow(len(a))
	n := 0
	switch {
	case len(b) >= galloping*len(a) || len(b) < readBlock:
		n = gallop(a, b, inA, inB)
	default:
		n = mergeBlocks(a, b, inA, inB)
	}
	return inA[:n], inB[:n]
}

// With returns the positions of the members of a list that are in a source, too, and their entries there.
func (m *Intersecter) With(j *Source, of []dyngraph.VertexID) (at, entries []uint32) {
	if j.Built {
		at, entries = m.Of(of, j.List.Vertices)
		for i, k := range entries {
			entries[i] = uint32(j.List.Entries[k])
		}
		return at, entries
	}
	at, entries = m.grow(len(of))
	n := 0
	for i, w := range of {
		if e, ok := j.Range.Find(w); ok {
			at[n], entries[n] = uint32(i), uint32(e)
			n++
		}
	}
	return at[:n], entries[:n]
}

// gallop searches b for each member of a.
func gallop(a, b []dyngraph.VertexID, inA, inB []uint32) (n int) {
	j := 0
	for i, w := range a {
		if j = Seek(b, j, w); j == len(b) {
			break
		}
		if b[j] == w {
			inA[n], inB[n] = uint32(i), uint32(j)
			n++
		}
	}
	return n
}

// mergeBlocks merges a with the blocks of b, which has at least one. Each position is written and is overwritten
// unless the members agree.
func mergeBlocks(a, b []dyngraph.VertexID, inA, inB []uint32) (n int) {
	j, last := 0, len(b)-readBlock
	for i, w := range a {
		for j < last && b[j+readBlock-1] < w {
			j += readBlock
		}
		j = min(j, last) // all before are less
		c := (*[readBlock]dyngraph.VertexID)(b[j:])
		k := j + isLess(c[0], w) + isLess(c[1], w) + isLess(c[2], w) + isLess(c[3], w) +
			isLess(c[4], w) + isLess(c[5], w) + isLess(c[6], w) + isLess(c[7], w)
		if k == len(b) {
			break
		}
		inA[n], inB[n] = uint32(i), uint32(k)
		same := 0
		if b[k] == w {
			same = 1
		}
		n += same
	}
	return n
}

// Common returns the common members of a and b, ascending, in memory that may be a's, not b's. a should be the shorter
// list.
func Common(into, a, b []dyngraph.VertexID) []dyngraph.VertexID {
	into = slices.Grow(into[:0], len(a))[:len(a)]
	n, j := 0, 0
	if len(b) >= galloping*len(a) || len(b) < readBlock {
		for _, w := range a {
			if j = Seek(b, j, w); j == len(b) {
				break
			}
			if b[j] == w {
				into[n] = w
				n++
			}
		}
		return into[:n]
	}
	last := len(b) - readBlock
	for _, w := range a {
		for j < last && b[j+readBlock-1] < w {
			j += readBlock
		}
		j = min(j, last) // all before are less
		c := (*[readBlock]dyngraph.VertexID)(b[j:])
		same := isSame(c[0], w) | isSame(c[1], w) | isSame(c[2], w) | isSame(c[3], w) |
			isSame(c[4], w) | isSame(c[5], w) | isSame(c[6], w) | isSame(c[7], w)
		into[n] = w
		n += same
	}
	return into[:n]
}

// isSame is 1 if x is w, else 0.
func isSame(x, w dyngraph.VertexID) int { return int((uint64(x^w) - 1) >> 63) }

// isLess is 1 if x is less than w, else 0.
func isLess(x, w dyngraph.VertexID) int { return int((uint64(x) - uint64(w)) >> 63) }

// Source is a neighbor list, or the range of the graph that it would be built from, as an operand of an intersection.
type Source struct {
	List  List
	Range dyngraph.Range // if not Built
	Built bool
	Size  int  // of either, an upper bound
	Done  bool // the candidates so far are in it
}
