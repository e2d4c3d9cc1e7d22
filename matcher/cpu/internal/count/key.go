package count

import (
	"encoding/binary"
	"math/bits"
)

// componentKey is the key of a component in the memo. Components of any patterns with equal keys have the same count
// for the same images of their separators, if the same number of their edges, by rank, see the whole graph.
type componentKey struct {
	first  uint32 // number of the first version; see Counter.version
	shared bool   // by several components, or quotients
}

// componentKeys are the keys of one worker's components, by all that their counts depend on.
type componentKeys struct {
	by   map[string]*componentKey
	next uint32
	text []byte
}

// maxComponentKeys is the number of versions of all keys above which a counter drops all components.
const maxComponentKeys = 1 << 31

// of returns the key of a component.
func (n *componentKeys) of(ps *quotientComponents, p *component) *componentKey {
	n.text = ps.describe(n.text[:0], p)
	if name := n.by[string(n.text)]; name != nil {
		name.shared = true
		return name
	}
	if n.by == nil {
		n.by = map[string]*componentKey{}
	}
	name := &componentKey{first: n.next}
	n.next += 2 * uint32(1+p.ranks.size())
	n.by[string(n.text)] = name
	return name
}

// describe appends everything that the count of a component depends on, except images. Blocks are numbered: first those
// of the separator in its order, then the component's own.
func (ps *quotientComponents) describe(to []byte, p *component) []byte {
	q := ps.q
	number := make([]int, len(q.BlockOf))
	for i, v := range p.separator {
		number[q.BlockOf[v]] = i
	}
	n := len(p.separator)
	for m := p.mask; m != 0; m &= m - 1 {
		number[bits.TrailingZeros32(m)] = n
		n++
	}
	around := p.mask
	for _, v := range p.separator {
		around |= 1 << q.BlockOf[v]
	}
	put := func(x uint64) { to = binary.AppendUvarint(to, x) }
	put(uint64(len(p.separator)))
	for m := p.mask; m != 0; m &= m - 1 {
		v := bits.TrailingZeros32(m)
		at := &q.filters[v]
		put(uint64(len(at.moreTests)))
		for i := range 1 + len(at.moreTests) {
			t := at.test
			if i > 0 {
				t = at.moreTests[i-1]
			}
			put(uint64(t.Word))
			put(t.Mask)
			put(t.Want)
		}
		flags := uint64(len(q.Edges[v])) << 1
		if at.implied {
			flags |= 1
		}
		put(flags)
		conflicts := q.conflicts[v] & around
		put(uint64(bits.OnesCount32(conflicts)))
		for c := conflicts; c != 0; c &= c - 1 {
			put(uint64(number[bits.TrailingZeros32(c)]))
		}
		for i := range q.Edges[v] {
			e := &q.Edges[v][i]
			put(uint64(number[q.BlockOf[e.From]]))
			put(uint64(p.ranks.below(e.rank)))
			to = e.Multi.describe(to, &p.ranks, ps.of.plan)
			kind := &ps.of.plan.kinds[e.kind]
			put(kind.key)
			put(uint64(len(kind.tests)))
			to = append(to, kind.tests...)
		}
	}
	return to
}

// describe appends the labels and directions of a multi-edge and the ranks of its edges, by index; a zero if b is nil.
func (b *MultiEdge) describe(to []byte, ranks *edgeSet, s *Plan) []byte {
	if b == nil {
		return append(to, 0)
	}
	to = binary.AppendUvarint(append(to, 1), uint64(len(s.multiKinds[b.kinds])))
	to = binary.AppendUvarint(append(to, s.multiKinds[b.kinds]...), uint64(len(b.Sets)))
	for _, set := range b.Sets {
		to = binary.AppendUvarint(to, uint64(len(set)))
		for i := range set {
			to = binary.AppendUvarint(to, uint64(ranks.below(set[i].rank)))
		}
	}
	return to
}
