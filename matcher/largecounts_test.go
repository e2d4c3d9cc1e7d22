package matcher_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// blowUp is a pattern of which hardly two vertices have the same label, and a graph that has some vertices of each
// label, joined as the pattern joins the labels: the numbers of matches are of up to 140 bits, and can be found by
// eliminating one vertex of the pattern after the other.
type blowUp struct {
	q     *matcher.Query
	label []int // by vertex of the pattern
	width int   // vertices of each label
	edges map[[2]int]bool
}

// newBlowUp draws a tree, or a tree and an edge or two more, and no edges of the graph.
func newBlowUp(rng *rand.Rand) *blowUp {
	n, more := 4+rng.IntN(matcher.MaxVertices-3), max(0, rng.IntN(4)-1)
	x := &blowUp{q: &matcher.Query{Name: "q", Emit: matcher.EmitCounts}, width: 3 + rng.IntN(5),
		edges: map[[2]int]bool{}}
	switch more {
	case 0:
		x.width = 3 + rng.IntN(22)
	case 1:
		x.width = 3 + rng.IntN(10)
	}
	back := 1 + rng.IntN(n) // 1: a path
	for v := range n {
		x.label = append(x.label, v)
		if v > 0 {
			x.join(rng, max(0, v-1-rng.IntN(back)), v)
		}
	}
	for range more {
		u, v := rng.IntN(n), rng.IntN(n)
		if u != v && !slices.ContainsFunc(x.q.Edges,
			func(e matcher.QueryEdge) bool { return e.From == u && e.To == v || e.From == v && e.To == u }) {
			x.join(rng, u, v)
		}
	}
	for range rng.IntN(3) { // pairs, of which none meets another
		if u, v := rng.IntN(n), rng.IntN(n); u != v && x.alone(u) && x.alone(v) {
			x.label[v] = x.label[u]
		}
	}
	for v, l := range x.label {
		x.q.Vertices = append(x.q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("u", v), Label: fmt.Sprint("L", l)})
	}
	return x
}

func (x *blowUp) join(rng *rand.Rand, u, v int) {
	if rng.IntN(2) == 0 {
		u, v = v, u
	}
	x.q.Edges = append(x.q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", len(x.q.Edges)), From: u, To: v})
}

// alone reports whether no other vertex of the pattern has the label of v.
func (x *blowUp) alone(v int) bool {
	return !slices.ContainsFunc(x.label[:v], func(l int) bool { return l == x.label[v] }) &&
		!slices.Contains(x.label[v+1:], x.label[v])
}

// drawEdge draws two vertices that the graph may join, numbered by their labels.
func (x *blowUp) drawEdge(rng *rand.Rand) [2]int {
	for {
		e := &x.q.Edges[rng.IntN(len(x.q.Edges))]
		from, to := x.label[e.From]*x.width+rng.IntN(x.width), x.label[e.To]*x.width+rng.IntN(x.width)
		if from != to {
			return [2]int{from, to}
		}
	}
}

// all returns the edges that the graph may have.
func (x *blowUp) all() (edges [][2]int) {
	for _, e := range x.q.Edges {
		for i := range x.width {
			for j := range x.width {
				if from, to := x.label[e.From]*x.width+i, x.label[e.To]*x.width+j; from != to {
					edges = append(edges, [2]int{from, to})
				}
			}
		}
	}
	return edges
}

func (x *blowUp) update(op dyngraph.Op, e [2]int) dyngraph.Update {
	u := dyngraph.Update{Op: op, From: fmt.Sprint("k", e[0]), To: fmt.Sprint("k", e[1])}
	if op == dyngraph.InsertEdge {
		u.FromLabel, u.ToLabel = fmt.Sprint("L", e[0]/x.width), fmt.Sprint("L", e[1]/x.width)
	}
	x.edges[e] = op == dyngraph.InsertEdge
	return u
}

// count returns how many matches the pattern has in a graph of some edges: by inclusion and exclusion over the pairs
// of vertices with one label that fall together.
func (x *blowUp) count(has func(e [2]int) bool) *big.Int {
	var pairs [][2]int
	for v, l := range x.label {
		if u := slices.Index(x.label[:v], l); u >= 0 {
			pairs = append(pairs, [2]int{u, v})
		}
	}
	total := new(big.Int)
	for set := range 1 << len(pairs) {
		of, sign := make([]int, len(x.label)), int64(1)
		for v := range of {
			of[v] = v
		}
		for i, p := range pairs {
			if set>>i&1 != 0 {
				of[p[1]], sign = p[0], -sign
			}
		}
		total.Add(total, new(big.Int).Mul(big.NewInt(sign), x.homomorphisms(of, has)))
	}
	return total
}

// factor is a number for each choice of images of some vertices of the pattern: digits to the base of the width.
type factor struct {
	of []int
	n  []*big.Int
}

func (x *blowUp) homomorphisms(of []int, has func(e [2]int) bool) *big.Int {
	var factors []factor
	for _, e := range x.q.Edges {
		u, v := of[e.From], of[e.To]
		if u == v {
			return new(big.Int) // no edge leads from a vertex to itself
		}
		f := factor{[]int{u, v}, make([]*big.Int, x.width*x.width)}
		for i := range f.n {
			f.n[i] = new(big.Int)
			if has([2]int{x.label[u]*x.width + i%x.width, x.label[v]*x.width + i/x.width}) {
				f.n[i].SetInt64(1)
			}
		}
		factors = append(factors, f)
	}
	left := map[int]bool{}
	for _, v := range of {
		left[v] = true
	}
	product := big.NewInt(1)
	for len(left) > 0 {
		// The vertex that meets the fewest others goes next.
		var next int
		var scope []int
		for v := range of {
			if s := meets(factors, v); left[v] && (scope == nil || len(s) < len(scope)) {
				next, scope = v, append([]int{}, s...)
			}
		}
		delete(left, next)
		sum := x.without(next, scope, &factors)
		if len(scope) == 0 {
			product.Mul(product, sum.n[0])
		} else {
			factors = append(factors, sum)
		}
	}
	return product
}

// meets lists the other vertices of the factors that have v.
func meets(factors []factor, v int) (others []int) {
	for _, f := range factors {
		if slices.Contains(f.of, v) {
			for _, w := range f.of {
				if w != v && !slices.Contains(others, w) {
					others = append(others, w)
				}
			}
		}
	}
	return others
}

// without takes the factors that have v away, and returns their product, summed over the images of v.
func (x *blowUp) without(v int, scope []int, factors *[]factor) factor {
	var with, rest []factor
	for _, f := range *factors {
		if slices.Contains(f.of, v) {
			with = append(with, f)
		} else {
			rest = append(rest, f)
		}
	}
	*factors = rest
	size := 1
	for range scope {
		size *= x.width
	}
	out := factor{scope, make([]*big.Int, size)}
	image := map[int]int{}
	for i := range out.n {
		at := i
		for _, w := range scope {
			image[w], at = at%x.width, at/x.width
		}
		out.n[i] = new(big.Int)
		for image[v] = range x.width {
			product := big.NewInt(1)
			for _, f := range with {
				at, digit := 0, 1
				for _, w := range f.of {
					at, digit = at+digit*image[w], digit*x.width
				}
				if product.Mul(product, f.n[at]); product.Sign() == 0 {
					break
				}
			}
			out.n[i].Add(out.n[i], product)
		}
	}
	return out
}

// TestS12LargeCountsAreExact counts patterns of up to 32 vertices, trees and others, whose numbers leave 64 and 128
// bits at some places and not at others, while edges come and go, and compares with what eliminating vertices finds.
func TestS12LargeCountsAreExact(t *testing.T) {
	matchertest.ForSeeds(t, 12, func(t *testing.T, rng *rand.Rand) {
		x := newBlowUp(rng)
		x.q.Unit = matcher.Unit(rng.IntN(2))
		group := big.NewInt(1)
		if x.q.Unit == matcher.Subgraphs {
			group.SetInt64(int64(len(matchertest.Automorphisms(x.q))))
		}
		d := matchertest.NewDriver(t, true, newCPU(t, 1+rng.IntN(2), false), plan.New())
		d.Register(x.q)
		density := 50 + rng.IntN(51)
		before := map[[2]int]bool{}
		count := func(has func(e [2]int) bool) *big.Int { n := x.count(has); return n.Quo(n, group) }
		for batch := range 7 {
			var updates []dyngraph.Update
			if batch == 0 {
				for _, e := range x.all() {
					if rng.IntN(100) < density {
						updates = append(updates, x.update(dyngraph.InsertEdge, e))
					}
				}
				rng.Shuffle(len(updates), func(i, j int) { updates[i], updates[j] = updates[j], updates[i] })
			} else {
				for range 1 + rng.IntN(20) {
					e := x.drawEdge(rng)
					updates = append(updates, x.update(
						[]dyngraph.Op{dyngraph.InsertEdge, dyngraph.DeleteEdge}[rng.IntN(2)], e))
				}
			}
			out := d.Batch([]dyngraph.Message{{Updates: updates}})
			both := count(func(e [2]int) bool { return before[e] && x.edges[e] })
			for sign, in := range map[dyngraph.Sign]map[[2]int]bool{dyngraph.Deleted: before,
				dyngraph.Inserted: x.edges} {
				want, got := count(func(e [2]int) bool { return in[e] }), new(big.Int)
				for _, r := range of(out, x.q, sign) {
					got.Add(got, r.Count.Big())
				}
				if want.Sub(want, both); want.Cmp(got) != 0 {
					t.Fatalf("batch %d, sign %d: %v %v, %d of each label, unit %d: counted %v, there are %v", batch,
						sign, x.q.Vertices, x.q.Edges,
						x.width, x.q.Unit, got, want)
				}
			}
			before = map[[2]int]bool{}
			for e, is := range x.edges {
				before[e] = is
			}
		}
		all := *x.q
		all.Name, all.Backfill = "all", matcher.BackfillFull
		want, got := count(func(e [2]int) bool { return x.edges[e] }), new(big.Int)
		for _, r := range d.Register(&all).Records {
			got.Add(got, r.Count.Big())
		}
		if want.Cmp(got) != 0 {
			t.Fatalf("%v %v, %d of each label, unit %d: enumeration counts %v, there are %v", x.q.Vertices, x.q.Edges,
				x.width, x.q.Unit, got, want)
		}
	})
}
