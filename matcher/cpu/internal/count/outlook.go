package count

import (
	"math"
	"math/bits"

	"motifd/matcher"
)

// Least growth alone may lead along a path of the pattern whose images become many before its other end is reached,
// while a dense part, which admits few images, waits. So the choice of a component's next block looks ahead, by numbers
// of candidates and of pairs, to the end of the component.

const (
	// fewTries is the number of images that a component may be expected to try without a look at other blocks: these
	// looks take as long.
	fewTries = 128
	// worthwhile is the part of the images expected so far to which another block must reduce them: these are rough
	// estimates.
	worthwhile = 0.5
)

// outlook foresees how many images the elimination of a component tries.
type outlook struct {
	ps *quotientComponents
	// growth is, by block, the number of images to expect for each mapping of the blocks that are mapped.
	growth [matcher.MaxVertices]float64
	// most is the number of images above which it does not matter how many they are.
	most float64
}

// crossing is what joins two blocks, as one of them sees it: the other block, and the part of the pairs of candidates
// that the pattern edges between the two join, with its binary logarithm.
type crossing struct {
	block       int
	joined, log float64
}

// lookAhead returns the block of a part of a component that is mapped first. It is first, unless another block makes
// the component try far fewer images. few reports whether it tries few.
func (ps *quotientComponents) lookAhead(first int, part, mask uint32) (best int, few bool) {
	o := outlook{ps: ps, most: math.Inf(1)}
	for m := mask; m != 0; m &= m - 1 {
		v := bits.TrailingZeros32(m)
		o.growth[v] = float64(ps.of.plan.Images[bits.TrailingZeros32(ps.q.Members[v])])
		for _, e := range ps.crossings(v) {
			if mask>>e.block&1 == 0 {
				o.growth[v] *= e.joined
			}
		}
	}
	before := o.growth
	if o.most = o.tries(first, mask, 1); o.most <= fewTries {
		return first, true
	}
	best, o.most = first, o.most*worthwhile
	for m := part &^ (1 << first); m != 0; m &= m - 1 {
		if v := bits.TrailingZeros32(m); ps.q.Adj[v]&^mask != 0 && !ps.isPendant(v) {
			o.growth = before
			if n := o.tries(v, mask, 1); n < o.most {
				best, o.most = v, n
			}
		}
	}
	return best, false
}

// tries returns the expected number of images that are tried when block v of a set is mapped first, and then, in each
// part that is left, the block of least growth. times is how often the set is mapped.
func (o *outlook) tries(v int, mask uint32, times float64) float64 {
	q := o.ps.q
	times *= o.growth[v]
	for _, e := range o.ps.crossings(v) {
		o.growth[e.block] *= e.joined
	}
	all := times
	for rest := mask &^ (1 << v); rest != 0 && all <= o.most; {
		part, next := uint32(0), -1
		for m := rest & -rest; m != 0; m &^= part {
			u := bits.TrailingZeros32(m)
			part |= 1 << u
			m |= (q.Adj[u] | q.conflicts[u]) & rest
			if q.Adj[u]&^rest != 0 && !o.ps.isPendant(u) && (next < 0 || o.growth[u] < o.growth[next]) {
				next = u
			}
		}
		rest &^= part
		if part&(part-1) == 0 || next < 0 { // leaves are counted together
			all += times
		} else {
			all += o.tries(next, part, times)
		}
	}
	return all
}

// isPendant reports whether a block is joined to one other block alone.
func (ps *quotientComponents) isPendant(v int) bool { return bits.OnesCount32(ps.q.Adj[v]) == 1 }

// crossings returns what joins a block to others.
func (ps *quotientComponents) crossings(v int) []crossing {
	if ps.crossing == nil {
		s, q := ps.of.plan, ps.q
		ps.crossing = make([][]crossing, len(q.Adj))
		for i, e := range s.Pattern.Query.Edges {
			if x, y := q.BlockOf[e.From], q.BlockOf[e.To]; x != y {
				log := s.logJoined[i]
				joined := math.Exp2(log)
				ps.crossing[x] = append(ps.crossing[x], crossing{y, joined, log})
				ps.crossing[y] = append(ps.crossing[y], crossing{x, joined, log})
			}
		}
	}
	return ps.crossing[v]
}

// growth returns the expected number of images of a block for each mapping of the blocks outside of a set, by numbers
// of candidates and of pairs, as a binary logarithm in eighths.
func (ps *quotientComponents) growth(v int, mask uint32) int {
	g := ps.of.plan.logImages[bits.TrailingZeros32(ps.q.Members[v])]
	for _, e := range ps.crossings(v) {
		if mask>>e.block&1 == 0 {
			g += e.log
		}
	}
	return int(8 * max(g, leastLog))
}

// leastLog bounds the logarithms of numbers next to 0.
const leastLog = -30
