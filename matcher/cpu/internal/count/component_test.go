package count

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/cpu/internal/work"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// plainly counts the ways to map some blocks by trying every vertex for each of them.
func plainly(c *Counter, mask uint32, vertices uint32) (n uint64) {
	if mask == 0 {
		return 1
	}
	for m := mask; m != 0; m &= m - 1 {
		u := bits.TrailingZeros32(m)
		if c.q.Adj[u]&c.mapped == 0 {
			continue
		}
		mapped := c.mapped
		for w := range dyngraph.VertexID(vertices) {
			if !c.admits(admission{&c.q.filters[u], c.q.conflicts[u] & c.mapped}, w) {
				continue
			}
			if often := plainWeight(c, u, w); often > 0 {
				c.bind(c.q.Members[u], w)
				c.mapped = mapped | 1<<u
				n += often * plainly(c, mask&^(1<<u), vertices)
				c.mapped = mapped
			}
		}
		return n
	}
	panic("nothing is joined to what is mapped")
}

// plainWeight returns in how many ways the edges of block u to the mapped ones can be mapped where w is its image, as
// the graph says.
func plainWeight(c *Counter, u int, w dyngraph.VertexID) uint64 {
	n := uint64(1)
	for i := range c.q.Edges[u] {
		e := &c.q.Edges[u][i]
		if c.mapped>>c.q.BlockOf[e.From]&1 == 0 {
			continue
		}
		if e.Multi != nil {
			for _, set := range e.Multi.Sets {
				n *= plainSet(c, set, c.image[e.From], w, map[dyngraph.EdgeIndex]bool{})
			}
			continue
		}
		of := c.g.Range(c.image[e.From], e.Dir, e.Label)
		if at, ok := of.Find(w); !ok || !c.admitsEdge(at, e.rank, e.tests) {
			return 0
		}
	}
	return n
}

// plainSet maps the edges of a set, one after the other, to different data edges between two vertices.
func plainSet(c *Counter, set []MemberEdge, x, w dyngraph.VertexID, used map[dyngraph.EdgeIndex]bool) (n uint64) {
	if len(set) == 0 {
		return 1
	}
	for d := dyngraph.Out; d <= dyngraph.In; d++ {
		for _, l := range c.g.LabelsOf(x, d, nil) {
			of := c.g.Range(x, d, l)
			e, ok := of.Find(w)
			if !ok || set[0].Dirs>>d&1 == 0 || !matcher.LabelFits(set[0].label, l) ||
				!c.admitsEdge(e, set[0].rank, set[0].tests) || used[e.Index()] {
				continue
			}
			used[e.Index()] = true
			n += plainSet(c, set[1:], x, w, used)
			used[e.Index()] = false
		}
	}
	return n
}

// TestComponentsCountAsEnumerationDoes counts components of random patterns with spiders for random images of what is
// mapped, of every quotient and with the vertices kept apart, and compares with trying every vertex; paths and spiders,
// too, as they are counted when a number leaves 64 bits. A search that is stopped in the middle leaves nothing that the
// next one could stumble over.
func TestComponentsCountAsEnumerationDoes(t *testing.T) {
	spiders, paths, positive, kept := 0, 0, 0, 0
	matchertest.ForSeedsUntil(t, 40, func() bool { return spiders > 0 && positive > 0 && paths > 0 && kept > 0 },
		func(t *testing.T, rng *rand.Rand) {
			b, x, q, delta := drawComponents(t, rng)
			p := x.Plans()[0]
			var stop atomic.Bool
			c := b.counter(&stop)
			b.start(c, b.plans[p])
			for _, w := range []Strategy{ByQuotients, Injective} {
				if w == Injective && c.plan.injective == nil || w == ByQuotients && c.plan.Quotients == nil {
					continue
				}
				c.Strategy = w
				for i := range delta.Net {
					n := &delta.Net[i]
					for _, a := range b.anchors(p, n) {
						c.FromAnchor(a, n.Sign, program.NetPair{From: n.From, To: n.To}, n.Label, uint32(i), n.Edge)
						c.countQuotient(c.plan.identity(), c.comps.self(w))
					}
				}
			}
			all := c.comps.quotients
			if c.comps.injective != nil {
				all = append([]*quotientComponents{c.comps.injective}, all...)
			}
			for _, parts := range all {
				for e := range q.Edges {
					parts.anchored(e)
				}
				for range 20 {
					if set := parts.q.Blocks & rng.Uint32(); set != parts.q.Blocks {
						parts.split(set)
					}
				}
				c.q, c.part = parts.q, parts
				for _, component := range componentList(parts) {
					for range 5 {
						c.memo.reset()
						c.depth, c.rank, c.sign = 0, rng.IntN(len(q.Edges)),
							[]dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted}[rng.IntN(2)]
						c.origin = origin{anchor: -1}
						if !mapAround(c, rng, component) {
							continue
						}
						want := plainly(c, component.mask, b.g.IDBound())
						mapped := c.mapped
						require.Equal(t, fmt.Sprint(want), c.count(component).String())
						require.Equal(t, mapped, c.mapped)
						c.memo.reset()
						require.Equal(t, fmt.Sprint(want), c.eliminateAgain(component).String())
						if path, ok := component.method.(*path); ok {
							n, ok := c.countPath(path)
							require.True(t, ok)
							require.Equal(t, want, n.Lo)
							paths++
						}
						if spider, ok := component.method.(*spider); ok {
							n, ok := c.countSpider(spider)
							require.True(t, ok)
							require.Equal(t, want, n.Lo)
							spiders++
							if want > 0 {
								positive++
							}
						}
						c.memo.reset()
						stop.Store(true)
						c.worker.Steps = work.PollEvery - 1 - uint64(rng.IntN(20))
						c.count(component)
						stop.Store(false)
						c.worker.Stopped = false
						for _, n := range c.paths.ways {
							require.Zero(t, n)
						}
						require.Equal(t, fmt.Sprint(want), c.count(component).
							String(), "after a search that was stopped")
						for range 6 { // the images of some lists stay
							mapAnother(c, rng, component)
							want := plainly(c, component.mask, b.g.IDBound())
							c.memo.reset()
							require.Equal(t, fmt.Sprint(want), c.count(component).String())
							if k := component.prefixes; k != nil && k.known > 0 && k.known < len(k.images) && want > 0 {
								kept++
							}
						}
					}
				}
			}
			x.Commit()
		})
}

// drawPieces draws a pattern that is counted by components, and a graph with a staged batch in which that is not much
// work.
func drawComponents(t *testing.T, rng *rand.Rand) (*fixture, *matchertest.Bench, *matcher.Query, *dyngraph.Delta) {
	for {
		directed, labels, shape, msgs := matchertest.SpiderStream(rng, 120)
		q := matchertest.RandomSpider(rng, "q", directed, labels)
		if matchertest.Walks(q, directed, msgs) > matchertest.MaxWalks {
			continue
		}
		opt := dyngraph.Options{Directed: directed}
		if rng.IntN(2) == 0 {
			opt.Schema = askSome(t, rng, q, msgs)
		}
		b := &fixture{t: t}
		x := matchertest.NewBenchOf(t, dyngraph.NewGraph(opt), plan.New(), []*matcher.Query{q}, b)
		x.Stage(msgs[:shape.Edges])
		x.Commit()
		delta := x.Stage(msgs[shape.Edges : shape.Edges+1+rng.IntN(40)])
		s := b.plans[x.Plans()[0]]
		if s == nil {
			continue
		}
		if rng.IntN(2) == 0 {
			knowSome(rng, s)
		}
		return b, x, q, delta
	}
}

// knowSome tells a plan numbers of candidates that are wrong: they decide nothing but orders.
func knowSome(rng *rand.Rand, s *Plan) {
	var images, pairs []int
	for range s.Pattern.Query.Vertices {
		images = append(images, 1+rng.IntN(1000))
	}
	for _, e := range s.Pattern.Query.Edges {
		pairs = append(pairs, 1+rng.IntN(images[e.From]*images[e.To]))
	}
	s.Know(images, pairs)
}

// askSome gives edges of a stream values, and some pattern edges a condition.
func askSome(t *testing.T, rng *rand.Rand, q *matcher.Query, msgs []dyngraph.Message) *property.Schema {
	c := matchertest.Case{Where: matchertest.Where{},
		Schema: &property.Schema{Edges: property.Declarations{property.Any: {"n": {Kind: property.Int64}}}}}
	for _, m := range msgs {
		for i := range m.Updates {
			if u := &m.Updates[i]; u.Op == dyngraph.InsertEdge {
				u.Attr.Values = []property.Value{property.Int(rng.Int64N(5))}
			}
		}
	}
	var exprs []*condition.Expr
	for i := range q.Edges {
		if rng.IntN(2) == 0 {
			exprs = append(exprs, &condition.Expr{Op: condition.OpCompare, Chain: []condition.Relation{condition.Ge},
				Args: []*condition.Expr{{Op: condition.OpProperty, Text: q.Edges[i].Name, Property: "n"},
					{Op: condition.OpNumber, Text: fmt.Sprint(rng.IntN(3))}}})
		}
	}
	require.NoError(t, c.Ask(q, exprs...))
	return c.Schema
}

func (ps *components) self(w Strategy) *quotientComponents {
	if w == Injective || ps.quotients == nil {
		return ps.injective
	}
	return ps.quotients[0]
}

// componentList returns the components that counting may come to, in an order that is the same each time.
func componentList(ps *quotientComponents) (l []*component) {
	for n := -1; n < len(ps.all); { // what is made of one may make others
		n = len(ps.all)
		for _, p := range ps.all {
			if p.leaves == nil && p.method == nil {
				if p.next < 0 {
					ps.chooseNext(p)
				}
				ps.restOf(p)
			}
		}
	}
	for mask := range uint32(1 << 12) {
		if p := ps.all[mask]; p != nil {
			l = append(l, p)
		}
	}
	return l
}

// eliminateAgain counts a component by mapping one of its blocks first, if it has more than one.
func (c *Counter) eliminateAgain(p *component) matcher.Count {
	if p.leaves != nil {
		return c.count(p)
	}
	return c.eliminate(p)
}

// mapAnother maps one of the blocks that mapAround mapped to another vertex, if one fits.
func mapAnother(c *Counter, rng *rand.Rand, p *component) {
	u := c.q.BlockOf[p.separator[rng.IntN(len(p.separator))]]
	was, mapped := c.image[u], c.mapped
	c.mapped &^= 1 << u
	w := dyngraph.VertexID(rng.IntN(int(c.g.IDBound())))
	if !c.admits(admission{&c.q.filters[u], c.q.conflicts[u] & c.mapped}, w) {
		w = was
	}
	c.bind(c.q.Members[u], w)
	c.mapped = mapped
}

// mapAround maps the separator of a component, and some of what it must be kept apart from, to random vertices that fit
// and are free.
func mapAround(c *Counter, rng *rand.Rand, p *component) bool {
	c.mapped = 0
	blocks := uint32(0)
	for _, v := range p.separator {
		blocks |= 1 << c.q.BlockOf[v]
	}
	others := p.conflicts &^ blocks & rng.Uint32()
	for m := blocks | others; m != 0; m &= m - 1 {
		u := bits.TrailingZeros32(m)
		var fit []dyngraph.VertexID
		for w := range dyngraph.VertexID(c.g.IDBound()) {
			if c.admits(admission{&c.q.filters[u], c.q.conflicts[u] & c.mapped}, w) {
				fit = append(fit, w)
			}
		}
		if len(fit) == 0 {
			return false
		}
		c.bind(c.q.Members[u], fit[rng.IntN(len(fit))])
		c.mapped |= 1 << u
	}
	return true
}
