package dyngraph

import "testing"

func (p *pma) get(at int) slot { return slot{p.rowAt(at), p.nbr[at], p.ent[at]} }

// checkArray holds the packed memory array's invariants: order, bounds, starts and degrees, and both entries of every
// edge.
func checkArray(t *testing.T, g *Graph) {
	t.Helper()
	p := &g.adj
	if p.n != 2*g.nedges {
		t.Fatalf("%d entries for %d edges", p.n, g.nedges)
	}
	checkPMA(t, p)
	seen := make(map[EdgeIndex]int)
	for leaf := range p.count {
		for i := range int(p.count[leaf]) {
			s := p.get(leaf*leafSize + i)
			e := s.ent.Index()
			seen[e]++
			v, d, l := s.vertex(), Dir(s.row>>31&1), LabelID(s.row&(1<<31-1))
			from, to := v, s.nbr
			if d == In || !g.opt.Directed && from > to {
				from, to = to, from
			}
			if g.adj.edges[e] != (edge{from, to, l}) {
				t.Fatalf("entry %+v is of edge %d: %+v", s, e, g.adj.edges[e])
			}
		}
	}
	if len(seen) != g.nedges {
		t.Fatalf("entries of %d edges, want %d", len(seen), g.nedges)
	}
	for e, n := range seen {
		if n != 2 {
			t.Fatalf("edge %d has %d entries", e, n)
		}
	}
}

func checkPMA(t *testing.T, p *pma) {
	t.Helper()
	if len(p.nbr) != p.leaves()*leafSize || len(p.ent) != len(p.nbr) || len(p.first) != p.leaves() ||
		len(p.runs) != p.leaves() {
		t.Fatal("columns of different lengths")
	}
	h := p.height()
	if p.leaves() > 0 && (!p.mayHold(h, p.leaves(), p.n) || !p.enough(h, p.leaves(), p.n)) {
		t.Fatalf("%d entries in %d leaves", p.n, p.leaves())
	}
	n := 0
	degree := [2]map[VertexID]uint32{{}, {}}
	var last slot
	for leaf := range p.count {
		c := int(p.count[leaf])
		if p.leaves() > 1 && (c < minLeaf || c > maxLeaf) {
			t.Fatalf("leaf %d has %d entries", leaf, c)
		}
		if p.runs[leaf]&^upTo(c) != 0 {
			t.Fatalf("leaf %d: the runs are %b of %d entries", leaf, p.runs[leaf], c)
		}
		for i := range c {
			s := p.get(leaf*leafSize + i)
			if i == 0 && p.first[leaf] != s.row {
				t.Fatalf("leaf %d begins with row %x, not %x", leaf, s.row, p.first[leaf])
			}
			if begins := p.runs[leaf]>>i&1 == 1; begins != (i == 0 || s.row != last.row) {
				t.Fatalf("leaf %d: the runs are %b, at %d", leaf, p.runs[leaf], i)
			}
			if n > 0 && compareSlots(last, s) >= 0 {
				t.Fatalf("%+v before %+v", last, s)
			}
			if n == 0 || s.vertex() != last.vertex() {
				if h := p.heads[s.vertex()]; h.start != uint32(leaf) || h.offset != uint8(i) {
					t.Fatalf("vertex %d starts in leaf %d at %d, not %+v", s.vertex(), leaf, i, h)
				}
			}
			degree[s.row>>31&1][s.vertex()]++
			if h, d := &p.heads[s.vertex()], dirOf(s.row); h.lacks(d, labelOf(s.row)) {
				t.Fatalf("%+v under %+v", s, *h)
			}
			last = s
			n++
		}
	}
	if n != p.n {
		t.Fatalf("%d entries, not %d", n, p.n)
	}
	for d := range degree {
		for v := range p.heads {
			if got := p.heads[v].degree[d]; got != degree[d][VertexID(v)] {
				t.Fatalf("degree of %d in %d is %d, not %d", v, d, degree[d][VertexID(v)], got)
			}
		}
	}
}
