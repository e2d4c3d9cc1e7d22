package cpu

import (
	"fmt"
	"math/bits"
	"slices"

	"motifd/matcher/candidates"
)

// pieceName is what pieces are remembered by: those of the same name, of whatever patterns, have as many mappings for
// the same images of their boundaries, as long as as many of their edges, by rank, see all of the graph.
type pieceName struct {
	first  uint32 // number of the first version; see counter.version
	shared bool   // by several pieces, or quotients
}

// pieceNames are the names of one worker's pieces, by all that their counts depend on.
type pieceNames struct {
	by   map[string]*pieceName
	next uint32
	text []byte
}

// mostPieceNames is so many numbers that a counter forgets all pieces and begins again.
const mostPieceNames = 1 << 31

// of returns the name of a piece.
func (n *pieceNames) of(ps *quotientPieces, p *piece) *pieceName {
	n.text = ps.describe(n.text[:0], p)
	if name := n.by[string(n.text)]; name != nil {
		name.shared = true
		return name
	}
	if n.by == nil {
		n.by = map[string]*pieceName{}
	}
	name := &pieceName{first: n.next}
	n.next += 2 * uint32(1+len(p.ranks))
	n.by[string(n.text)] = name
	return name
}

// describe appends what the count of a piece depends on, beside images, with blocks by number: those of the boundary in
// its order, then its own.
func (ps *quotientPieces) describe(to []byte, p *piece) []byte {
	q := ps.q
	number := make([]int, len(q.of))
	for i, v := range p.bound {
		number[q.of[v]] = i
	}
	n := len(p.bound)
	for m := p.mask; m != 0; m &= m - 1 {
		number[bits.TrailingZeros32(m)] = n
		n++
	}
	around := p.mask
	for _, v := range p.bound {
		around |= 1 << q.of[v]
	}
	test := func(t candidates.Test) { to = fmt.Appendf(to, "%x %x %x,", t.Word, t.Mask, t.Want) }
	to = fmt.Appendf(to, "%d:", len(p.bound))
	for m := p.mask; m != 0; m &= m - 1 {
		v := bits.TrailingZeros32(m)
		at := &q.at[v]
		test(at.test)
		for _, t := range at.more {
			test(t)
		}
		to = fmt.Appendf(to, "%t", at.implied)
		for c := q.clash[v] & around; c != 0; c &= c - 1 {
			to = fmt.Appendf(to, "/%d", number[bits.TrailingZeros32(c)])
		}
		for i := range q.edges[v] {
			e := &q.edges[v][i]
			rank, _ := slices.BinarySearch(p.ranks, e.rank)
			to = fmt.Appendf(to, "-%d %d", number[q.of[e.from]], rank)
			to = e.wide.describe(to, p.ranks, ps.ps.s)
			to = fmt.Appendf(to, " %x", ps.ps.s.kinds[e.kind])
		}
		to = append(to, ';')
	}
	return to
}

// describe appends what a bundle, if there is one, asks for, and the ranks of its edges, by place.
func (b *bundle) describe(to []byte, ranks []int, s *shape) []byte {
	if b == nil {
		return to
	}
	to = fmt.Appendf(to, "(%s", s.bundleKinds[b.kinds])
	for _, set := range b.sets {
		to = append(to, ';')
		for i := range set {
			rank, _ := slices.BinarySearch(ranks, set[i].rank)
			to = fmt.Appendf(to, " %d", rank)
		}
	}
	return append(to, ')')
}
