package neighbors

import "motifd/dyngraph"

// Intersecter finds what two neighbour lists have in common (DESIGN A7), in the way that is measured to be the fastest for lists of such lengths
// (BenchmarkIntersect):
//
//   - mergeBlocks reads both, the longer one by blocks. Which of a block's members are less is counted, not asked: a branch for each would be
//     foreseen wrongly every second time, which costs more than all of a block.
//   - gallop searches the longer one for each member of the shorter one, from where the last search ended.
//
// A third way, bits of the members of a list that is searched many times, serves where one list meets many others: endings.meet, keeper.cross.
//
// Neighbour lists ascend without repetitions.
type Intersecter struct {
	room [2][]uint32 // room for what is found: where in the shorter list, and where in the longer one
}

const (
	// galloping is the ratio of lengths from which on the longer list is searched, not read.
	galloping = 512
	// readBlock is the number of members that a merge looks at together.
	readBlock = 8
)

// grow makes room for n finds.
func (m *Intersecter) grow(n int) (inA, inB []uint32) {
	if n > len(m.room[0]) {
		m.room[0], m.room[1] = make([]uint32, 2*n), make([]uint32, 2*n)
	}
	return m.room[0][:n], m.room[1][:n]
}

// Of returns where in a and where in b the members of both are, ascending; a is mostly the shorter one. It is valid until the next call.
func (m *Intersecter) Of(a, b []dyngraph.VertexID) (inA, inB []uint32) {
	inA, inB = m.grow(len(a))
	n := 0
	switch {
	case len(b) >= galloping*len(a):
		n = gallop(a, b, inA, inB)
	case len(b) < readBlock:
		n = mergeFew(a, b, inA, inB)
	default:
		n = mergeBlocks(a, b, inA, inB)
	}
	return inA[:n], inB[:n]
}

// With returns where in some vertices those are that are in a join, too, and their entries in it.
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

// mergeBlocks reads a, and b by blocks, of which b has at least one. All places are written, each over the one before unless that is one where both
// meet.
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

// isLess is 1 if x is less than w, else 0.
func isLess(x, w dyngraph.VertexID) int { return int((uint64(x) - uint64(w)) >> 63) }

// mergeFew is mergeBlocks where b is shorter than a block.
func mergeFew(a, b []dyngraph.VertexID, inA, inB []uint32) (n int) {
	j := 0
	for i, w := range a {
		for j < len(b) && b[j] < w {
			j++
		}
		if j == len(b) {
			break
		}
		inA[n], inB[n] = uint32(i), uint32(j)
		same := 0
		if b[j] == w {
			same = 1
		}
		n += same
	}
	return n
}

// Source is one neighbour list, or range, that an intersection reads.
type Source struct {
	List  List
	Range dyngraph.Range // when not built
	Built bool
	Size  int  // of either, at most
	Done  bool // what is found is in it
}
