package space

import (
	"math/bits"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// narrows decides how the neighbours of a pattern vertex get their candidates. Let a be the number of candidates of the
// vertex, and b the number of data vertices with the labels of its neighbours. If narrows*a <= b, they are found along
// data edges, else by label. Data edges are read once for each pattern vertex here, and once in all by semi-joins.
const narrows = 4

// generator finds the data vertices that semi-joins begin with. The first pattern vertex is the rarest. Its candidates
// are all data vertices with its label, as many edges, and its own conditions. From there the pattern is walked. The
// candidates of a neighbour are found along data edges, from the candidates of the vertex before (as in the top-down
// construction of CFL-Match, SIGMOD 2016). Of these, those are dropped that have no image for some neighbour. Where the
// vertex before has many candidates, the neighbour's are found by label.
type generator struct {
	*maker
	all    *Signatures
	signs  []uint64              // of all
	needs  []degrees             // by pattern vertex
	least  []uint64              // by pattern vertex: what of these a signature tells
	more   uint64                // the pattern vertices of which more is asked than that
	around []uint64              // by pattern vertex: aroundsOf; nil where the filter's bits tell more
	most   []int                 // by pattern vertex: how many data vertices have its label
	joins  []uint64              // by pattern vertex: its neighbours
	fits   []uint64              // by data label: the pattern vertices whose labels it fits
	of     [][]dyngraph.VertexID // by pattern vertex: its candidates, some of which were dropped
	made   uint64                // pattern vertices that have candidates
	walked uint64                // pattern vertices whose neighbours have candidates
	looked int                   // data vertices, for stop
}

// candidate is a data vertex that may be the image of a pattern vertex.
type candidate struct {
	v dyngraph.VertexID
	u int
}

// generate sets the bits that semi-joins begin with, and what is dirty.
func (m *maker) generate(of *Signatures) bool {
	n, size := len(m.plan.Query.Vertices), int(m.g.IDBound())
	m.begin(size)
	for len(m.lists) < n {
		m.lists = append(m.lists, nil)
	}
	g := &generator{maker: m, all: of, signs: of.of(m.g), needs: degreesOf(m.plan), least: make([]uint64, n),
		most: make([]int, n), joins: joinsOf(m.plan), fits: fitsOf(m.plan, m.g.Labels()),
		of: m.lists[:n]}
	for u := range g.of {
		g.of[u] = g.of[u][:0]
	}
	rarest, hasBits := 0, m.plan.ForBatches() || m.Filter.Whole
	if !hasBits {
		g.around = aroundsOf(m.plan)
	}
	for u := range n {
		need := &g.needs[u]
		g.least[u] = signature(0, need.out, need.in)
		if need.out > counted || need.in > counted || need.all > need.out+need.in || hasBits ||
			m.VertexTest(m.plan, u) != nil {
			g.more |= 1 << u
		}
		if g.most[u] = m.Filter.AtMost(m.plan, u); g.most[u] < g.most[rarest] {
			rarest = u
		}
	}
	g.byLabel(rarest)
	for g.walked != g.made {
		u := g.next()
		g.walked |= 1 << u
		around, most := g.joins[u]&^g.made, 0
		for r := around; r != 0; r &= r - 1 {
			most += g.most[bits.TrailingZeros64(r)]
		}
		if narrows*len(g.of[u]) <= most {
			if !g.byEdges(u, around) {
				return false
			}
		} else {
			for r := around; r != 0; r &= r - 1 {
				g.byLabel(bits.TrailingZeros64(r))
			}
		}
		g.made |= around
		if m.stop() {
			return false
		}
	}
	return g.end()
}

// end leaves those data vertices marked as dirty that have bits.
func (g *generator) end() bool {
	m := g.maker
	kept := m.vertices[:0]
	for i, v := range m.vertices {
		if i%pollEvery == 0 && m.stop() {
			return false
		}
		x := m.bits[v]
		if x == 0 {
			m.unmark(v)
			continue
		}
		kept = append(kept, v)
	}
	m.vertices = kept
	m.Round = m.round()
	m.dirty = append(m.dirty, kept...)
	return true
}

// next returns the pattern vertex with the fewest candidates of those whose neighbours' are to be made.
func (g *generator) next() int {
	best := -1
	for r := g.made &^ g.walked; r != 0; r &= r - 1 {
		if u := bits.TrailingZeros64(r); best < 0 || len(g.of[u]) < len(g.of[best]) {
			best = u
		}
	}
	return best
}

// byLabel makes the candidates of a pattern vertex of all data vertices of its label.
func (g *generator) byLabel(u int) {
	g.Filter.Each(g.plan, u, func(v dyngraph.VertexID) {
		if s := g.signs[v]; s&g.least[u] == g.least[u] && g.needs[u].satisfiedBy(g.g, v) && g.hasAround(u, v) {
			g.enter(v, u)
		}
	})
	g.made |= 1 << u
}

// enter makes a data vertex a candidate of a pattern vertex.
func (g *generator) enter(v dyngraph.VertexID, u int) {
	if g.bits[v]>>u&1 != 0 {
		return
	}
	if g.mark(v) {
		g.vertices = append(g.vertices, v)
	}
	g.bits[v] |= 1 << u
	g.of[u] = append(g.of[u], v)
}

// byEdges makes the candidates of some neighbours of a pattern vertex, and drops candidates of this one which lack an
// edge.
func (g *generator) byEdges(u int, around uint64) bool {
	for _, v := range g.of[u] {
		if g.looked++; g.looked%pollEvery == 0 && g.stop() {
			return false
		}
		if g.explore(v, u, around) {
			for _, c := range g.found {
				g.enter(c.v, c.u)
			}
		} else {
			g.bits[v] &^= 1 << u
		}
	}
	return true
}

// explore finds what may be the images of a pattern vertex's neighbours among those of its candidate v. It reports
// false if one of them has none.
func (g *generator) explore(v dyngraph.VertexID, u int, around uint64) bool {
	g.found = g.found[:0]
	for i := range g.kinds {
		k := &g.kinds[i]
		others := k.others[u]
		if others == 0 {
			continue
		}
		seen, wanted := uint64(0), others&around
		k.each(g.maker, v, func(nbrs []dyngraph.VertexID) {
			n, maybe := 0, slices.Grow(g.maybe[:0], len(nbrs))[:len(nbrs)]
			for _, w := range nbrs {
				has := g.bits[w]
				seen |= has
				maybe[n] = w
				n += oneOf(wanted & g.fits[uint32(g.signs[w])] &^ has)
			}
			g.maybe = maybe
			for _, w := range maybe[:n] {
				sign := g.signs[w]
				for r := wanted & g.fits[uint32(sign)] &^ g.bits[w]; r != 0; r &= r - 1 {
					t := bits.TrailingZeros64(r)
					if sign&g.least[t] == g.least[t] && g.hasAround(t, w) && (g.more>>t&1 == 0 || g.mayFit(t, w)) {
						seen |= 1 << t
						g.found = append(g.found, candidate{w, t})
					}
				}
			}
		})
		if others&^seen != 0 {
			return false
		}
	}
	return true
}

// hasAround reports whether a data vertex may have the neighbours of a pattern vertex, by their labels.
func (g *generator) hasAround(u int, v dyngraph.VertexID) bool {
	return g.around == nil || g.around[u]&^g.all.aroundOf(g.g, v) == 0
}

// mayFit reports whether a data vertex, whose label and signature fit a pattern vertex, has enough edges and meets the
// conditions on it alone.
func (g *generator) mayFit(u int, v dyngraph.VertexID) bool {
	return g.needs[u].satisfiedBy(g.g, v) && g.Filter.MayFit(g.plan, u, v)
}

// fitsOf returns, by data label of a number of them, the pattern vertices whose labels it fits.
func fitsOf(p *matcher.Plan, labels int) []uint64 {
	fits := make([]uint64, labels)
	for u, want := range p.VertexLabels {
		if want == matcher.AnyLabel {
			for l := range fits {
				fits[l] |= 1 << u
			}
			continue
		}
		for _, l := range matcher.EachLabel(want) {
			if int(l) < labels { // not one that the graph has not seen
				fits[l] |= 1 << u
			}
		}
	}
	return fits
}
