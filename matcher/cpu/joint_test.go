package cpu

import (
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/program"
	"motifd/matcher/cpu/work"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
)

// plainly counts the ways to map some blocks by trying every vertex for each of them.
func plainly(c *counter, mask uint32, vertices uint32) (n uint64) {
	if mask == 0 {
		return 1
	}
	for m := mask; m != 0; m &= m - 1 {
		u := bits.TrailingZeros32(m)
		if c.q.adj[u]&c.mapped == 0 {
			continue
		}
		mapped := c.mapped
		for w := range dyngraph.VertexID(vertices) {
			if !c.passes(&c.q.at[u], w) || !c.free(u, w) {
				continue
			}
			if often := plainWeight(c, u, w); often > 0 {
				c.put(c.q.members[u], w)
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
func plainWeight(c *counter, u int, w dyngraph.VertexID) uint64 {
	n := uint64(1)
	for i := range c.q.edges[u] {
		e := &c.q.edges[u][i]
		if c.mapped>>c.q.of[e.from]&1 == 0 {
			continue
		}
		if e.wide != nil {
			for _, set := range e.wide.sets {
				n *= plainSet(c, set, c.image[e.from], w, map[dyngraph.EdgeIndex]bool{})
			}
			continue
		}
		of := c.se.g.Range(c.image[e.from], e.back.Dir, e.back.Label)
		if at, ok := of.Find(w); !ok || !c.sees(at, e.rank) {
			return 0
		}
	}
	return n
}

// plainSet maps the edges of a set, one after the other, to different data edges between two vertices.
func plainSet(c *counter, set []bundled, x, w dyngraph.VertexID, used map[dyngraph.EdgeIndex]bool) (n uint64) {
	if len(set) == 0 {
		return 1
	}
	for d := dyngraph.Out; d <= dyngraph.In; d++ {
		for _, l := range c.se.g.LabelsOf(x, d, nil) {
			of := c.se.g.Range(x, d, l)
			e, ok := of.Find(w)
			if !ok || set[0].dirs>>d&1 == 0 || !matcher.LabelFits(set[0].label, l) || !c.sees(e, set[0].rank) || used[e.Index()] {
				continue
			}
			used[e.Index()] = true
			n += plainSet(c, set[1:], x, w, used)
			used[e.Index()] = false
		}
	}
	return n
}

// randomJoint draws a pattern of chains between a vertex and a few others that are joined, and of what hangs from some.
func randomJoint(rng *rand.Rand, name string, directed bool, labels matchertest.Labels) *matcher.Query {
	q := &matcher.Query{Name: name, Version: 1, Emit: matcher.EmitCounts, Unit: matcher.Unit(rng.IntN(2))}
	only, apart := rng.IntN(3) == 0, rng.IntN(2) == 0 // one label for all, or labels that tell vertices apart as far as they can
	label := func(of []string) string {
		if rng.IntN(10) == 0 {
			return ""
		}
		return of[rng.IntN(len(of))]
	}
	one := label(labels.Vertex)
	chained := 0
	vertex := func(inChain bool) int {
		l := one
		switch {
		case apart && inChain:
			l = labels.Vertex[chained%len(labels.Vertex)]
			chained++
		case apart || !only:
			l = label(labels.Vertex)
		}
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("u", len(q.Vertices)), Label: l})
		return len(q.Vertices) - 1
	}
	edge := func(u, v int) {
		if rng.IntN(2) == 0 {
			u, v = v, u
		}
		q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("f", len(q.Edges)), From: u, To: v, Label: labels.Edge[rng.IntN(len(labels.Edge))],
			Either: !directed})
	}
	joint := vertex(true)
	ends := []int{vertex(false)}
	for range 1 + rng.IntN(2) {
		ends = append(ends, vertex(false))
		edge(ends[len(ends)-2], ends[len(ends)-1])
	}
	direct := map[int]bool{}
	for range 3 {
		end := ends[rng.IntN(len(ends))]
		at, long := joint, rng.IntN(3)
		if long == 0 && direct[end] {
			long = 1
		}
		direct[end] = direct[end] || long == 0
		for range long {
			next := vertex(true)
			edge(at, next)
			at = next
		}
		edge(at, end)
	}
	if apart { // the ends from some of the chains' vertices
		for _, end := range ends {
			q.Vertices[end].Label = labels.Vertex[rng.IntN(min(chained, len(labels.Vertex)))]
		}
	}
	for range rng.IntN(3) {
		if len(q.Vertices) < 9 {
			v := rng.IntN(len(q.Vertices))
			edge(v, vertex(false))
		}
	}
	if rng.IntN(3) == 0 { // a path that hangs from somewhere, and whose last vertex is like another
		at := rng.IntN(len(q.Vertices))
		for range 2 + rng.IntN(2) {
			next := vertex(false)
			edge(at, next)
			at = next
		}
		q.Vertices[at].Label = q.Vertices[rng.IntN(at)].Label
	}
	return q
}

// jointStream draws a stream of edges between few vertices, many of them with several labels, or in both directions.
func jointStream(rng *rand.Rand, most int) (directed bool, labels matchertest.Labels, shape matchertest.Shape, msgs []dyngraph.Message) {
	shape = matchertest.Shape{Directed: rng.IntN(2) == 0, Vertices: 6 + rng.IntN(most/5), Edges: most/2 + rng.IntN(most), Messages: 80, Full: true,
		Labels: matchertest.Labels{Vertex: []string{"A", "B", "C", "D", "E", "F", "G"}[:min(7, 1+rng.IntN(13))], Edge: []string{"T", "U"}[:1+rng.IntN(2)]}}
	if rng.IntN(3) == 0 {
		shape.Labels.Edge = append(shape.Labels.Edge, "") // in a pattern any
	}
	if rng.IntN(2) == 0 {
		shape.Hubs = 1 + rng.IntN(2)
	}
	return shape.Directed, shape.Labels, shape, matchertest.RandomStream(rng, shape)
}

// drawJoints draws patterns with joints and a stream, whose first messages make a graph, in which to enumerate them
// batch after batch is not much work.
func drawJoints(rng *rand.Rand) (directed bool, queries []*matcher.Query, msgs []dyngraph.Message, edges int) {
	for {
		directed, labels, shape, msgs := jointStream(rng, 30)
		queries = queries[:0]
		for range 30 {
			if q := randomJoint(rng, fmt.Sprint("q", len(queries)), directed, labels); walks(q, directed, msgs) <= mostWalks/10 {
				queries = append(queries, q)
			}
			if len(queries) == 4 {
				return directed, queries, msgs, shape.Edges
			}
		}
	}
}

// TestS12JointsCountAsEnumerationDoes counts patterns with joints, each way, through random batches, and compares with
// the reference.
func TestS12JointsCountAsEnumerationDoes(t *testing.T) {
	joints, counted := 0, uint64(0)
	matchertest.ForSeedsUntil(t, 30, func() bool { return joints > 0 && counted > 0 }, func(t *testing.T, rng *rand.Rand) {
		directed, queries, msgs, edges := drawJoints(rng)
		ref, fast := reference.New(), New(Options{Threads: 1 + rng.IntN(2), Lazy: rng.IntN(2) == 0})
		x := matchertest.NewBench(t, directed, plan.New(), queries, ref, fast)
		batches := append([][]dyngraph.Message{msgs[:edges]}, matchertest.Cut(rng, msgs[edges:])...)
		for _, batch := range batches[:min(len(batches), 25)] {
			x.Stage(batch)
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				reqs := x.Requests(func(_ int, r *matcher.Request) { r.Want = matcher.WantCount })
				forced := []way{unknownWay, byQuotients, keptApart}[rng.IntN(3)]
				forceWays(fast, forced)
				want, got := x.Search(ref, sign, reqs).Results, x.Search(fast, sign, reqs).Results
				for i, r := range reqs {
					require.Equal(t, want[i].Count.String(), got[i].Count.String(), "sign %d, way %d: %+v %+v", sign, forced, r.Plan.Query.Vertices, r.Plan.Query.Edges)
					counted += want[i].Count.Lo
				}
			}
			joints += jointsOf(fast)
			x.Commit()
		}
	})
}

// TestS12CyclesThatShareEdgesCountAsEnumerationDoes counts two cycles of five that share two edges, with a leaf:
// vertices of a chain must be kept apart from the ends of others.
func TestS12CyclesThatShareEdgesCountAsEnumerationDoes(t *testing.T) {
	joints, counted := 0, uint64(0)
	matchertest.ForSeeds(t, 80, func(t *testing.T, rng *rand.Rand) {
		directed := rng.IntN(3) == 0
		const vertices, edges = 24, 300
		var msgs []dyngraph.Message
		for v := range vertices {
			msgs = append(msgs, dyngraph.Message{Updates: []dyngraph.Update{{Op: dyngraph.InsertVertex, Key: fmt.Sprint(v), Label: string('A' + rng.Int32N(4))}}})
		}
		for i := range edges {
			op := dyngraph.InsertEdge
			if i > edges/2 && rng.IntN(4) == 0 {
				op = dyngraph.DeleteEdge
			}
			v, w := rng.IntN(vertices), rng.IntN(vertices)*rng.IntN(vertices)/vertices
			if v != w {
				msgs = append(msgs, dyngraph.Message{Updates: []dyngraph.Update{{Op: op, From: fmt.Sprint(v), To: fmt.Sprint(w), Label: "TTU"[i%3 : i%3+1]}}})
			}
		}
		q := &matcher.Query{Name: "q", Version: 1, Emit: matcher.EmitCounts}
		for i, l := range "AABCDDCD" {
			if rng.IntN(4) == 0 {
				l = 'A' + rng.Int32N(4)
			}
			q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("u", i), Label: string(l)})
		}
		for i, e := range [][2]int{{2, 0}, {2, 1}, {0, 4}, {1, 3}, {1, 6}, {3, 4}, {4, 5}, {5, 6}, {6, 7}} {
			q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("f", i), From: e[0], To: e[1], Label: "T", Either: !directed})
		}
		ref, fast := reference.New(), New(Options{Threads: 1})
		x := matchertest.NewBench(t, directed, plan.New(), []*matcher.Query{q}, ref, fast)
		for len(msgs) > 0 {
			n := min(len(msgs), vertices+edges/2)
			if len(msgs) <= edges/2 {
				n = min(len(msgs), 30)
			}
			batch := msgs[:n]
			msgs = msgs[n:]
			x.Stage(batch)
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				if n > 30 {
					break // too much for the reference
				}
				reqs := x.Requests(func(_ int, r *matcher.Request) { r.Want = matcher.WantCount })
				forceWays(fast, []way{unknownWay, keptApart}[rng.IntN(2)])
				want, got := x.Search(ref, sign, reqs).Results[0].Count, x.Search(fast, sign, reqs).Results[0].Count
				require.Equal(t, want.String(), got.String(), "sign %d: %+v", sign, q.Vertices)
				counted += want.Lo
			}
			joints += jointsOf(fast)
			x.Commit()
		}
	})
	require.Positive(t, counted)
	require.Positive(t, joints)
}

// forceWays makes the idle workers count one way, as far as a pattern can be.
func forceWays(b *Backend, w way) {
	for _, s := range b.idle {
		for shape, ps := range s.counter.cache {
			for i := range ps.ways {
				switch {
				case w == byQuotients && shape.parts == nil, w == keptApart && shape.apart == nil:
				default:
					ps.ways[i] = w
				}
			}
		}
	}
}

// jointsOf returns how many joints the idle workers have made.
func jointsOf(b *Backend) (n int) {
	for _, s := range b.idle {
		for _, ps := range s.counter.cache {
			for _, parts := range append([]*quotientPieces{ps.apart}, ps.parts...) {
				if parts == nil {
					continue
				}
				for _, p := range parts.all {
					if p.joint != nil {
						n++
					}
				}
			}
		}
	}
	return n
}

// TestPiecesCountAsEnumerationDoes counts pieces of random patterns with joints for random images of what is mapped, of
// every quotient and with the vertices kept apart, and compares with trying every vertex; chains and joints, too, as
// they are counted when a number leaves 64 bits. A search that is stopped in the middle leaves nothing that the next
// one could stumble over.
func TestPiecesCountAsEnumerationDoes(t *testing.T) {
	joints, chains, positive := 0, 0, 0
	matchertest.ForSeedsUntil(t, 40, func() bool { return joints > 0 && positive > 0 && chains > 0 }, func(t *testing.T, rng *rand.Rand) {
		b, x, q, delta := drawPieces(t, rng)
		p := x.Plans()[0]
		var stop atomic.Bool
		s := b.newSearcher(&stop, matcher.WantCount)
		c := &s.counter
		b.widen(b.plans[p].shape)
		c.start(&s.search, b.plans[p].shape, b.adjacency(), nil, 0)
		for _, w := range []way{byQuotients, keptApart} {
			if w == keptApart && c.shape.apart == nil || w == byQuotients && c.shape.parts == nil {
				continue
			}
			for i := range c.ps.ways {
				c.ps.ways[i] = w
			}
			for _, o := range b.plans[p].count {
				for i := range delta.Net {
					if fitsLabels(b, p, o, &delta.Net[i]) {
						c.fromAnchor(o, delta.Net[i].Sign, program.NetPair{From: delta.Net[i].From, To: delta.Net[i].To}, delta.Net[i].Label)
					}
				}
				c.one(c.shape.self(), c.ps.self(w))
			}
		}
		all := c.ps.parts
		if c.ps.apart != nil {
			all = append([]*quotientPieces{c.ps.apart}, all...)
		}
		for _, parts := range all {
			for _, o := range b.plans[p].count {
				parts.anchored(o.Anchor)
			}
			for range 20 {
				if set := parts.q.all & rng.Uint32(); set != parts.q.all {
					parts.split(set)
				}
			}
			c.q, c.parts = parts.q, parts
			for _, piece := range pieceList(parts) {
				for range 5 {
					c.memo.reset()
					c.depth, c.rank, c.sign = 0, rng.IntN(len(q.Edges)), []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted}[rng.IntN(2)]
					c.begin = beginning{anchor: -1}
					if !mapAround(c, rng, piece) {
						continue
					}
					want := plainly(c, piece.mask, b.g.IDBound())
					mapped := c.mapped
					require.Equal(t, fmt.Sprint(want), c.count(piece).String())
					require.Equal(t, mapped, c.mapped)
					c.memo.reset()
					require.Equal(t, fmt.Sprint(want), c.enumerateAgain(piece).String())
					if piece.chain != nil {
						n, ok := c.countChain(piece.chain)
						require.True(t, ok)
						require.Equal(t, want, n.Lo)
						chains++
					}
					if piece.joint != nil {
						n, ok := c.countJoint(piece.joint)
						require.True(t, ok)
						require.Equal(t, want, n.Lo)
						joints++
						if want > 0 {
							positive++
						}
					}
					c.memo.reset()
					stop.Store(true)
					s.Steps = work.PollEvery - 1 - uint64(rng.IntN(20))
					c.count(piece)
					stop.Store(false)
					s.Stopped = false
					for _, n := range c.chains.ways {
						require.Zero(t, n)
					}
					require.Equal(t, fmt.Sprint(want), c.count(piece).String(), "after a search that was stopped")
				}
			}
		}
		x.Commit()
	})
}

// drawPieces draws a pattern that is counted piece by piece, and a graph with a staged batch in which that is not much
// work.
func drawPieces(t *testing.T, rng *rand.Rand) (*Backend, *matchertest.Bench, *matcher.Query, *dyngraph.Delta) {
	for {
		directed, labels, shape, msgs := jointStream(rng, 120)
		q := randomJoint(rng, "q", directed, labels)
		if walks(q, directed, msgs) > mostWalks {
			continue
		}
		b := New(Options{Threads: 1})
		x := matchertest.NewBench(t, directed, plan.New(), []*matcher.Query{q}, b)
		x.Stage(msgs[:shape.Edges])
		x.Commit()
		if delta := x.Stage(msgs[shape.Edges : shape.Edges+1+rng.IntN(40)]); b.plans[x.Plans()[0]].shape != nil {
			return b, x, q, delta
		}
	}
}

func (ps *pieces) self(w way) *quotientPieces {
	if w == keptApart || ps.parts == nil {
		return ps.apart
	}
	return ps.parts[0]
}

// pieceList returns the pieces made so far, in an order that is the same each time.
func pieceList(ps *quotientPieces) (l []*piece) {
	for mask := range uint32(1 << 12) {
		if p := ps.all[mask]; p != nil {
			l = append(l, p)
		}
	}
	return l
}

// enumerateAgain counts a piece by mapping one of its blocks first, if it has more than one.
func (c *counter) enumerateAgain(p *piece) matcher.Count {
	if p.leaves != nil {
		return c.count(p)
	}
	return c.enumerate(p)
}

// mapAround maps the boundary of a piece, and some of what it must be kept apart from, to random vertices that fit and
// are free.
func mapAround(c *counter, rng *rand.Rand, p *piece) bool {
	c.mapped = 0
	blocks := uint32(0)
	for _, v := range p.bound {
		blocks |= 1 << c.q.of[v]
	}
	others := p.clash &^ blocks & rng.Uint32()
	for m := blocks | others; m != 0; m &= m - 1 {
		u := bits.TrailingZeros32(m)
		var fit []dyngraph.VertexID
		for w := range dyngraph.VertexID(c.se.g.IDBound()) {
			if c.passes(&c.q.at[u], w) && c.free(u, w) {
				fit = append(fit, w)
			}
		}
		if len(fit) == 0 {
			return false
		}
		c.put(c.q.members[u], fit[rng.IntN(len(fit))])
		c.mapped |= 1 << u
	}
	return true
}

// TestS12JointsLeaveNumbersOfMoreThan64Bits counts three chains between two vertices, through layers of vertices that
// are each joined to all of the next one: more than 2^64 ways along two of them.
func TestS12JointsLeaveNumbersOfMoreThan64Bits(t *testing.T) {
	const wide, long = 20, 8
	q := &matcher.Query{Name: "q", Version: 1, Emit: matcher.EmitCounts}
	vertex := func() int {
		n := len(q.Vertices)
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("u", n), Label: fmt.Sprint("L", n)})
		return n
	}
	edge := func(u, v int) {
		q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", len(q.Edges)), From: u, To: v, Label: "T"})
	}
	root, end, joint := vertex(), vertex(), vertex()
	edge(root, end)
	for range 3 {
		at := end
		for range long {
			next := vertex()
			edge(at, next)
			at = next
		}
		edge(at, joint)
	}
	b := New(Options{Threads: 1})
	x := matchertest.NewBench(t, true, plan.New(), []*matcher.Query{q}, b)
	width := func(u int) int {
		if u == root || u == end {
			return 1
		}
		return wide
	}
	count := func(edges []matcher.QueryEdge) string {
		var msgs []dyngraph.Message
		for _, e := range edges {
			for i := range width(e.From) {
				for k := range width(e.To) {
					msgs = append(msgs, dyngraph.Message{Updates: []dyngraph.Update{{Op: dyngraph.InsertEdge, Label: "T",
						From: fmt.Sprint(e.From, "-", i), FromLabel: fmt.Sprint("L", e.From), To: fmt.Sprint(e.To, "-", k), ToLabel: fmt.Sprint("L", e.To)}}})
				}
			}
		}
		x.Stage(msgs)
		defer x.Commit()
		return x.Search(b, dyngraph.Inserted, x.Requests(func(_ int, r *matcher.Request) { r.Want = matcher.WantCount })).Results[0].Count.String()
	}
	require.Equal(t, "0", count(q.Edges[1:]))
	require.Equal(t, new(big.Int).Exp(big.NewInt(wide), big.NewInt(3*long+1), nil).String(), count(q.Edges[:1]))
	require.Positive(t, jointsOf(b))
}
