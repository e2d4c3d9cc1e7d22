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
	edges := g.adj.edges
	out := make([]uint32, n) // edges ascending by (from, label, to, id)
	for e := range out {
		out[e] = uint32(e)
	}
	if l.unordered {
		slices.SortFunc(out, g.compareEdges)
		for i := 1; i < n; i++ {
			if e := out[i]; g.compareEdges(out[i-1], e) == 0 {
				return fmt.Errorf(
					"dyngraph: edge (from %d, label %d, to %d, id %s) is twice in the checkpoint",
					edges[e].from,
					edges[e].label,
					edges[e].to,
					quote(g.edgeID(EdgeIndex(e))),
				)
			}
		}
	}
	g.loadParallel(out)
	if l.unordered && g.parallel.labels > 0 {
		slices.SortFunc(out, g.byPair)
	}
	g.nedges = n
	back := In
	if !g.opt.Directed {
		back = Out
	}
	for e := range edges[:n] {
		x := &edges[e]
		g.adj.heads[x.from].add(Out, x.label)
		g.adj.heads[x.to].add(back, x.label)
		g.stats.addTriple(g.tripleOf(x.from, x.to, x.label), 1)
	}
	in, end := g.byTarget(out)
	b := g.adj.build(2 * n)
	var i, j uint32
	for v := range g.bound {
		rowOf := func(d Dir, e uint32) uint64 { return rowKey(VertexID(v), d, edges[e].label) }
		for {
			o, m := i < uint32(n) && uint32(edges[out[i]].from) == v, j < end[v]
			if !o && !m {
				break
			}
			// Directed: all of Out come before In. Undirected: both are Out, and are merged by (label, neighbour).
			if o &&
				(!m || cmp.Or(cmp.Compare(rowOf(Out, out[i]), rowOf(back, in[j])),
					cmp.Compare(edges[out[i]].to, edges[in[j]].from)) < 0) {
				b.add(rowOf(Out, out[i]), edges[out[i]].to, Entry(out[i]))
				i++
			} else {
				b.add(rowOf(back, in[j]), edges[in[j]].from, Entry(in[j]))
				j++
			}
		}
	}
	return nil
}

// byTarget sorts edges, given ascending by (from, label, to), by (to, label, from): it counts them into buckets by
// target and sorts a bucket only where it holds several labels. end[v] is where v's bucket ends.
func (g *Graph) byTarget(out []uint32) (in, end []uint32) {
	edges := g.adj.edges
	end = make([]uint32, g.bound+1)
	for _, e := range out {
		end[edges[e].to+1]++
	}
	for v := range g.bound {
		end[v+1] += end[v]
	}
	in = make([]uint32, len(out))
	for _, e := range out {
		v := edges[e].to
		in[end[v]] = e
		end[v]++
	}
	from := uint32(0)
	for v := range g.bound {
		bucket := in[from:end[v]]
		from = end[v]
		for k := 1; k < len(bucket); k++ {
			if edges[bucket[k]].label < edges[bucket[k-1]].label {
				slices.SortStableFunc(bucket, func(a, b uint32) int {
					return cmp.Compare(edges[a].label,
						edges[b].label)
				})
				break
			}
		}
	}
	return in, end
}
