package ivm

import (
	"math/bits"

	"motifd/dyngraph"
	"motifd/matcher/cpu/count"
	"motifd/matcher/cpu/labeladj"
	"motifd/matcher/cpu/program"
)

// cycle is a part of a pattern that leads back to the vertex it hangs from: a path of vertices without pendants. The
// number of its view for an image of that vertex is the number of closed walks. It is counted from both ends at once
// when it is asked for, and then maintained: net edges are followed to the images whose numbers they change.
type cycle struct {
	edges []cycleEdge // edges[i] leads from position i to the next one, the last one back to position 0
	of    uint64      // Number of the index that the kinds refer to; a pointer would keep a dropped index alive
	kinds int         // number of kinds that it had
}

// cycleEdge is an edge of a cycle.
type cycleEdge struct {
	ahead, back         uint64            // keys of labeladj: from a position to the next one, and back
	kindAhead, kindBack uint32            // their kinds
	edges               *program.NetGroup // that fit the edge
	along, against      bool              // the edge leads from the first end of such net edges to the second, or back
}

// find looks up the kinds of the edges in the index.
func (r *cycle) find(a *labeladj.Index) {
	if r.of == a.Number && r.kinds == a.Kinds() {
		return
	}
	r.of, r.kinds = a.Number, a.Kinds()
	for i := range r.edges {
		l := &r.edges[i]
		l.kindAhead, l.kindBack = a.KindOf(l.ahead), a.KindOf(l.back)
	}
}

// unknown is the number of a vertex that was never asked for.
const unknown = ^uint64(0)

// visibility tells which entries of the index a walk may use.
type visibility uint8

const (
	bothGraphs   visibility = iota // entries of the old and the new graph
	withDeleted                    // and entries that the batch deletes
	withInserted                   // and entries that it inserts
)

// sees reports whether a walk may use an entry.
func (k *Maintainer) sees(e dyngraph.Entry, s visibility) bool {
	if !e.Staged() {
		return true
	}
	return s != bothGraphs && (k.orders[e.Index()]>>31 != 0) == (s == withDeleted)
}

// whole is the visibility of the larger graph of a phase.
func whole(phase uint64) visibility {
	if phase&1 != 0 {
		return withInserted
	}
	return withDeleted
}

// after is the visibility of the graph after a phase.
func after(phase uint64) visibility {
	if phase&1 != 0 {
		return withInserted
	}
	return bothGraphs
}

// numberAt returns the number of a vertex after the last phase.
func (br *treeView) numberAt(k *Maintainer, v dyngraph.VertexID) uint64 {
	if n := br.cell(v).n; n != unknown || br.cycle == nil {
		return n
	}
	return br.count(k, v)
}

// count counts the closed walks at a vertex that was never asked for.
func (br *treeView) count(k *Maintainer, v dyngraph.VertexID) uint64 {
	br.cycle.find(k.index)
	k.Overflow = false
	n := k.closed(&traversal{cycle: br.cycle, larger: after(br.phase)}, v, v, 0, len(br.cycle.edges))
	if k.stopped() {
		br.built = false
	}
	br.overflow = br.overflow || k.Overflow || n == unknown
	br.cell(v).n = n
	return n
}

// traversal is a walk around a cycle that starts at one of its vertices. The edges before one of them see only entries
// of both graphs.
type traversal struct {
	*cycle
	from   int
	edge   int
	larger visibility // of the other edges
}

// at returns an edge of the traversal and its visibility.
func (c *traversal) at(i int) (*cycleEdge, visibility) {
	if i += c.from; i >= len(c.edges) {
		i -= len(c.edges)
	}
	if i < c.edge {
		return &c.edges[i], bothGraphs
	}
	return &c.edges[i], c.larger
}

// closed returns the number of walks from a, at position lo of a traversal, to b at position hi.
func (k *Maintainer) closed(c *traversal, a, b dyngraph.VertexID, lo, hi int) uint64 {
	k.begin(a, b)
	return k.join(c, lo, hi)
}

// begin sets the frontiers to single vertices.
func (k *Maintainer) begin(a, b dyngraph.VertexID) {
	k.frontiers[0] = append(k.frontiers[0][:0], count.Reached{Vertex: a, Ways: 1})
	k.frontiers[1] = append(k.frontiers[1][:0], count.Reached{Vertex: b, Ways: 1})
}

// join returns the number of walks from frontier 0, at position lo of a traversal, to frontier 1 at position hi.
func (k *Maintainer) join(c *traversal, lo, hi int) uint64 {
	for hi-lo > 1 {
		if len(k.frontiers[0]) == 0 || len(k.frontiers[1]) == 0 || k.stopped() {
			return 0
		}
		if len(k.frontiers[0]) <= len(k.frontiers[1]) {
			l, s := c.at(lo)
			k.walk(0, l.kindAhead, s)
			lo++
		} else {
			hi--
			l, s := c.at(hi)
			k.walk(1, l.kindBack, s)
		}
	}
	l, s := c.at(lo)
	few, kind := 0, l.kindAhead
	if len(k.frontiers[1]) < len(k.frontiers[0]) {
		few, kind = 1, l.kindBack
	}
	total, carry := uint64(0), uint64(0)
	k.joinFrontiers(few, kind, s, func(_ dyngraph.VertexID, n uint64) {
		total, carry = bits.Add64(total, n, 0)
		k.Overflow = k.Overflow || carry != 0
	})
	return total
}

// walk moves a frontier along edges of a kind.
func (k *Maintainer) walk(side int, kind uint32, s visibility) {
	from, out := k.frontiers[side], k.frontiers[2][:0]
	for i, at := range k.neighborsOf(from, kind) {
		n := from[i].Ways
		for slot := at.From; slot < at.To; slot++ {
			if at.Staged && !k.sees(k.index.Ent[slot], s) {
				continue
			}
			w := k.index.Nbr[slot]
			ways := &k.ways[w]
			if *ways == 0 {
				out = append(out, count.Reached{Vertex: w})
			}
			sum, carry := bits.Add64(*ways, n, 0)
			if carry != 0 {
				k.Overflow = true
				continue
			}
			*ways = sum
		}
	}
	for i := range out {
		r := &out[i]
		r.Ways, k.ways[r.Vertex] = k.ways[r.Vertex], 0
	}
	k.frontiers[side], k.frontiers[2] = out, from
}

// joinFrontiers calls f, for each vertex of a frontier from which an edge of a kind leads to the other frontier, with
// the number of walks through the vertex.
func (k *Maintainer) joinFrontiers(from int, kind uint32, s visibility, f func(v dyngraph.VertexID, n uint64)) {
	others := k.frontiers[1-from]
	if len(others) == 0 {
		return
	}
	for _, r := range others {
		sum, carry := bits.Add64(k.ways[r.Vertex], r.Ways, 0) // a frontier may list a vertex once per edge
		k.ways[r.Vertex], k.Overflow = sum, k.Overflow || carry != 0
	}
	for i, at := range k.neighborsOf(k.frontiers[from], kind) {
		r := &k.frontiers[from][i]
		nbr := k.index.Nbr[at.From:at.To]
		sum, over := uint64(0), uint64(0)
		if at.Staged {
			sum, over = k.sumSeen(nbr, k.index.Ent[at.From:at.To], s)
		} else {
			for _, w := range nbr {
				var carry uint64
				sum, carry = bits.Add64(sum, k.ways[w], 0)
				over |= carry
			}
		}
		hi, lo := bits.Mul64(sum, r.Ways)
		k.Overflow = k.Overflow || over|hi != 0
		if lo != 0 {
			f(r.Vertex, lo)
		}
	}
	for _, r := range others {
		k.ways[r.Vertex] = 0
	}
}

// sumSeen adds up the ways to the visible neighbours.
func (k *Maintainer) sumSeen(nbr []dyngraph.VertexID, ent []dyngraph.Entry, s visibility) (sum, over uint64) {
	for i, w := range nbr {
		if n := k.ways[w]; n != 0 && k.sees(ent[i], s) {
			var carry uint64
			sum, carry = bits.Add64(sum, n, 0)
			over |= carry
		}
	}
	return sum, over
}
