package count

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"motifd/matcher"
)

// component is a set of blocks that are counted together, given the images of its separator.
type component struct {
	key          *componentKey // nil until it is asked for
	shared       bool          // by several quotients
	mask         uint32
	separator    []int   // a pattern vertex of each block outside that it is joined to
	separatorSet uint32  // the same as bits
	conflicts    uint32  // the blocks outside that its images must be kept apart from
	ranks        edgeSet // of the edges at its blocks

	// Several leaves are counted together (countLeaves). Other components have a method or are eliminated: next is
	// mapped first. It is chosen when it is first needed: most anchors end before.
	leaves      []int
	method      method       // or nil
	next        int          // -1 until it is chosen
	members     uint32       // of next
	to          *filter      // of next
	from        []Edge       // from the separator to next
	intersected bool         // their lists were intersected before
	few         bool         // few images are expected to be tried
	*prefixes                // of these; nil until then
	rest        []*component // the components that remain without next; nil until they are needed
	leaf        *component   // rest, if it is one leaf without conflicts
}

// components makes the components of one plan; each worker has its own. Quotients share equal components.
type components struct {
	plan       *Plan
	byKey      map[string]*component
	keys       *componentKeys
	quotients  []*quotientComponents
	injective  *quotientComponents
	strategies []Strategy // by anchor edge, after the one for whole graphs
	kept       int        // vertices that prefixes have room for
}

// quotientComponents makes the components of one quotient.
type quotientComponents struct {
	of       *components
	q        *Quotient
	all      map[uint32]*component
	list     map[uint32][]*component
	tops     [][]*component // by anchor edge; see anchored
	crossing [][]crossing   // by block; nil until it is asked for
}

// newComponents returns the components of a plan. Each is made when it is first used.
func newComponents(s *Plan, names *componentKeys) *components {
	ps := &components{
		plan:       s,
		keys:       names,
		byKey:      map[string]*component{},
		strategies: make([]Strategy, len(s.rank)+1),
	}
	of := func(q *Quotient) *quotientComponents {
		return &quotientComponents{
			of:   ps,
			q:    q,
			all:  map[uint32]*component{},
			list: map[uint32][]*component{},
			tops: make([][]*component, len(s.rank)),
		}
	}
	for _, q := range s.Quotients {
		ps.quotients = append(ps.quotients, of(q))
	}
	if s.injective != nil {
		ps.injective = of(s.injective)
	}
	return ps
}

// Strategy is how matches are counted from an anchor.
type Strategy uint8

const (
	Auto Strategy = iota // the better one
	ByQuotients
	Injective
)

// countsInjectively reports whether counting from an anchor edge, or (-1) in a whole graph, keeps the vertices of the
// pattern apart.
func (c *Counter) countsInjectively(anchor int) bool {
	switch {
	case c.Strategy == ByQuotients && c.plan.Quotients != nil:
		return false
	case c.Strategy == Injective && c.plan.injective != nil:
		return true
	}
	return c.comps.strategy(anchor) == Injective
}

// strategy returns the faster strategy. Injective is faster where only leaves remain and, by a factor of about two, for
// patterns with several cycles. It can be slower by any factor where components must be eliminated together only
// because they may share images.
func (ps *components) strategy(anchor int) Strategy {
	w := &ps.strategies[anchor+1]
	if *w == Auto {
		*w = ByQuotients
		q := ps.plan.injective
		switch {
		case q == nil:
		case ps.plan.Quotients == nil:
			*w = Injective
		case anchor >= 0:
			*w = Injective
			cycles := 1 - len(q.BlockOf)
			for v := range q.Adj {
				cycles += bits.OnesCount32(q.Adj[v] >> v)
			}
			for _, p := range ps.injective.anchored(anchor) {
				if p.leaves == nil && (cycles < 2 || !q.connected(p.mask)) {
					*w = ByQuotients
				}
			}
		}
	}
	return *w
}

// anchored returns the components of all blocks except the ends of a pattern edge.
func (ps *quotientComponents) anchored(edge int) []*component {
	if ps.tops[edge] == nil {
		e := ps.of.plan.Pattern.Query.Edges[edge]
		ends := uint32(1)<<ps.q.BlockOf[e.From] | 1<<ps.q.BlockOf[e.To]
		ps.tops[edge] = append([]*component{}, ps.split(ps.q.Blocks&^ends)...)
	}
	return ps.tops[edge]
}

// split divides a set of unmapped blocks into components: connected parts, where parts that conflict are one component.
// The counts of components multiply; the simplest components come first.
func (ps *quotientComponents) split(mask uint32) []*component {
	if l, ok := ps.list[mask]; ok {
		return l
	}
	var l []*component
	for left := mask; left != 0; {
		part := left & -left
		for {
			grown := part
			for m := part; m != 0; m &= m - 1 {
				v := bits.TrailingZeros32(m)
				grown |= (ps.q.Adj[v] | ps.q.conflicts[v]) & mask
			}
			if grown == part {
				break
			}
			part = grown
		}
		l = append(l, ps.component(part))
		left &^= part
	}
	slices.SortStableFunc(l, func(a, b *component) int {
		return cmp.Or(
			cmp.Compare(bits.OnesCount32(a.mask), bits.OnesCount32(b.mask)),
			cmp.Compare(len(a.from), len(b.from)),
		)
	})
	ps.list[mask] = l
	return l
}

// component returns the component of a set of blocks.
func (ps *quotientComponents) component(mask uint32) *component {
	if p, ok := ps.all[mask]; ok {
		return p
	}
	q := ps.q
	p := &component{mask: mask, next: -1}
	var around uint32                      // blocks outside
	var groups [matcher.MaxVertices]uint32 // by these: pattern vertices
	leaves, single := true, true
	for m := mask; m != 0; m &= m - 1 {
		v := bits.TrailingZeros32(m)
		p.conflicts |= q.conflicts[v] &^ mask
		for _, e := range q.Edges[v] {
			e.addRanks(&p.ranks)
			if x := q.BlockOf[e.From]; mask&(1<<x) == 0 {
				around |= 1 << x
				groups[x] |= e.fromAll
			}
		}
		leaves, single = leaves && q.Adj[v]&mask == 0, single && len(q.Edges[v]) == 1
	}
	touch := groups[:0]
	for m := around; m != 0; m &= m - 1 {
		t := groups[bits.TrailingZeros32(m)]
		touch = append(touch, t)
		p.separatorSet |= 1 << bits.TrailingZeros32(t)
	}
	for m := p.separatorSet; m != 0; m &= m - 1 {
		p.separator = append(p.separator, bits.TrailingZeros32(m))
	}
	if len(ps.of.quotients) > 1 { // others may have it
		key := ps.textOf(mask, touch)
		if same, ok := ps.of.byKey[key]; ok {
			same.shared = true
			ps.all[mask] = same
			return same
		}
		ps.of.byKey[key] = p
	}
	ps.all[mask] = p
	if leaves && (single || bits.OnesCount32(mask) > 2) || mask&(mask-1) == 0 {
		for m := mask; m != 0; m &= m - 1 {
			p.leaves = append(p.leaves, bits.TrailingZeros32(m))
		}
		p.method, p.next = leaf{}, p.leaves[0]
		p.members, p.to, p.from = q.Members[p.next], &q.filters[p.next], q.Edges[p.next]
		return p
	}
	p.method = ps.newMethod(p)
	return p
}

// addRanks adds the ranks of the edge's pattern edges; of identified edges only the lowest rank.
func (e *Edge) addRanks(to *edgeSet) {
	if e.Multi == nil {
		to.add(e.rank)
		return
	}
	for _, set := range e.Multi.Sets {
		for i := range set {
			to.add(set[i].rank)
		}
	}
}

// chooseNext chooses the block of a component that is eliminated first.
//
// Connected parts that may share images are separated by eliminating the cheapest part; the others are then components
// of their own. Within a part, the block with the most edges to the separator comes first, then the block that leaves
// components with the smallest separators, because counts by one or two images recur, then the block with the most
// edges. Where numbers of candidates are known, the block with the least growth comes first, unless another one makes
// the component try far fewer images (lookAhead).
func (ps *quotientComponents) chooseNext(p *component) {
	q, mask := ps.q, p.mask
	part := q.cheapestComponent(mask)
	most, firsts := math.MinInt, uint32(0) // blocks with the most edges
	for m := part; m != 0; m &= m - 1 {
		v := bits.TrailingZeros32(m)
		back := bits.OnesCount32(q.Adj[v] &^ mask)
		if back == 0 || ps.isPendant(v) && part&(part-1) != 0 {
			continue
		}
		if ps.of.plan.Images != nil {
			back = -ps.growth(v, mask)
		}
		if back > most {
			most, firsts = back, 0
		}
		if back == most {
			firsts |= 1 << v
		}
	}
	p.next = bits.TrailingZeros32(firsts)
	if firsts&(firsts-1) != 0 {
		best := [3]int{math.MinInt}
		for m := firsts; m != 0; m &= m - 1 {
			v := bits.TrailingZeros32(m)
			score := [...]int{-max(2, q.widestSeparator(mask&^(1<<v))), bits.OnesCount32(q.Adj[v]), -v}
			if slices.Compare(score[:], best[:]) > 0 {
				best, p.next = score, v
			}
		}
	}
	if ps.of.plan.Images != nil && !p.few {
		p.next, p.few = ps.lookAhead(p.next, part, mask)
	}
	p.members, p.to = q.Members[p.next], &q.filters[p.next]
	for _, e := range q.Edges[p.next] {
		if mask&(1<<q.BlockOf[e.From]) == 0 {
			p.from = append(p.from, e)
		}
	}
	if bits.OnesCount32(mask) != 2 {
		return
	}
	r := ps.restOf(p)[0]
	if len(r.from) == 1 && q.conflicts[p.next]|q.conflicts[r.next] == 0 && p.from[0].Multi == nil &&
		r.from[0].Multi == nil {
		p.leaf = r
	}
}

// restOf returns the components that remain of one once its next block is mapped.
func (ps *quotientComponents) restOf(p *component) []*component {
	if p.rest == nil {
		p.rest = ps.split(p.mask &^ (1 << p.next))
		for _, r := range p.rest {
			r.few = r.few || p.few
		}
	}
	return p.rest
}

// textOf returns a text that is equal for equal components of different quotients: the same blocks, with the same edges
// to the same vertices outside. touch are these, by block; it is sorted.
func (ps *quotientComponents) textOf(mask uint32, touch []uint32) string {
	var room [128]byte
	var edges edgeSet
	text := append(room[:0], byte(bits.OnesCount32(mask)))
	for m := mask; m != 0; m &= m - 1 {
		v := bits.TrailingZeros32(m)
		text = binary.LittleEndian.AppendUint32(text, ps.q.Members[v])
		for i := range ps.q.Edges[v] {
			edges.join(&ps.q.Edges[v][i].patternEdges)
		}
	}
	slices.Sort(touch)
	text = append(text, byte(len(touch)))
	for _, t := range touch {
		text = binary.LittleEndian.AppendUint32(text, t)
	}
	for _, w := range edges {
		text = binary.AppendUvarint(text, w)
	}
	if ps.q == ps.of.plan.injective {
		text = append(text, 1)
	}
	return string(text)
}

// Component returns the blocks of a set that are connected with some blocks.
func (q *Quotient) Component(of, set uint32) uint32 {
	for {
		grown := of
		for m := of; m != 0; m &= m - 1 {
			grown |= q.Adj[bits.TrailingZeros32(m)] & set
		}
		if grown == of {
			return of
		}
		of = grown
	}
}

// widestSeparator returns the size of the largest separator of a connected part of a set.
func (q *Quotient) widestSeparator(set uint32) int {
	most := 0
	for set != 0 {
		part, around := q.Component(set&-set, set), uint32(0)
		for m := part; m != 0; m &= m - 1 {
			around |= q.Adj[bits.TrailingZeros32(m)]
		}
		most = max(most, bits.OnesCount32(around&^part))
		set &^= part
	}
	return most
}

// connected reports whether a set of blocks is connected.
func (q *Quotient) connected(set uint32) bool { return q.Component(set&-set, set) == set }

// cheapestComponent returns the connected part of a set with the fewest expected mappings: each block multiplies them,
// and each edge beyond a spanning tree divides them by far more. Single blocks that may share an image with each other
// come last, because they are counted together when only they are left. A single block that conflicts only with larger
// parts does not come last: it is usually the cheapest.
func (q *Quotient) cheapestComponent(mask uint32) uint32 {
	best, least := mask, 0
	if others := mask &^ q.conflicting(q.isolated(mask)); others != 0 {
		mask = others
	}
	for left := mask; left != 0; {
		part := q.Component(left&-left, mask)
		inside, out := 0, 0
		for m := part; m != 0; m &= m - 1 {
			v := bits.TrailingZeros32(m)
			inside += bits.OnesCount32(q.Adj[v] & part)
			out += bits.OnesCount32(q.Adj[v] &^ mask)
		}
		vertices := bits.OnesCount32(part)
		if cost := vertices - 4*(inside/2+out-vertices); left == mask || cost < least {
			best, least = part, cost
		}
		left &^= part
	}
	return best
}

// isolated returns the blocks of a set that are joined to no other block of the set.
func (q *Quotient) isolated(set uint32) (blocks uint32) {
	for m := set; m != 0; m &= m - 1 {
		if v := bits.TrailingZeros32(m); q.Adj[v]&set == 0 {
			blocks |= 1 << v
		}
	}
	return blocks
}

// conflicting returns the blocks of a set that may have the same image as another block of the set.
func (q *Quotient) conflicting(set uint32) (blocks uint32) {
	for m := set; m != 0; m &= m - 1 {
		if v := bits.TrailingZeros32(m); q.conflicts[v]&set != 0 {
			blocks |= 1 << v
		}
	}
	return blocks
}
