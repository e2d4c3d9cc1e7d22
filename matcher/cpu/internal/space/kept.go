package space

import (
	"cmp"
	"math/bits"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/internal/candidates"
)

// Kept is a candidate space that is kept from batch to batch. Round 0 has the filter's bits; a bit of a later round
// stays where, along each pattern edge, a neighbour has the bit of the edge's other end in the round before. So a round
// depends on the round before and on the edges alone, and a change spreads by a hop a round, where bits change. There
// are KeptRounds rounds: a fixed point, which Space has, cannot be kept that way, since support may go round in
// circles, but few bits more would go.
//
// Refresh brings it to the graph with the staged batch. An edge of either view supports a bit, so that the bits hold in
// both, as the filter's do.
type Kept struct {
	plan  *matcher.Plan
	f     *candidates.Filter
	g     *dyngraph.Graph
	kinds []kind
	tests []candidates.Test
	class []int    // of the filter, by pattern vertex
	joins []uint64 // by pattern vertex: its neighbours
	same  []int    // by pattern vertex: the first one that has the same bits in every round, in any graph
	bits  []uint64 // keptWords words a vertex, two rounds a word

	queues [KeptRounds + 1][]look // by round

	// Candidates are the numbers of data vertices by pattern vertex.
	Candidates []int
	// Reads is how many entries of the graph were read.
	Reads uint64
	// Met tells that data vertices have become candidates of two pattern vertices that had none in common when the last
	// Space was made of it: that one does not hold any more.
	Met    bool
	common []uint64 // by pattern vertex: those that have a candidate in common with it, or had when a Space was made
}

// look is what is to be looked at again at a vertex in a round: bits that may come, and bits that may go.
type look struct {
	v           dyngraph.VertexID
	gains, goes uint32
}

// KeptRounds is the number of rounds of a Kept, beside the first. Counts of the patterns of yeast, with a space made
// for each batch, had 0.77, 0.79, 0.84 and 0.99 of RapidFlow's speed with 3, 4 and 6 rounds and at the fixed point.
const KeptRounds = 5

// KeptBytes is how much memory a Kept takes for each data vertex.
const KeptBytes = 8 * keptWords

const (
	keptWords = (KeptRounds + 2) / 2
	perRound  = 32 // bits of a round: matcher.MaxVertices
	roundMask = 1<<perRound - 1
)

// Keep makes the kept space of a plan that the filter serves, in the graph with the staged batch. It returns nil when
// stop, which is asked now and then, is true.
func Keep(g *dyngraph.Graph, f *candidates.Filter, p *matcher.Plan, stop func() bool) *Kept {
	n := len(p.Query.Vertices)
	k := &Kept{plan: p, f: f, g: g, kinds: kindsOf(p, f), joins: joinsOf(p), Candidates: make([]int, n),
		common: make([]uint64, n)}
	for v := range n {
		k.tests, k.class = append(k.tests, f.Test(p, v)), append(k.class, f.Class(p, v))
	}
	k.findSame()
	k.grow()
	for r := range KeptRounds + 1 {
		for v := range dyngraph.VertexID(k.g.IDBound()) {
			if v%pollEvery == 0 && stop() {
				return nil
			}
			if r == 0 {
				k.set(v, 0, k.filtered(v))
			} else if x := k.Round(v, r-1); x != 0 {
				k.set(v, r, k.supported(v, r, x))
			}
		}
	}
	return k
}

// findSame finds the pattern vertices whose bits are always the same: their classes are, and so are, round by round,
// those at the other ends of their edges of each kind (colour refinement). Leaves that look alike are counted together.
func (k *Kept) findSame() {
	k.same = make([]int, len(k.class))
	for u, c := range k.class {
		k.same[u] = slices.Index(k.class, c)
	}
	for range KeptRounds {
		looks := make([][]uint64, len(k.same)) // by kind: the set of colours at the other ends
		for u := range looks {
			looks[u] = append(looks[u], uint64(k.same[u]))
			for i := range k.kinds {
				colours := uint64(0)
				for m := k.kinds[i].others[u]; m != 0; m &= m - 1 {
					colours |= 1 << k.same[bits.TrailingZeros64(m)]
				}
				looks[u] = append(looks[u], colours)
			}
		}
		for u := range looks {
			k.same[u] = slices.IndexFunc(looks, func(x []uint64) bool { return slices.Equal(x, looks[u]) })
		}
	}
}

// grow makes room for new vertices.
func (k *Kept) grow() {
	if more := int(k.g.IDBound()) - k.vertices(); more > 0 {
		k.bits = append(k.bits, make([]uint64, more*keptWords)...)
	}
}

// vertices returns the number of vertices that there is room for.
func (k *Kept) vertices() int { return len(k.bits) / keptWords }

// Round returns the bits of a vertex in a round. It is for tests.
func (k *Kept) Round(v dyngraph.VertexID, r int) uint64 {
	return k.bits[int(v)*keptWords+r/2] >> (r % 2 * perRound) & roundMask
}

// set sets the bits of a vertex in a round.
func (k *Kept) set(v dyngraph.VertexID, r int, x uint64) {
	at, shift := &k.bits[int(v)*keptWords+r/2], r%2*perRound
	if r == KeptRounds {
		k.note(*at>>shift&roundMask, x)
	}
	*at = *at&^(roundMask<<shift) | x<<shift
}

// note notes that the candidate bits of a vertex change.
func (k *Kept) note(old, now uint64) {
	for m := old &^ now; m != 0; m &= m - 1 {
		k.Candidates[bits.TrailingZeros64(m)]--
	}
	if now&^old == 0 {
		return
	}
	for m := now &^ old; m != 0; m &= m - 1 {
		k.Candidates[bits.TrailingZeros64(m)]++
	}
	for m := now; m != 0; m &= m - 1 {
		u := bits.TrailingZeros64(m)
		k.Met = k.Met || now&^k.common[u]&uint64(k.plan.MustDiffer[u]) != 0
		k.common[u] |= now
	}
}

// filtered returns the filter's bits of a vertex.
func (k *Kept) filtered(v dyngraph.VertexID) (x uint64) {
	of := k.f.Bits()[int(v)*k.f.Words():]
	for u := range k.tests {
		if k.tests[u].Of(of) {
			x |= 1 << u
		}
	}
	return x
}

// supported returns those bits of a set that the neighbours of a vertex support in the round before r.
func (k *Kept) supported(v dyngraph.VertexID, r int, x uint64) uint64 {
	for i := range k.kinds {
		kd := &k.kinds[i]
		if kd.wants&x != 0 {
			x = kd.keep(x, k.seen(kd, v, r-1, kd.joined(x)))
		}
	}
	return x
}

// seen returns the bits, of those asked for, that the neighbours of a vertex along edges of a kind have in a round.
func (k *Kept) seen(kd *kind, v dyngraph.VertexID, r int, asked uint64) (seen uint64) {
	for _, d := range kd.dirs {
		for i := range kd.runs() {
			run := kd.run(k.g, v, d, i)
			for nbrs, ents, ok := run.Next(); ok; nbrs, ents, ok = run.Next() {
				for at, w := range nbrs {
					if x := k.Round(w, r); x&^seen != 0 && (kd.test == nil || k.f.Truths().Either(kd.test, ents[at])) {
						if seen |= x; seen&asked == asked {
							k.Reads += uint64(at)
							return seen
						}
					}
				}
				k.Reads += uint64(len(nbrs))
			}
		}
	}
	return seen
}

// queue notes that bits of a vertex may come, and others may go, in a round.
func (k *Kept) queue(v dyngraph.VertexID, r int, gains, goes uint64) {
	if gains|goes != 0 {
		k.queues[r] = append(k.queues[r], look{v, uint32(gains), uint32(goes)})
	}
}

// Refresh makes the bits those of the graph as it is, with the staged batch, given what has changed since they were
// made or refreshed.
func (k *Kept) Refresh(changes []Change) {
	k.grow()
	for i := range changes {
		if c := &changes[i]; c.What == LostEdge && k.concerns(c) {
			k.lose(c.From, c.To)
			k.lose(c.To, c.From)
		}
	}
	for i := range changes {
		if c := &changes[i]; c.What == Bit && slices.Contains(k.class, int(c.Class)) {
			k.move(c.From, 0, k.filtered(c.From))
		}
	}
	for i := range changes {
		if c := &changes[i]; c.What == NewEdge && k.concerns(c) {
			k.gain(c.From, c.To)
			k.gain(c.To, c.From)
		}
	}
	for r := 1; r <= KeptRounds; r++ {
		q := k.queues[r]
		if len(q) > 1 { // hubs are there many times
			slices.SortFunc(q, func(x, y look) int { return cmp.Compare(x.v, y.v) })
		}
		for len(q) > 0 {
			x := q[0]
			for q = q[1:]; len(q) > 0 && q[0].v == x.v; q = q[1:] {
				x.gains, x.goes = x.gains|q[0].gains, x.goes|q[0].goes
			}
			k.again(x.v, r, uint64(x.gains), uint64(x.goes))
		}
		k.queues[r] = k.queues[r][:0]
	}
}

// again looks at bits of a vertex again in a round.
func (k *Kept) again(v dyngraph.VertexID, r int, gains, goes uint64) {
	before, now := k.Round(v, r-1), k.Round(v, r)
	known := now & before
	asked := gains&before&^now | goes&known
	known &^= goes
	if asked != 0 {
		known |= k.supported(v, r, asked)
	}
	k.move(v, r, known)
}

// move changes the bits of a vertex in a round, and notes which bits of the next round may change for it.
func (k *Kept) move(v dyngraph.VertexID, r int, x uint64) {
	old := k.Round(v, r)
	if x == old {
		return
	}
	k.set(v, r, x)
	if r == KeptRounds {
		return
	}
	on, off := x&^old, old&^x
	k.queue(v, r+1, on, off)
	for i := range k.kinds {
		kd := &k.kinds[i]
		if kd.wants&(on|off) == 0 {
			continue
		}
		come, gone := kd.joined(on), kd.joined(off)
		for _, d := range kd.dirs {
			for n := range kd.runs() {
				run := kd.run(k.g, v, d, n)
				for nbrs, _, ok := run.Next(); ok; nbrs, _, ok = run.Next() {
					k.Reads += uint64(len(nbrs))
					for _, w := range nbrs {
						next := k.Round(w, r+1)
						k.queue(w, r+1, k.Round(w, r)&^next&come, next&gone)
					}
				}
			}
		}
	}
}

// IsEmpty reports whether some pattern vertex has no candidate: neither view has a match then.
func (k *Kept) IsEmpty() bool { return slices.Contains(k.Candidates, 0) }

// Space returns the bits as a Space, which reads them as they are when it is asked. Its numbers are of now, and it
// holds until Met is set. It returns nil when stop, which is asked now and then, is true.
func (k *Kept) Space(stop func() bool) *Space {
	m := &maker{Space: &Space{Filter: k.f, plan: k.plan}, g: k.g, kinds: k.kinds, stop: stop}
	m.bits = make([]uint64, k.vertices())
	for v := range dyngraph.VertexID(len(m.bits)) {
		if m.bits[v] = k.Round(v, KeptRounds); m.bits[v] != 0 {
			m.vertices = append(m.vertices, v)
		}
	}
	if !m.sum() {
		return nil
	}
	copy(m.same, k.same) // whatever else has the same candidates now
	m.bits, m.kept = nil, k
	copy(k.common, m.common)
	k.Met = false
	return m.Space
}

// concerns reports whether a data edge may support some bit, as far as round 0 goes.
func (k *Kept) concerns(c *Change) bool {
	if int(max(c.From, c.To)) >= k.vertices() { // of vertices that are no more
		return false
	}
	for x := k.Round(c.From, 0); x != 0; x &= x - 1 {
		if k.joins[bits.TrailingZeros64(x)]&k.Round(c.To, 0) != 0 {
			return true
		}
	}
	return false
}

// gain has those bits of a vertex looked at again that an edge from it to w may support. What comes at w meanwhile is
// noted then.
func (k *Kept) gain(v, w dyngraph.VertexID) {
	for r := 1; r <= KeptRounds; r++ {
		k.queue(v, r, k.joined(k.Round(w, r-1))&k.Round(v, r-1)&^k.Round(v, r), 0)
	}
}

// lose has those bits of a vertex looked at again that an edge from it to w may have supported.
func (k *Kept) lose(v, w dyngraph.VertexID) {
	for r := 1; r <= KeptRounds; r++ {
		k.queue(v, r, 0, k.joined(k.Round(w, r-1))&k.Round(v, r))
	}
}

// joined returns the pattern vertices that edges join to some of a set.
func (k *Kept) joined(x uint64) (to uint64) {
	for ; x != 0; x &= x - 1 {
		to |= k.joins[bits.TrailingZeros64(x)]
	}
	return to
}
