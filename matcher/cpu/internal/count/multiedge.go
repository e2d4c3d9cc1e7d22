package count

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/labeladj"
	"motifd/matcher/cpu/internal/neighbors"
	"motifd/matcher/internal/truths"
)

// A pattern edge is part of a multi-edge if it may have several images between two data vertices: because it takes any
// label, alternatives of labels or either direction, or because the graph has parallel edges of its label. It is also
// part of one if a parallel pattern edge may take the same image. Such edges are counted in sets: those of a set lie
// between the same two pattern vertices and compete for data edges, those of different sets never do. The multiplicity
// of a set for two data vertices is the number of ways to map its edges to different data edges between them.

// MultiEdge holds the sets that lie between two blocks of a quotient and need the same labels and directions. Their
// multiplicities multiply, since homomorphisms map each pattern edge independently; only parallel edges of the pattern
// must differ.
type MultiEdge struct {
	kinds int            // index into Plan.multiKinds
	exact bool           // a set is one edge, which takes every entry of the kind
	Sets  [][]MemberEdge // each sorted by label, directions, test and rank
}

// MemberEdge is a pattern edge of a set.
type MemberEdge struct {
	edge, rank int
	label      dyngraph.LabelID
	Dirs       uint8          // bits of dyngraph.Dir: directions in which the other block may see it
	tests      []*truths.Test // one, or none
}

// testKey names the test; it is empty without one.
func (b *MemberEdge) testKey() string { return testsKey(b.tests) }

// IsSimple reports whether each visible data edge of the kind counts for one.
func (b *MultiEdge) IsSimple() bool { return b.exact && len(b.Sets) == 1 }

// maxAssignments bounds the states by which the multiplicity of a set is found: the product, over kinds of its edges,
// of their number plus one. A pattern with a larger set is counted by enumeration.
const maxAssignments = 1 << 12

// groupMultiEdges finds the sets of competing edges. It reports false when one is too large.
func (s *Plan) groupMultiEdges() bool {
	q := s.Pattern.Query
	s.setOf = make([]int, len(q.Edges))
	for i := range s.setOf {
		s.setOf[i] = -1
	}
	for i, e := range q.Edges {
		if s.setOf[i] >= 0 {
			continue
		}
		set := []int{i}
		for at := 0; at < len(set); at++ {
			for k := range q.Edges {
				if s.setOf[k] < 0 && !slices.Contains(set, k) && s.compete(set[at], k) {
					set = append(set, k)
				}
			}
		}
		if len(set) == 1 && !matcher.SeveralLabels(s.Pattern.EdgeLabels[i]) && !(s.Pattern.Directed && e.Either) &&
			!s.Pattern.Several[i] {
			continue
		}
		for _, k := range set {
			s.setOf[k] = len(s.sets)
		}
		s.sets = append(s.sets, set)
		states, alike := 1, 0
		for j, b := range s.members(set, e.From) {
			if alike++; j+1 == len(set) || !b.isAlike(&s.members(set, e.From)[j+1]) {
				states, alike = states*(alike+1), 0
			}
			if states > maxAssignments {
				return false
			}
		}
	}
	return true
}

// compete reports whether two pattern edges may have the same image.
func (s *Plan) compete(i, k int) bool {
	x, y := s.Pattern.EdgeLabels[i], s.Pattern.EdgeLabels[k]
	return slices.Contains(s.Pattern.EdgesMustDiffer[i], k) && matcher.LabelsMeet(x, y) &&
		s.dirs(i, s.Pattern.Query.Edges[i].From)&s.dirs(k, s.Pattern.Query.Edges[i].From) != 0
}

// dirs returns the directions in which one end of a pattern edge may see it.
func (s *Plan) dirs(i, from int) uint8 {
	switch e := &s.Pattern.Query.Edges[i]; {
	case !s.Pattern.Directed:
		return 1 << dyngraph.Out
	case e.Either:
		return 1<<dyngraph.Out | 1<<dyngraph.In
	case e.From == from:
		return 1 << dyngraph.Out
	}
	return 1 << dyngraph.In
}

// members returns a set as one of its ends sees it.
func (s *Plan) members(set []int, from int) []MemberEdge {
	var bs []MemberEdge
	for _, i := range set {
		bs = append(bs, MemberEdge{i, s.rank[i], s.Pattern.EdgeLabels[i], s.dirs(i, from), s.tests[i]})
	}
	slices.SortFunc(bs, func(a, b MemberEdge) int {
		return cmp.Or(cmp.Compare(a.label, b.label), cmp.Compare(a.Dirs, b.Dirs),
			cmp.Compare(a.testKey(), b.testKey()), cmp.Compare(a.rank, b.rank))
	})
	return bs
}

// isAlike reports whether two edges of a set take the same data edges.
func (b *MemberEdge) isAlike(o *MemberEdge) bool {
	return b.label == o.label && b.Dirs == o.Dirs && slices.Equal(b.tests, o.tests)
}

// multiKind returns the number of the kind of edges that a set needs.
func (s *Plan) multiKind(set []MemberEdge) int {
	var key []byte
	for _, b := range set {
		key = fmt.Appendf(key, "%x.%d%q ", b.label, b.Dirs, b.testKey())
	}
	at := slices.Index(s.multiKinds, string(key))
	if at < 0 {
		at = len(s.multiKinds)
		s.multiKinds = append(s.multiKinds, string(key))
	}
	return at
}

// addMultiEdges adds the multi-edges of a quotient.
func (s *Plan) addMultiEdges(q *Quotient, b *partition) {
	for _, set := range s.sets {
		e := &s.Pattern.Query.Edges[set[0]]
		for _, v := range [2]int{e.From, e.To} {
			s.addMultiEdge(q, b, set, v, e.From+e.To-v)
		}
	}
}

// addMultiEdge adds a set as seen from pattern vertex v.
func (s *Plan) addMultiEdge(q *Quotient, b *partition, set []int, v, other int) {
	x, seen := b.blockOf[v], s.members(set, other)
	kinds := s.multiKind(seen)
	at := slices.IndexFunc(q.Edges[x], func(e Edge) bool {
		return e.Multi != nil && e.Multi.kinds == kinds && b.blockOf[e.From] == b.blockOf[other]
	})
	if at < 0 {
		at = len(q.Edges[x])
		k := labeladj.Wildcard{Edge: seen[0].label, Nbr: s.Label(b.members[x])}
		for i := range seen {
			k.Dirs |= seen[i].Dirs
			if seen[i].label != k.Edge {
				k.Edge = matcher.AnyLabel
			}
		}
		q.Edges[x] = append(
			q.Edges[x],
			Edge{rank: seen[0].rank, kind: s.wildcard(k, nil), Label: k.Edge,
				Multi: &MultiEdge{kinds: kinds, exact: len(seen) == 1 && seen[0].tests == nil}},
		)
	}
	to := &q.Edges[x][at]
	to.Multi.Sets = append(to.Multi.Sets, seen)
	to.fromAll |= 1 << other
	to.From = bits.TrailingZeros32(to.fromAll)
	for _, d := range seen {
		to.rank = min(to.rank, d.rank)
		to.patternEdges.add(d.edge)
	}
}

// code identifies the kind of edges that an edge of a quotient needs, without its ends.
func (e *Edge) code() uint64 {
	if e.Multi != nil {
		return 1<<63 | uint64(e.Multi.kinds)<<8 | uint64(len(e.Multi.Sets))
	}
	return uint64(e.Label)<<1 | uint64(e.Dir)
}

// multiplicity returns the number of ways to map a multi-edge between two data vertices, given the entries of its kind
// that lead from x to the other one.
func (c *Counter) multiplicity(b *MultiEdge, x dyngraph.VertexID, ent []dyngraph.Entry, check bool) matcher.Count {
	check = check && refusesSome(ent)
	total := matcher.CountOf(1)
	for _, set := range b.Sets {
		n := matcher.CountOf(uint64(len(ent)))
		switch {
		case !b.exact:
			n = c.assign(set, x, ent, check, noAnchor)
		case check:
			n = matcher.CountOf(c.visibleOf(ent, set[0].rank))
		}
		if n.IsZero() {
			return n
		}
		total = total.Mul(n)
	}
	return total
}

// visibleOf counts the entries that an edge of a rank sees.
func (c *Counter) visibleOf(ent []dyngraph.Entry, rank int) (n uint64) {
	for _, e := range ent {
		if c.admitsEdge(e, rank, nil) {
			n++
		}
	}
	return n
}

// noAnchor is no pattern edge.
const noAnchor = -1

// assignment is scratch memory for assign.
type assignment struct {
	kinds []assigned
	ways  []matcher.Count // by state: how many edges of each kind are mapped
}

// assigned are edges of a set that take the same entries.
type assigned struct {
	MemberEdge
	n     int // how many
	radix int
}

// assign returns the number of ways to map the edges of a set to different entries that lead from x. With an anchor,
// its edge and its image are left out.
func (c *Counter) assign(
	set []MemberEdge,
	x dyngraph.VertexID,
	ent []dyngraph.Entry,
	check bool,
	anchor int,
) matcher.Count {
	a := &c.assigning
	a.kinds = a.kinds[:0]
	for i := range set {
		d := &set[i]
		if d.edge == anchor {
			continue
		}
		if n := len(a.kinds) - 1; n >= 0 && a.kinds[n].isAlike(d) &&
			(!check || c.isNarrow(a.kinds[n].rank) == c.isNarrow(d.rank)) {
			a.kinds[n].n++
			continue
		}
		a.kinds = append(a.kinds, assigned{MemberEdge: *d, n: 1})
	}
	states := 1
	for i := range a.kinds {
		a.kinds[i].radix = states
		states *= a.kinds[i].n + 1
	}
	a.ways = append(a.ways[:0], make([]matcher.Count, states)...)
	a.ways[0] = matcher.CountOf(1)
	view := c.g.View(dyngraph.New)
	for _, e := range ent {
		from, to, label := view.Edge(e.Index())
		if anchor >= 0 && c.isAnchor(e.Index(), from, to, label) {
			continue
		}
		dir := uint8(1 << dyngraph.Out)
		if c.plan.Pattern.Directed && from != x {
			dir = 1 << dyngraph.In
		}
		for state := states - 1; state > 0; state-- {
			for i := range a.kinds {
				k := &a.kinds[i]
				mapped := state / k.radix % (k.n + 1)
				if mapped == 0 || k.Dirs&dir == 0 || !matcher.LabelFits(k.label, label) ||
					(check || k.tests != nil) && !c.admitsEdge(e, k.rank, k.tests) {
					continue
				}
				if n := a.ways[state-k.radix]; !n.IsZero() {
					a.ways[state] = a.ways[state].Add(n.Mul(matcher.CountOf(uint64(k.n - mapped + 1))))
				}
			}
		}
	}
	return a.ways[states-1]
}

// isAnchor reports whether a data edge is the image of the anchor.
func (c *Counter) isAnchor(e dyngraph.EdgeIndex, from, to dyngraph.VertexID, label dyngraph.LabelID) bool {
	b := &c.origin
	if b.edge != dyngraph.NoEdge {
		return e == b.edge
	}
	isReversed := !c.plan.Pattern.Directed && from == b.to && to == b.from
	return label == b.label && (from == b.from && to == b.to || isReversed)
}

// besideAnchor returns the multiplicity of the multi-edge that the anchor belongs to, between the ends of the anchor
// and without it.
func (c *Counter) besideAnchor(e *Edge, w dyngraph.VertexID, anchor int) matcher.Count {
	x := c.image[e.From]
	ent, check := c.entriesTo(x, e, w)
	total := matcher.CountOf(1)
	for _, set := range e.Multi.Sets {
		switch i := slices.IndexFunc(set, func(d MemberEdge) bool { return d.edge == anchor }); {
		case i >= 0 && len(set) == 1:
		case i >= 0:
			total = total.Mul(c.assign(set, x, ent, check, anchor))
		default:
			total = total.Mul(c.assign(set, x, ent, check, noAnchor))
		}
	}
	return total
}

// entriesTo returns the entries that lead from a data vertex along an edge to another one, and whether admitsEdge may
// refuse some of them.
func (c *Counter) entriesTo(x dyngraph.VertexID, e *Edge, w dyngraph.VertexID) ([]dyngraph.Entry, bool) {
	nbr, ent, check := c.neighbors(x, e)
	from := neighbors.Seek(nbr, 0, w)
	end := from
	for end < len(nbr) && nbr[end] == w {
		end++
	}
	return ent[from:end], check
}

// edgeWays returns the number of ways in which an edge joins data vertex w to the image of its other end.
func (c *Counter) edgeWays(e *Edge, w dyngraph.VertexID) matcher.Count {
	x := c.image[e.From]
	ent, check := c.entriesTo(x, e, w)
	switch {
	case len(ent) == 0:
		return matcher.Count{}
	case e.Multi != nil:
		return c.multiplicity(e.Multi, x, ent, check)
	case check && !c.admitsEdge(ent[0], e.rank, e.tests):
		return matcher.Count{}
	}
	return matcher.CountOf(1)
}

// weighted is a list of data vertices, ascending, with the number of times that each counts.
type weighted struct {
	nbr  []dyngraph.VertexID
	ways []matcher.Count
}

func (l *weighted) add(w dyngraph.VertexID, n matcher.Count) {
	l.nbr, l.ways = append(l.nbr, w), append(l.ways, n)
}

// gather lists the data vertices that fit a block, are injective, and are joined along some edges to the images of
// their other ends; each counts as often as these edges join it.
func (c *Counter) gather(l *weighted, u int, to *filter, from []Edge) {
	l.nbr, l.ways = l.nbr[:0], l.ways[:0]
	lead := 0
	least := -1
	for k := range from {
		if nbr, _, _ := c.neighbors(c.image[from[k].From], &from[k]); least < 0 || len(nbr) < least {
			lead, least = k, len(nbr)
		}
	}
	c.worker.StepBy(least * len(from))
	x := c.image[from[lead].From]
	nbr, ent, check := c.neighbors(x, &from[lead])
	a := c.admission(u, to)
	for i := 0; i < len(nbr); {
		w, end := nbr[i], i+1
		for end < len(nbr) && nbr[end] == w {
			end++
		}
		run := ent[i:end]
		i = end
		if !c.admits(a, w) {
			continue
		}
		n := matcher.CountOf(1)
		if e := &from[lead]; e.Multi != nil {
			n = c.multiplicity(e.Multi, x, run, check)
		} else if check && !c.admitsEdge(run[0], e.rank, e.tests) {
			continue
		}
		for k := range from {
			if n.IsZero() {
				break
			}
			if k != lead {
				n = n.Mul(c.edgeWays(&from[k], w))
			}
		}
		if !n.IsZero() {
			l.add(w, n)
		}
	}
}

// sumWays adds up the multiplicities of the data vertices that fit a block and are joined to v by a multi-edge.
func (c *Counter) sumWays(v dyngraph.VertexID, to *filter, e *Edge) (total matcher.Count) {
	nbr, ent, check := c.neighbors(v, e)
	a := admission{to: c.unlessImplied(to)}
	if !check && a.isEmpty() && e.Multi.IsSimple() {
		return matcher.CountOf(uint64(len(nbr)))
	}
	c.worker.StepBy(len(nbr))
	for i := 0; i < len(nbr); {
		w, end := nbr[i], i+1
		for end < len(nbr) && nbr[end] == w {
			end++
		}
		if c.admits(a, w) {
			total = total.Add(c.multiplicity(e.Multi, v, ent[i:end], check))
		}
		i = end
	}
	return total
}
