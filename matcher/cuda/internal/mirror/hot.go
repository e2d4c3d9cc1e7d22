//go:build cuda || emu

package mirror

import (
	"cmp"
	"errors"
	"slices"

	"motifd/kernels"
	"motifd/matcher/cuda/device"
)

// column is a column of the graph, as moveHot sees it.
type column struct {
	buffer *device.Buffer
	each   int     // bytes of an item
	heat   heat    // of its items
	weight float64 // by which the heat is multiplied
}

// heat estimates how often items [from, to) of a column are read.
type heat func(from, to int) float64

// once is the heat of items that are read once.
func once(from, to int) float64 { return float64(to - from) }

// summed returns the heat of items that are read as often as reads has it. It overwrites reads.
func summed(reads []float64) heat {
	sum := 0.0
	for i, n := range reads {
		sum, reads[i] = sum+n, sum
	}
	return func(from, to int) float64 {
		before := func(i int) float64 {
			if i < len(reads) {
				return reads[i]
			}
			return sum
		}
		return before(to) - before(from)
	}
}

// piece is a part of a column, of moveHot's size.
type piece struct {
	column, number int
	heat           float64
}

// moveHot moves those parts of the graph's columns to the device that searches read most, as far as there is room, when
// a column in memory of the host is new (DESIGN A25). Updates move entries by little, so the choice holds until the
// array is written anew.
func (m *Mirror) moveHot() error {
	size := pieceOf(m.dev.most)
	if !m.dev.fresh || m.dev.room() < size {
		return nil
	}
	m.dev.fresh = false
	columns, err := m.heated()
	if err != nil {
		return err
	}
	for _, r := range hottest(columns, size, m.dev.room()/size) {
		c := &columns[r.column]
		from, to := r.from*size, min(r.to*size, c.buffer.Size)
		moved, err := m.dev.MoveNear(c.buffer.Ptr, from, to)
		if short := (*kernels.MemoryError)(nil); errors.As(err, &short) || err == nil && !moved {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pieceOf returns the size in bytes of the pieces in which columns are moved to a device, of which the graph may take a
// number of bytes: a power of two. A column has some hundred pieces that fit. Not tuned.
func pieceOf(most int) int {
	const least, greatest = 4 << 10, 1 << 20
	size := least
	for size < greatest && size < most/512 {
		size *= 2
	}
	return size
}

// span is Span of kernels/graph.cuh.
type span struct {
	begin, end uint32
	_          [2]uint32
}

// heated returns the columns with the heat of the present graph that are not on the device.
func (m *Mirror) heated() ([]column, error) {
	a := m.edges
	spans := make([]span, a.bound.vertices*a.dirs)
	if err := m.dev.Read(kernels.Bytes(spans), a.span.Ptr); err != nil {
		return nil, err
	}
	leaves, sides, vertices := heatOf(spans, a.now.leaves, a.dirs, a.ranges.of)
	return slices.DeleteFunc(m.columns(leaves, sides, vertices), func(c column) bool {
		return c.buffer.Ptr == 0 || m.dev.near[c.buffer.Ptr] > 0
	}), nil
}

// lineSlots is the number of slots that a warp reads at once.
const lineSlots = 32

// heatOf estimates how often searches read leaves, vertices by direction, and vertices: they come to a vertex along its
// edges, so as often as it has neighbours, and then read them, lineSlots at a time. base returns the leaf from which
// the slots of a vertex are counted.
func heatOf(spans []span, n, dirs int, base func(vertex int) int) (leaves, sides, vertices heat) {
	ofLeaf, ofSide, ofVertex := make([]float64, n), make([]float64, len(spans)), make([]float64, len(spans)/dirs)
	for i, s := range spans {
		visits := float64(s.end - s.begin)
		ofSide[i] += visits
		ofVertex[i/dirs] += visits
		for at := int(s.begin); at < int(s.end); {
			leaf := at / kernels.LeafSlots
			end := min(int(s.end), (leaf+1)*kernels.LeafSlots)
			ofLeaf[base(i/dirs)+leaf] += visits * float64(end-at) / lineSlots
			at = end
		}
	}
	return summed(ofLeaf), summed(ofSide), summed(ofVertex)
}

// columns returns the columns of the graph. Weights are shares of the reads of an item: a search reads the neighbours
// of a vertex, tests of each its bits, of those that pass the entry, and looks for some by fences. What only updates
// read has the heat of an item that is read once. Not tuned.
func (m *Mirror) columns(leaves, sides, vertices heat) []column {
	a, n := m.edges, &m.edges.now
	return []column{
		{&n.count, 4, leaves, 1}, {&n.runs, 8, leaves, 0.5}, {&n.fenceRow, 8, leaves, 0.5},
		{&n.fenceNbr, 4, leaves, 0.5}, {&n.nbr, 4 * kernels.LeafSlots, leaves, 1},
		{&n.ent, 4 * kernels.LeafSlots, leaves, 0.5},
		{&a.span, kernels.SpanSize, sides, 1}, {&m.bits, 8 * max(1, m.vertexWords()), vertices, 1},
		{&m.label, 4, vertices, 0.1}, {&m.facts.words, 8 * max(1, m.facts.stride), once, 1},
		{&n.will, 4, once, 1}, {&n.used, 4, once, 1}, {&a.opRanges, kernels.RangeSize, once, 1}, {&a.base, 4, once, 1},
		{&a.pending, 4, once, 1}, {&a.segment, kernels.SegmentSize, once, 1}, {&a.mark, 8, once, 1},
		{&a.degree, 4, once, 1}, {&a.order, 4, once, 0.1},
	}
}

// pieces is adjacent pieces of a column, [from, to).
type pieces struct{ column, from, to int }

// hottest returns the n pieces of most heat, as ranges of adjacent pieces.
func hottest(columns []column, size, n int) (ranges []pieces) {
	var all []piece
	for i, c := range columns {
		for k := 0; k*size < c.buffer.Size; k++ {
			h := c.weight * c.heat(k*size/c.each, ((k+1)*size-1)/c.each+1)
			if h > 0 {
				all = append(all, piece{i, k, h})
			}
		}
	}
	slices.SortFunc(all, func(a, b piece) int {
		return cmp.Or(cmp.Compare(b.heat, a.heat), cmp.Compare(a.column, b.column), cmp.Compare(a.number, b.number))
	})
	all = all[:min(n, len(all))]
	slices.SortFunc(all, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.column, b.column), cmp.Compare(a.number, b.number))
	})
	for _, p := range all {
		if last := len(ranges) - 1; last >= 0 && ranges[last].column == p.column && ranges[last].to == p.number {
			ranges[last].to++
			continue
		}
		ranges = append(ranges, pieces{p.column, p.number, p.number + 1})
	}
	return ranges
}
