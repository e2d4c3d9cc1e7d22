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
// circles; it would have few bits less.
//
// Refresh updates it to the graph with the staged batch. An edge of either view supports a bit, so that the bits hold
// in both, as the filter's do.
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

	queue, spare []recheck // of the current pass, and of the next one
	lacks        [1 << lackBits]lack
	found        [perRound]support // by pattern vertex: of the vertex that is tested

	// Candidates are the numbers of data vertices by pattern vertex.
	Candidates []int
	// Reads is the number of entries of the graph that were read.
	Reads uint64
	// NewlyCommon tells that two pattern vertices have got a candidate in common that had none when the last Space was
	// made of this Kept: that Space is invalid.
	NewlyCommon bool
	// common has, by pattern vertex, the pattern vertices that have a candidate in common with it, or had one when the
	// last Space was made.
	common []uint64
}

// recheck is a data vertex to test again, and the pattern vertices whose bits may come or go there, in any round.
type recheck struct {
	v     dyngraph.VertexID
	asked uint32
}

// lack remembers why data vertex v was not in more rounds, as a candidate of pattern vertex u, when it was last tested:
// in the last round that has it, no neighbour has any of bits. It can enter no further round until every one of bits
// has come to a neighbour; only then is it tested again. It leaves a round only when it is tested, or when it loses its
// bit of round 0; when that bit comes back, it is tested.
type lack struct {
	v    dyngraph.VertexID
	u    uint32
	bits uint64 // 0 where nothing is known
}

// support is the number of rounds in which a candidate has support, and the bits that it lacks for one more (see lack).
type support struct {
	rounds int
	lacks  uint64
}

// lackBits is the binary logarithm of the number of lacks that are kept: a newer one replaces another of its hash.
const lackBits = 10

// lack returns the place for the lack of vertex v as a candidate of pattern vertex u; it may hold that of others.
func (k *Kept) lack(v dyngraph.VertexID, u int) *lack {
	return &k.lacks[(uint32(v)*32+uint32(u))*0x9e3779b9>>(32-lackBits)]
}

// lacking takes come, bits that come to a neighbour of vertex v, out of the lacks of v. It returns the pattern vertices
// of asked without those for which v still lacks bits: testing v for them would be in vain.
func (k *Kept) lacking(v dyngraph.VertexID, asked, come uint64) (left uint64) {
	for m := asked; m != 0; m &= m - 1 {
		u := bits.TrailingZeros64(m)
		if l := k.lack(v, u); l.v == v && l.u == uint32(u) && l.bits != 0 {
			if l.bits &^= come; l.bits != 0 {
				asked &^= 1 << u
			}
		}
	}
	return asked
}

// roundBits are the bits of a vertex, two rounds a word. Each round has those of the next one.
type roundBits [keptWords]uint64

var _ [3]uint64 = roundBits{} // which seen unrolls

// round returns the bits in one round.
func (x *roundBits) round(r int) uint64 { return x[r/2] >> (r % 2 * perRound) & roundMask }

// inAll returns some bits in every round.
func inAll(x uint64) (to roundBits) {
	for i := range to {
		to[i] = x | x<<perRound
	}
	return to
}

// KeptRounds is the number of rounds of a Kept, beside the first. Counts of the patterns of yeast, with a space made
// for each batch, had 0.77, 0.79, 0.84 and 0.99 of RapidFlow's speed with 3, 4 and 6 rounds and at the fixed point.
const KeptRounds = 5

// KeptBytes is the memory of a Kept for each data vertex, in bytes, beside 17 KiB.
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
	for v := range dyngraph.VertexID(k.g.IDBound()) {
		if x := k.filtered(v); x != 0 {
			*k.at(v) = inAll(x)
			k.note(0, x)
			k.ask(v, x)
		}
	}
	if !k.settle(stop) {
		return nil
	}
	return k
}

// findSame finds pattern vertices whose bits are always equal (colour refinement): their classes are equal, and so are,
// round by round, the colours at the other ends of their edges of each kind. Leaves of one colour are counted together.
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

// at returns the bits of a vertex.
func (k *Kept) at(v dyngraph.VertexID) *roundBits { return (*roundBits)(k.bits[int(v)*keptWords:]) }

// Round returns the bits of a vertex in a round.
func (k *Kept) Round(v dyngraph.VertexID, r int) uint64 { return k.at(v).round(r) }

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
		k.NewlyCommon = k.NewlyCommon || now&^k.common[u]&uint64(k.plan.MustDiffer[u]) != 0
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

// seen returns the union, round by round, of the bits of a vertex's neighbours along edges of a kind. It may stop, and
// leave out other bits, once it has seen the bits asked in all rounds but the last.
func (k *Kept) seen(kd *kind, v dyngraph.VertexID, asked uint64) (seen roundBits) {
	all := inAll(asked)
	all[2] &= roundMask // not of the last round
	for _, d := range kd.dirs {
		for i := range kd.runs() {
			run := kd.run(k.g, v, d, i)
			for nbrs, ents, ok := run.Next(); ok; nbrs, ents, ok = run.Next() {
				for at, w := range nbrs {
					x := k.at(w)
					if x[0]&asked == 0 || kd.test != nil && !k.f.Truths().Either(kd.test, ents[at]) {
						continue
					}
					seen[0], seen[1], seen[2] = seen[0]|x[0], seen[1]|x[1], seen[2]|x[2]
					if all[0]&^seen[0]|all[1]&^seen[1]|all[2]&^seen[2] == 0 {
						k.Reads += uint64(at)
						return seen
					}
				}
				k.Reads += uint64(len(nbrs))
			}
		}
	}
	return seen
}

// ask queues a vertex to be tested again, for the pattern vertices whose bits may come or go.
func (k *Kept) ask(v dyngraph.VertexID, asked uint64) {
	if asked != 0 {
		k.queue = append(k.queue, recheck{v, uint32(asked)})
	}
}

// Refresh updates the bits to the graph with the staged batch, given all changes since they were made or last
// refreshed.
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
			x := k.filtered(c.From)
			now, all := *k.at(c.From), inAll(x)
			k.ask(c.From, x&^now[0])
			for r := range now {
				now[r] &= all[r]
			}
			now[0] |= x
			k.change(c.From, now)
		}
	}
	for i := range changes {
		if c := &changes[i]; c.What == NewEdge && k.concerns(c) {
			k.gain(c.From, c.To)
			k.gain(c.To, c.From)
		}
	}
	k.settle(func() bool { return false })
}

// settle tests queued vertices until no bit changes. A bit depends on those of the round before alone, so that this
// ends in any order; in passes, a vertex is tested once for each round at most. It ends early, and reports false, when
// stop is true.
func (k *Kept) settle(stop func() bool) bool {
	for looks := 0; len(k.queue) > 0; {
		q := k.queue
		k.queue, k.spare = k.spare[:0], q
		if len(q) > 1 { // hubs are there many times
			slices.SortFunc(q, func(x, y recheck) int { return cmp.Compare(x.v, y.v) })
		}
		for len(q) > 0 {
			x := q[0]
			for q = q[1:]; len(q) > 0 && q[0].v == x.v; q = q[1:] {
				x.asked |= q[0].asked
			}
			if looks++; looks%pollEvery == 0 && stop() {
				return false
			}
			k.again(x.v, uint64(x.asked))
		}
	}
	return true
}

// again tests a vertex again for some pattern vertices, in all rounds.
func (k *Kept) again(v dyngraph.VertexID, asked uint64) {
	x := *k.at(v)
	left := x.round(0) & asked
	all, now := inAll(asked), inAll(left)
	for m := left; m != 0; m &= m - 1 {
		k.found[bits.TrailingZeros64(m)] = support{KeptRounds, 0}
	}
	for i := range k.kinds {
		if kd := &k.kinds[i]; kd.wants&left != 0 {
			seen := k.seen(kd, v, kd.joined(left))
			for m := kd.wants & left; m != 0; m &= m - 1 {
				u := bits.TrailingZeros64(m)
				r := 0
				for r < KeptRounds && kd.others[u]&^seen.round(r) == 0 {
					r++
				}
				if f := &k.found[u]; r < f.rounds {
					*f = support{r, kd.others[u] &^ seen.round(r)}
				}
				for r++; r <= KeptRounds; r++ {
					now[r/2] &^= 1 << (u + r%2*perRound)
				}
			}
		}
	}
	for i := range x {
		x[i] = x[i]&^all[i] | now[i]
	}
	k.change(v, x)
	for m := left; m != 0; m &= m - 1 {
		if u := bits.TrailingZeros64(m); k.found[u].lacks != 0 {
			*k.lack(v, u) = lack{v, uint32(u), k.found[u].lacks}
		}
	}
}

// change sets the bits of a vertex, and queues the neighbours whose bits may change with them.
func (k *Kept) change(v dyngraph.VertexID, x roundBits) {
	at := k.at(v)
	old := *at
	if x == old {
		return
	}
	k.note(old.round(KeptRounds), x.round(KeptRounds))
	*at = x
	for i := range k.kinds {
		kd := &k.kinds[i]
		// come has the bits of neighbours that the new bits may support, gone those that the lost bits may have
		// supported.
		var come, gone, none roundBits
		any, on := uint64(0), uint64(0)
		for r := range KeptRounds {
			plus, off := x.round(r)&^old.round(r), old.round(r)&^x.round(r)
			if (plus|off)&kd.wants != 0 {
				y, z := kd.joined(plus), kd.joined(off)
				any, on = any|y|z, on|plus
				come[(r+1)/2] |= y << ((r + 1) % 2 * perRound)
				gone[(r+1)/2] |= z << ((r + 1) % 2 * perRound)
			}
		}
		if any == 0 {
			continue
		}
		for _, d := range kd.dirs {
			for n := range kd.runs() {
				run := kd.run(k.g, v, d, n)
				for nbrs, _, ok := run.Next(); ok; nbrs, _, ok = run.Next() {
					k.Reads += uint64(len(nbrs))
					for _, w := range nbrs {
						if of := k.at(w); of[0]&any != 0 {
							k.ask(w, k.lacking(w, of.changing(&come, &none), on)|of.changing(&none, &gone))
						}
					}
				}
			}
		}
	}
}

// changing returns the pattern vertices whose bits may change at a vertex: those of come that are in the round before
// and not yet there, and those of gone that are there.
func (x *roundBits) changing(come, gone *roundBits) (asked uint64) {
	before := uint64(0)
	for i := range x {
		asked |= come[i]&^x[i]&(x[i]<<perRound|before) | gone[i]&x[i]
		before = x[i] >> perRound
	}
	return (asked | asked>>perRound) & roundMask
}

// IsEmpty reports whether some pattern vertex has no candidate: neither view has a match then.
func (k *Kept) IsEmpty() bool { return slices.Contains(k.Candidates, 0) }

// Space returns a Space that reads the current bits at each use. Its numbers of candidates are those of now. It is
// valid until NewlyCommon is set. It returns nil when stop, which is asked now and then, is true.
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
	k.NewlyCommon = false
	return m.Space
}

// concerns reports whether a data edge joins candidates, by round 0, of pattern vertices that an edge joins.
func (k *Kept) concerns(c *Change) bool {
	if int(max(c.From, c.To)) >= k.vertices() { // of vertices that were removed
		return false
	}
	for x := k.Round(c.From, 0); x != 0; x &= x - 1 {
		if k.joins[bits.TrailingZeros64(x)]&k.Round(c.To, 0) != 0 {
			return true
		}
	}
	return false
}

// gain queues vertex v for the bits that a new edge from it to w may support. Bits that come to w later queue v again.
func (k *Kept) gain(v, w dyngraph.VertexID) {
	asked, of, to := uint64(0), k.at(v), k.at(w)
	for r := range KeptRounds {
		asked |= k.joined(to.round(r)) & of.round(r) &^ of.round(r+1)
	}
	k.ask(v, k.lacking(v, asked, to.round(0)))
}

// lose queues vertex v for the bits that a lost edge from it to w may have supported.
func (k *Kept) lose(v, w dyngraph.VertexID) {
	asked, of, to := uint64(0), k.at(v), k.at(w)
	for r := range KeptRounds {
		asked |= k.joined(to.round(r)) & of.round(r+1)
	}
	k.ask(v, asked)
}

// joined returns the pattern vertices that a pattern edge joins to one of a set.
func (k *Kept) joined(x uint64) (to uint64) {
	for ; x != 0; x &= x - 1 {
		to |= k.joins[bits.TrailingZeros64(x)]
	}
	return to
}
