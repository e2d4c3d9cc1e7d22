package dyngraph

import (
	"cmp"
	"fmt"
	"slices"
)

// fill counts the loaded edges and writes the array.
func (l *Loader) fill() error {
	g := l.g
	n := int(g.edgeBound)
	out := make([]uint32, n) // edges ascending by (from, label, to)
	for e := range out {
		out[e] = uint32(e)
	}
	if l.unordered {
		slices.SortFunc(out, g.compareEdges)
		for i := 1; i < n; i++ {
			if e := out[i]; g.compareEdges(out[i-1], e) == 0 {
				return fmt.Errorf("dyngraph: edge (from %d, label %d, to %d) is twice in the checkpoint", g.efrom[e], g.elabel[e], g.eto[e])
			}
		}
	}
	g.nedges = n
	back := In
	if !g.opt.Directed {
		back = Out
	}
	var last tripleKey
	run := 0
	for e := range n {
		g.adj.heads[g.efrom[e]].add(Out, g.elabel[e])
		g.adj.heads[g.eto[e]].add(back, g.elabel[e])
		k := g.tripleOf(g.efrom[e], g.eto[e], g.elabel[e])
		if k != last && run > 0 {
			g.stats.triples[last] += run
			run = 0
		}
		last = k
		run++
	}
	if run > 0 {
		g.stats.triples[last] += run
	}
	in, end := g.byTarget(out)
	b := g.adj.build(2 * n)
	var i, j uint32
	for v := range g.bound {
		rowOf := func(d Dir, e uint32) uint64 { return rowKey(VertexID(v), d, g.elabel[e]) }
		for {
			o, m := i < uint32(n) && uint32(g.efrom[out[i]]) == v, j < end[v]
			if !o && !m {
				break
			}
			// Directed: all of Out come before In. Undirected: both are Out, and are merged by (label, neighbour).
			if o && (!m || cmp.Or(cmp.Compare(rowOf(Out, out[i]), rowOf(back, in[j])), cmp.Compare(g.eto[out[i]], g.efrom[in[j]])) < 0) {
				b.add(rowOf(Out, out[i]), g.eto[out[i]], Entry(out[i]))
				i++
			} else {
				b.add(rowOf(back, in[j]), g.efrom[in[j]], Entry(in[j]))
				j++
			}
		}
	}
	return nil
}

// byTarget sorts edges, given ascending by (from, label, to), by (to, label, from): it counts them into buckets by
// target and sorts a bucket only where it holds several labels. end[v] is where v's bucket ends.
func (g *Graph) byTarget(out []uint32) (in, end []uint32) {
	end = make([]uint32, g.bound+1)
	for _, e := range out {
		end[g.eto[e]+1]++
	}
	for v := range g.bound {
		end[v+1] += end[v]
	}
	in = make([]uint32, len(out))
	for _, e := range out {
		v := g.eto[e]
		in[end[v]] = e
		end[v]++
	}
	from := uint32(0)
	for v := range g.bound {
		bucket := in[from:end[v]]
		from = end[v]
		for k := 1; k < len(bucket); k++ {
			if g.elabel[bucket[k]] < g.elabel[bucket[k-1]] {
				slices.SortStableFunc(bucket, func(a, b uint32) int { return cmp.Compare(g.elabel[a], g.elabel[b]) })
				break
			}
		}
	}
	return in, end
}
