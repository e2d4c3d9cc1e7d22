package space

import (
	"math/bits"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/internal/candidates"
	"motifd/matcher/internal/truths"
)

// kind is a set of data edges as one of their ends sees them: directions, labels and a test. Pattern edges that ask for
// the same share a kind.
type kind struct {
	dirs   []dyngraph.Dir
	labels []dyngraph.LabelID          // nil for any
	test   *truths.Test                // nil for none
	wants  uint64                      // the pattern vertices that have such an edge
	others [matcher.MaxVertices]uint64 // by pattern vertex: the other ends of its edges of the kind
	first  [matcher.MaxVertices]uint16 // by pattern vertex: 1 + the place among ends of its last one; 0 for none
	ends   []end
}

// end is a pattern edge that asks for a kind, as one of its vertices sees it.
type end struct {
	edge, other uint16
	next        uint16 // 1 + the place of another one of the vertex; 0 for none
}

var bothDirs = [2]dyngraph.Dir{dyngraph.Out, dyngraph.In}

// kindsOf lists the kinds of edges that a pattern asks for.
func kindsOf(p *matcher.Plan, f candidates.Source) []kind {
	kinds := make([]kind, 0, 2)
	for i, e := range p.Query.Edges {
		var labels []dyngraph.LabelID
		if l := p.EdgeLabels[i]; l != matcher.AnyLabel {
			labels = matcher.EachLabel(l)
		}
		test := f.EdgeTest(p, i)
		for _, v := range [2]int{e.From, e.To} {
			dirs := bothDirs[:1]
			switch {
			case p.Directed && e.Either:
				dirs = bothDirs[:]
			case p.Directed && e.To == v:
				dirs = bothDirs[1:]
			}
			at := slices.IndexFunc(kinds, func(k kind) bool {
				return slices.Equal(k.dirs, dirs) && slices.Equal(k.labels, labels) && k.test == test &&
					(k.labels == nil) == (labels == nil)
			})
			if at < 0 {
				at = len(kinds)
				kinds = append(kinds, kind{dirs: dirs, labels: labels, test: test,
					ends: make([]end, 0, 2*len(p.Query.Edges))})
			}
			k, other := &kinds[at], e.From+e.To-v
			k.ends, k.wants = append(k.ends, end{uint16(i), uint16(other), k.first[v]}), k.wants|1<<v
			k.first[v] = uint16(len(k.ends))
			k.others[v] |= 1 << other
		}
	}
	return kinds
}

// runs returns how many ranges of the graph hold the edges of one direction that have one of the kind's labels.
func (k *kind) runs() int { return max(1, len(k.labels)) }

// run returns one of the runs of a vertex in a direction.
func (k *kind) run(g *dyngraph.Graph, v dyngraph.VertexID, d dyngraph.Dir, i int) dyngraph.Range {
	if k.labels == nil {
		return g.RangeAll(v, d)
	}
	return g.Range(v, d, k.labels[i])
}

// each calls f with the neighbours of a vertex along edges of a kind, some at a time.
func (k *kind) each(m *maker, v dyngraph.VertexID, f func(nbrs []dyngraph.VertexID)) {
	for _, d := range k.dirs {
		for i := range k.runs() {
			r := k.run(m.g, v, d, i)
			for nbrs, ents, ok := r.Next(); ok; nbrs, ents, ok = r.Next() {
				if m.left -= len(nbrs); k.test != nil {
					nbrs = m.admitted(k.test, nbrs, ents)
				}
				f(nbrs)
			}
		}
	}
}

// admitted returns those neighbours to which edges lead that pass a test in some view. They are valid until the next
// call.
func (m *maker) admitted(test *truths.Test, nbrs []dyngraph.VertexID, ents []dyngraph.Entry) []dyngraph.VertexID {
	m.passed = m.passed[:0]
	for at, w := range nbrs {
		if m.Truths().Either(test, ents[at]) {
			m.passed = append(m.passed, w)
		}
	}
	return m.passed
}

// joined returns the pattern vertices that edges of the kind join to some of a set.
func (k *kind) joined(set uint64) (of uint64) {
	for m := set & k.wants; m != 0; m &= m - 1 {
		of |= k.others[bits.TrailingZeros64(m)]
	}
	return of
}

// keep returns those pattern vertices of a set that have support along edges of the kind. seen has the bits of all
// neighbours along these edges.
func (k *kind) keep(set, seen uint64) uint64 {
	for m := set & k.wants; m != 0; m &= m - 1 {
		if u := bits.TrailingZeros64(m); k.others[u]&^seen != 0 {
			set &^= 1 << u
		}
	}
	return set
}

// keepMany returns those pattern vertices of a set for which a data vertex has enough neighbours along edges of a kind:
// as many with a bit as the pattern vertex has neighbours.
func (m *maker) keepMany(k *kind, set uint64, nbrs []dyngraph.VertexID) uint64 {
	for rest := set & k.wants; rest != 0; rest &= rest - 1 {
		u := bits.TrailingZeros64(rest)
		of := k.others[u]
		least := bits.OnesCount64(of)
		if least == 1 {
			continue // keep has tested it
		}
		n := 0
		for _, w := range nbrs {
			n += oneOf(m.bits[w] & of)
		}
		if n < least {
			set &^= 1 << u
		}
	}
	return set
}

// oneOf returns 1 for a set that is not empty, else 0, without a branch: which neighbours of a data vertex are
// candidates is guessed wrong often.
func oneOf(set uint64) int {
	n := 0
	if set != 0 {
		n = 1
	}
	return n
}

// degrees are the least numbers of edges of an image: outgoing, incoming, and of both together.
type degrees struct{ out, in, all int }

// satisfiedBy reports whether a data vertex has at least these numbers of edges. Edges of the staged batch count, too.
func (d *degrees) satisfiedBy(g *dyngraph.Graph, v dyngraph.VertexID) bool {
	out, in := g.Degree(v, dyngraph.Out), 0
	if g.Directed() {
		in = g.Degree(v, dyngraph.In)
	}
	return out >= d.out && in >= d.in && out+in >= d.all
}

// joinsOf returns the neighbours of each pattern vertex.
func joinsOf(p *matcher.Plan) []uint64 {
	joins := make([]uint64, len(p.Query.Vertices))
	for _, e := range p.Query.Edges {
		joins[e.From] |= 1 << e.To
		joins[e.To] |= 1 << e.From
	}
	return joins
}

// degreesOf returns the numbers of edges that images of the pattern's vertices have at least.
func degreesOf(p *matcher.Plan) []degrees {
	of := make([]degrees, len(p.Query.Vertices))
	for _, e := range p.Query.Edges {
		for i, v := range [2]int{e.From, e.To} {
			switch d := &of[v]; {
			case p.Directed && e.Either:
				d.all++
			case p.Directed && i == 1:
				d.in++
			default:
				d.out++
			}
		}
	}
	for u := range of {
		d := &of[u]
		if d.all += d.in + d.out; p.Query.MatchMode == matcher.Homomorphism { // edges may share an image
			d.out, d.in, d.all = min(d.out, 1), min(d.in, 1), min(d.all, 1)
		}
	}
	return of
}
