package space

import (
	"slices"

	"motifd/dyngraph"
)

// mostKept is the number of neighbours that are kept, in entries of four bytes, unless Limits say otherwise. Neighbours
// of the other vertices are read from the graph each time.
const mostKept = 1 << 20

// keptNeighbors keeps the neighbours of data vertices that had a candidate bit when they were read first. Most
// neighbours have none, and bits are only taken away, so that semi-joins read a vertex's edges once.
type keptNeighbors struct {
	at      []uint32 // by data vertex: 1 + the number of its first span, 0 for none; nil to keep none
	ends    []uint32 // of the spans, one behind the other, of the kinds of a vertex one behind the other
	entries []dyngraph.VertexID
	most    int // entries that are kept
	kept    int // spans that are kept: those behind them are of the vertex last
	last    dyngraph.VertexID
}

// keep begins to keep the neighbours of vertices with ids below a bound.
func (n *keptNeighbors) keep(bound int) {
	if len(n.at) < bound {
		n.at = make([]uint32, bound)
	}
	n.ends, n.entries, n.kept = n.ends[:0], n.entries[:0], 0
}

// neighbors returns the neighbours of a vertex along edges of a kind, the i-th one, that had a candidate bit when they
// were read first. They are valid until the next call for another vertex.
func (m *maker) neighbors(v dyngraph.VertexID, i int) []dyngraph.VertexID {
	n := &m.neighborsKept
	span := n.first(v)
	if span < 0 {
		span = m.read(v)
	}
	span += i
	found := n.entries[n.end(span):n.ends[span]]
	m.left -= len(found)
	return found
}

// first returns the number of a vertex's first span, or -1.
func (n *keptNeighbors) first(v dyngraph.VertexID) int {
	if n.last == v && len(n.ends) > n.kept {
		return n.kept
	}
	if n.at == nil {
		return -1
	}
	return int(n.at[v]) - 1
}

// end returns where the entries of the spans before one end.
func (n *keptNeighbors) end(span int) uint32 {
	if span == 0 {
		return 0
	}
	return n.ends[span-1]
}

// read reads a vertex's neighbours, and returns the number of its first span.
func (m *maker) read(v dyngraph.VertexID) int {
	n := &m.neighborsKept
	n.ends, n.entries = n.ends[:n.kept], n.entries[:n.end(n.kept)]
	keep := n.at != nil && len(n.entries) < n.most
	for i := range m.kinds {
		k := &m.kinds[i]
		if k.wants&m.bits[v] != 0 {
			m.readKind(k, v)
		}
		n.ends = append(n.ends, uint32(len(n.entries)))
	}
	first := n.kept
	if n.last = v; keep {
		n.at[v], n.kept = uint32(first)+1, len(n.ends)
	}
	return first
}

// readKind appends the neighbours of a vertex along edges of a kind that have a candidate bit. Each neighbour is
// written, and overwritten unless it has one: a branch would be guessed wrong often.
func (m *maker) readKind(k *kind, v dyngraph.VertexID) {
	k.each(m, v, func(nbrs []dyngraph.VertexID) {
		n := len(m.neighborsKept.entries)
		to, bits := slices.Grow(m.neighborsKept.entries, len(nbrs))[:n+len(nbrs)], m.bits
		for _, w := range nbrs {
			to[n] = w
			has := 0
			if bits[w] != 0 {
				has = 1
			}
			n += has
		}
		m.neighborsKept.entries = to[:n]
	})
}
