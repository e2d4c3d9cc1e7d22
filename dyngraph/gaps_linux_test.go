package dyngraph

import (
	"math/rand/v2"
	"testing"
	"time"
)

// plainCSR is the neighbours out of every vertex in one array, found by offsets.
type plainCSR struct {
	from []uint32
	nbr  []VertexID
	ent  []Entry
}

func newPlainCSR(g *Graph) *plainCSR {
	c := &plainCSR{}
	for v := range g.bound {
		c.from = append(c.from, uint32(len(c.nbr)))
		r := g.RangeAll(VertexID(v), Out)
		for nbr, ent, ok := r.Next(); ok; nbr, ent, ok = r.Next() {
			c.nbr, c.ent = append(c.nbr, nbr...), append(c.ent, ent...)
		}
	}
	c.from = append(c.from, uint32(len(c.nbr)))
	return c
}

func (c *plainCSR) of(v VertexID) ([]VertexID, []Entry) {
	a, b := c.from[v], c.from[v+1]
	return c.nbr[a:b:b], c.ent[a:b:b]
}

// meet counts the members that two ascending runs have in common, from i and j on; it returns where it came to.
func meet(a, b []VertexID, i, j int) (n, toA, toB int) {
	for i < len(a) && j < len(b) {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			i, j, n = i+1, j+1, n+1
		}
	}
	return n, i, j
}

// meetRanges is meet for ranges.
func meetRanges(x, y Range) int {
	a, _, more := x.Next()
	b, _, also := y.Next()
	n, i, j := 0, 0, 0
	for more && also {
		var k int
		k, i, j = meet(a, b, i, j)
		n += k
		if i == len(a) {
			a, _, more = x.Next()
			i = 0
		}
		if j == len(b) {
			b, _, also = y.Next()
			j = 0
		}
	}
	return n
}

// BenchmarkGaps compares what a search does with neighbours, over the churned array, over one without gaps, over one
// that has neither gaps nor leaves but is reached in the same way, and over a plain CSR of the same graph, by turns:
// to read those of a vertex, to look for one, to intersect those of an edge's ends, and searches that do nothing but
// that: the triangles and squares of a vertex. They ask the array for every list each time; the CPU backend keeps
// what it has read.
func BenchmarkGaps(b *testing.B) {
	c := newChurn(b, 3_000_000)
	c.run(b, 600_000)
	csr := newPlainCSR(c.g)
	g := c.g
	swap := [4]func(){1: g.PackedTwin(), 2: g.FlatTwin()}
	for _, t := range []struct {
		name       string
		calls      int
		array, csr func(u, v VertexID) int
	}{
		{"read", 200_000, func(u, _ VertexID) int {
			sum := 0
			r := g.Range(u, Out, 1)
			for nbr, ent, ok := r.Next(); ok; nbr, ent, ok = r.Next() {
				for i, w := range nbr {
					sum += int(w) + int(ent[i])
				}
			}
			return sum
		}, func(u, _ VertexID) int {
			sum := 0
			nbr, ent := csr.of(u)
			for i, w := range nbr {
				sum += int(w) + int(ent[i])
			}
			return sum
		}},
		{"find", 200_000, func(u, v VertexID) int {
			r := g.Range(u, Out, 1)
			e, _ := r.Find(v)
			return int(e)
		}, func(u, v VertexID) int {
			nbr, ent := csr.of(u)
			if i := guessLess(nbr, v); i < len(nbr) && nbr[i] == v {
				return int(ent[i])
			}
			return 0
		}},
		{"intersect", 200_000, func(u, v VertexID) int {
			return meetRanges(g.Range(u, Out, 1), g.Range(v, Out, 1))
		}, func(u, v VertexID) int {
			a, _ := csr.of(u)
			b, _ := csr.of(v)
			n, _, _ := meet(a, b, 0, 0)
			return n
		}},
		// u -> w -> x, u -> x, from the root on
		{"triangles", 20_000, func(u, _ VertexID) int {
			n, of := 0, g.Range(u, Out, 1)
			around := of
			for nbr, _, ok := around.Next(); ok; nbr, _, ok = around.Next() {
				for _, w := range nbr {
					n += meetRanges(of, g.Range(w, Out, 1))
				}
			}
			return n
		}, func(u, _ VertexID) int {
			n := 0
			of, _ := csr.of(u)
			for _, w := range of {
				x, _ := csr.of(w)
				k, _, _ := meet(of, x, 0, 0)
				n += k
			}
			return n
		}},
		// u -> w -> x -> y, u -> y
		{"squares", 2000, func(u, _ VertexID) int {
			n, of := 0, g.Range(u, Out, 1)
			around := of
			for nbr, _, ok := around.Next(); ok; nbr, _, ok = around.Next() {
				for _, w := range nbr {
					further := g.Range(w, Out, 1)
					for nbr, _, ok := further.Next(); ok; nbr, _, ok = further.Next() {
						for _, x := range nbr {
							n += meetRanges(of, g.Range(x, Out, 1))
						}
					}
				}
			}
			return n
		}, func(u, _ VertexID) int {
			n := 0
			of, _ := csr.of(u)
			for _, w := range of {
				further, _ := csr.of(w)
				for _, x := range further {
					y, _ := csr.of(x)
					k, _, _ := meet(of, y, 0, 0)
					n += k
				}
			}
			return n
		}},
	} {
		b.Run(t.name, func(b *testing.B) {
			const rounds = 9
			pairs := make([][2]VertexID, t.calls)
			rnd := rand.New(rand.NewPCG(8, 8))
			for i := range pairs {
				pairs[i] = c.live[rnd.IntN(len(c.live))].ends
			}
			for b.Loop() {
				var least [4]time.Duration
				var sums [4]int
				for round := range 4 * rounds {
					kind, f := round%4, t.array
					if kind == 3 {
						f = t.csr
					}
					if swap[kind] != nil {
						swap[kind]()
					}
					t0, sum := CPUTime(), 0
					for _, p := range pairs {
						sum += f(p[0], p[1])
					}
					if spent := CPUTime() - t0; least[kind] == 0 || spent < least[kind] {
						least[kind] = spent
					}
					sums[kind] = sum
					if swap[kind] != nil {
						swap[kind]()
					}
				}
				if sums[0] != sums[1] || sums[0] != sums[2] || sums[0] != sums[3] {
					b.Fatalf("%d, %d packed, %d flat, and %d in the CSR", sums[0], sums[1], sums[2], sums[3])
				}
				b.ReportMetric(float64(least[0])/float64(least[1]), "gaps/packed")
				b.ReportMetric(float64(least[0])/float64(least[2]), "gaps/flat")
				b.ReportMetric(float64(least[0])/float64(least[3]), "gaps/CSR")
				b.ReportMetric(float64(least[0].Nanoseconds())/float64(t.calls), "ns/call")
			}
		})
	}
}
