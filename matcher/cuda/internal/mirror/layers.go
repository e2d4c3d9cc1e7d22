//go:build cuda || emu

package mirror

import (
	"errors"
	"math/bits"
	"slices"

	"motifd/dyngraph"
	"motifd/kernels"
)

// layers tells parallel edges apart (DESIGN S14): edges with the same ends and label have different layers, and the
// label of an edge on the device is its own, followed by its layer. So an entry of the array has one edge, as in a
// simple graph, and a search finds parallel edges as those of a range of labels. Edges of labels without parallel ones
// have layer 0.
type layers struct {
	bits int                  // of a layer
	of   []uint32             // by edge index; valid for edges of labels with parallel ones
	used []uint64             // set of the layers of one pair, while one is chosen
	edge []dyngraph.EdgeIndex // inserted edges without a layer
}

// unlayered is the layer of an edge that has none yet.
const unlayered = ^uint32(0)

// label returns the label of an edge on the device.
func (l *layers) label(of dyngraph.LabelID, e dyngraph.EdgeIndex) uint32 {
	if l.bits == 0 {
		return uint32(of)
	}
	label := uint32(of) << l.bits
	if int(e) < len(l.of) {
		label |= l.of[e]
	}
	return label
}

// row returns a row of the graph with the label of an edge on the device.
func (l *layers) row(row uint64, e dyngraph.EdgeIndex) uint64 {
	if l.bits == 0 {
		return row
	}
	return row>>31<<31 | uint64(l.label(dyngraph.RowLabel(row), e))
}

// load gives all edges layers: of parallel edges, by their order in the graph.
func (l *layers) load(g *dyngraph.Graph) error {
	l.bits, l.of = 0, l.of[:0]
	if !g.AnyParallel() {
		return nil
	}
	l.room(g)
	clear(l.of)
	var rows []uint64
	var last struct {
		row uint64
		nbr dyngraph.VertexID
	}
	layer, most := uint32(0), uint32(0)
	for leaf, left := 0, g.Entries(); left > 0; leaf++ {
		var nbrs []dyngraph.VertexID
		var ents []dyngraph.Entry
		rows, nbrs, ents = g.Leaf(leaf, rows)
		left -= len(nbrs)
		for i, nbr := range nbrs {
			if layer++; rows[i] != last.row || nbr != last.nbr {
				last.row, last.nbr, layer = rows[i], nbr, 0
			}
			l.of[ents[i].Index()] = layer
			most = max(most, layer)
		}
	}
	const spare = 2 // bits, so that some more parallel edges need no other labels
	l.bits = min(bits.Len32(most)+spare, l.limit(g))
	if most>>l.bits != 0 {
		return &kernels.Error{Op: "copying the graph", Err: errors.New("it has too many parallel edges")}
	}
	return nil
}

// limit returns how many bits of labels on the device are free for layers.
func (l *layers) limit(g *dyngraph.Graph) int { return 31 - bits.Len(uint(max(g.Labels(), 2)-1)) }

// room makes room for all edge indexes.
func (l *layers) room(g *dyngraph.Graph) {
	n := int(g.EdgeBound())
	l.of = slices.Grow(l.of[:len(l.of):cap(l.of)], max(0, n-len(l.of)))
	for len(l.of) < n {
		l.of = append(l.of, 0)
	}
}

// stage gives the edges that a batch inserts layers. It returns false if the graph must be loaded anew for that.
func (l *layers) stage(g *dyngraph.Graph, d *dyngraph.Delta) bool {
	if !g.AnyParallel() {
		return true
	}
	if l.bits == 0 || l.bits > l.limit(g) {
		return false
	}
	l.room(g)
	l.edge = l.edge[:0]
	for i := range d.Net {
		n := &d.Net[i]
		if n.Vertex || n.Sign != dyngraph.Inserted || n.Replaced {
			continue
		}
		l.of[n.Edge] = 0
		if g.HasParallel(n.Label) {
			l.of[n.Edge] = unlayered
			l.edge = append(l.edge, n.Edge)
		}
	}
	view := g.View(dyngraph.New)
	for _, e := range l.edge {
		from, to, label := view.Edge(e)
		layer := l.free(g, from, to, label)
		if layer>>l.bits != 0 {
			return false
		}
		l.of[e] = layer
	}
	return true
}

// free returns the least layer that no edge from a vertex to another with a label has, in either graph.
func (l *layers) free(g *dyngraph.Graph, from, to dyngraph.VertexID, label dyngraph.LabelID) uint32 {
	r := g.Range(from, dyngraph.Out, label)
	r = r.Among(to)
	l.used = l.used[:0]
	for _, ents, ok := r.Next(); ok; _, ents, ok = r.Next() {
		for _, e := range ents {
			layer := l.of[e.Index()]
			if layer == unlayered {
				continue
			}
			for int(layer/64) >= len(l.used) {
				l.used = append(l.used, 0)
			}
			l.used[layer/64] |= 1 << (layer % 64)
		}
	}
	for i, w := range l.used {
		if w != ^uint64(0) {
			return uint32(64*i + bits.TrailingZeros64(^w))
		}
	}
	return uint32(64 * len(l.used))
}
