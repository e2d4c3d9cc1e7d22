package dyngraph

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"sort"
	"sync"
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
	newFiller(g, out).run()
	return nil
}

// filler counts edges and writes the array in three passes. In the first two, each thread has a range of vertices: it
// looks at all edges, and counts and sorts those at its vertices. In the last one, each has a range of leaves.
type filler struct {
	g       *Graph
	threads int
	out     []uint32 // edges ascending by (from, label, to, id)
	in      []uint32 // edges ascending by (to, label, from)
	end     []uint32 // by vertex: where its bucket of in ends; before they are sorted, where it begins
	back    Dir      // of the entry at an edge's target
}

// loadThreads returns how many threads load a number of edges: the least that one is worth is not tuned.
var loadThreads = func(edges int) int { return max(1, min(runtime.GOMAXPROCS(0), edges>>16)) }

func newFiller(g *Graph, out []uint32) *filler {
	f := &filler{g: g, threads: 1, out: out, in: make([]uint32, len(out)),
		end: make([]uint32, g.bound+1), back: In}
	if !g.opt.Directed {
		f.back = Out
	}
	if g.opt.Background != nil {
		f.threads = loadThreads(len(out))
	}
	return f
}

func (f *filler) run() {
	counted := make([]stats, f.threads)
	f.concurrently(int(f.g.bound), func(i int, from, to uint32) { counted[i] = f.count(from, to) })
	for i := range counted {
		for k, n := range counted[i].triples {
			f.g.stats.addTriple(k, *n)
		}
	}
	for v := range f.g.bound {
		f.end[v+1] += f.end[v]
	}
	f.concurrently(int(f.g.bound), func(_ int, from, to uint32) { f.sort(from, to) })
	p := &f.g.adj
	p.allot(2*len(f.out), leavesFor(2*len(f.out)))
	f.concurrently(p.leaves(), func(_ int, from, to uint32) { f.write(p.part(int(from), int(to))) })
}

// concurrently divides [0, n) among the threads, calls do for each part, and waits. The last part is the caller's.
func (f *filler) concurrently(n int, do func(i int, from, to uint32)) {
	part := func(i int) { do(i, uint32(i*n/f.threads), uint32((i+1)*n/f.threads)) }
	last := f.threads - 1
	var wg sync.WaitGroup
	wg.Add(last)
	for i := range last {
		f.g.opt.Background(func() {
			defer wg.Done()
			part(i)
		})
	}
	part(last)
	wg.Wait()
}

// count counts the edges at vertices [first, after).
func (f *filler) count(first, after uint32) stats {
	g, s := f.g, stats{triples: map[tripleKey]*int{}}
	for e := range f.out {
		x := &g.adj.edges[e]
		if from := uint32(x.from); from >= first && from < after {
			g.adj.heads[from].add(Out, x.label)
			s.addTriple(g.tripleOf(x.from, x.to, x.label), 1)
		}
		if to := uint32(x.to); to >= first && to < after {
			g.adj.heads[to].add(f.back, x.label)
			f.end[to+1]++
		}
	}
	return s
}

// sort sorts the edges to vertices [first, after): it counts them into buckets by target, and sorts a bucket only where
// it holds several labels.
func (f *filler) sort(first, after uint32) {
	if first == after {
		return // the word at first is another thread's
	}
	edges, from := f.g.adj.edges, f.end[first]
	for _, e := range f.out {
		if to := uint32(edges[e].to); to >= first && to < after {
			f.in[f.end[to]] = e
			f.end[to]++
		}
	}
	for v := first; v < after; v++ {
		bucket := f.in[from:f.end[v]]
		from = f.end[v]
		for k := 1; k < len(bucket); k++ {
			if edges[bucket[k]].label < edges[bucket[k-1]].label {
				slices.SortStableFunc(bucket, func(a, b uint32) int {
					return cmp.Compare(edges[a].label, edges[b].label)
				})
				break
			}
		}
	}
}

// outAt returns the index in out of the first edge from a vertex, or from a later one.
func (f *filler) outAt(v uint32) int {
	return sort.Search(len(f.out), func(i int) bool { return uint32(f.g.adj.edges[f.out[i]].from) >= v })
}

// inAt returns the index in in of the first edge to a vertex.
func (f *filler) inAt(v uint32) int {
	if v == 0 {
		return 0
	}
	return int(f.end[v-1])
}

// write writes the leaves of a builder: it begins with the vertex whose entries go on, or begin, at the first of them.
func (f *filler) write(b builder) {
	edges, n, begin := f.g.adj.edges, len(f.out), b.begin()
	v := uint32(sort.Search(int(f.g.bound), func(v int) bool {
		return f.outAt(uint32(v)+1)+f.inAt(uint32(v)+1) > begin
	}))
	i, j := f.outAt(v), f.inAt(v)
	skip := begin - i - j
	add := func(row uint64, nbr VertexID, ent Entry) {
		if skip > 0 {
			skip--
			b.pass(row)
			return
		}
		b.add(row, nbr, ent)
	}
	for ; v < f.g.bound && !b.done(); v++ {
		rowOf := func(d Dir, e uint32) uint64 { return rowKey(VertexID(v), d, edges[e].label) }
		for !b.done() {
			o, m := i < n && uint32(edges[f.out[i]].from) == v, j < int(f.end[v])
			if !o && !m {
				break
			}
			// Directed: all of Out come before In. Undirected: both are Out, and are merged by (label, neighbour).
			if o &&
				(!m || cmp.Or(cmp.Compare(rowOf(Out, f.out[i]), rowOf(f.back, f.in[j])),
					cmp.Compare(edges[f.out[i]].to, edges[f.in[j]].from)) < 0) {
				add(rowOf(Out, f.out[i]), edges[f.out[i]].to, Entry(f.out[i]))
				i++
			} else {
				add(rowOf(f.back, f.in[j]), edges[f.in[j]].from, Entry(f.in[j]))
				j++
			}
		}
	}
}
