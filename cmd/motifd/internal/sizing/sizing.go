// Package sizing estimates the memory and the disk that a graph needs, from its numbers of edges and vertices: what
// motifd size prints. Tests hold the figures to what graphs take, on the host and on an emulated device.
package sizing

import (
	"math"
	"math/bits"
	"sort"
)

// Graph says how large a graph is, and what its edges and vertices have.
type Graph struct {
	Edges, Vertices uint64
	Directed        bool
	KeyBytes        uint64 // mean length of a vertex's key
	Timestamps      bool   // edges have times
	Retention       bool   // edges expire
	IDBytes         uint64 // mean length of an edge's id; 0: edges have none
	// EdgeProperties and VertexProperties are numbers of declared properties. Texts of strings are not in the estimate.
	EdgeProperties, VertexProperties uint64
	Conditions                       bool // queries have conditions on one edge alone
	Counts                           bool // queries have counts or exists
	// Kinds is the mean number of pairs of labels (of an edge, of the neighbour) that a vertex has in one direction; 0
	// is 1.
	Kinds uint64
}

// Part is one thing that takes memory: Number times Each bytes.
type Part struct {
	Name   string  `json:"name"`
	Number uint64  `json:"number"`
	Each   float64 `json:"each"`
	Bytes  uint64  `json:"bytes"`
}

// Of returns a part of a number of things of equal size.
func Of(name string, number uint64, each float64) Part {
	return Part{name, number, each, uint64(math.Round(float64(number) * each))}
}

// Sum returns the bytes of all parts.
func Sum(parts []Part) (n uint64) {
	for _, p := range parts {
		n += p.Bytes
	}
	return n
}

// Bytes of the host's graph, as measured (TestHost). An edge has two entries in the packed memory array with their gaps
// (12 bytes at their loosest), and a row of the edge table. A vertex has a row of columns, and a place in the
// dictionary of keys, beside the text of its key.
const (
	hostEdge   = 47.5 // after churn; 43 when it was just loaded
	hostVertex = 66
	hostColumn = 9 // a value and its bit
	hostID     = 17
)

// allocated is the number of bytes that a text of a length takes on Go's heap: a multiple of 8, and of 16 beyond 32.
func allocated(length uint64) float64 {
	unit := uint64(8)
	if length > 32 {
		unit = 16
	}
	return float64((length + unit - 1) / unit * unit)
}

// Host returns what the graph takes in the memory of the host.
func (g *Graph) Host() []Part {
	parts := []Part{
		Of("edges", g.Edges, hostEdge),
		Of("vertices and their keys", g.Vertices, hostVertex+allocated(g.KeyBytes)),
	}
	add := func(wanted bool, name string, n uint64, each float64) {
		if wanted && n > 0 {
			parts = append(parts, Of(name, n, each))
		}
	}
	add(g.Timestamps, "timestamps", g.Edges, hostColumn)
	add(g.IDBytes > 0, "ids of edges", g.Edges, hostID+allocated(g.IDBytes))
	add(true, "properties of edges", g.Edges*g.EdgeProperties, hostColumn)
	add(true, "properties of vertices", g.Vertices*g.VertexProperties, hostColumn)
	add(g.Retention, "calendar of expiry", g.Edges, 8)
	add(g.Conditions, "truths of conditions", g.Edges, 8)
	add(true, "candidate bits", g.Vertices, 8)
	add(g.Counts, "neighbours by label, for counts (at most)", g.Edges, 16)
	add(g.Counts, "numbers by vertex, for counts (at most)", g.Vertices, 64)
	return parts
}

// Disk returns what the graph takes in a checkpoint. Two times the sum is the bound while tables are merged.
func (g *Graph) Disk() []Part {
	each := 15.
	if g.IDBytes > 0 {
		each += float64(g.IDBytes)
	}
	if g.Timestamps {
		each += 8
	}
	return []Part{
		Of("edges (at most, compressed)", g.Edges, each+8*float64(g.EdgeProperties)),
		Of("vertices (at most, compressed)", g.Vertices, float64(g.KeyBytes+16+8*g.VertexProperties)),
	}
}

// Sizes of the device's array, those of package kernels and of the mirror, which TestDevice holds to what a device
// takes.
const (
	leafSlots = 64
	fullness  = 0.63 // of an array when it was written anew
	// spareLeaves is the part of a leaf, for each entry, that there are more when the array was loaded.
	spareLeaves = 0.6 / 2048
	workSlots   = 4 << 20  // most slots of the work space of updates
	loadSlots   = 1 << 20  // most entries that are sorted at a time when the array is loaded
	mostSpare   = 16 << 20 // most bytes that a buffer has beside what was asked for, a quarter of which it has else
	deviceRest  = 96 << 20 // memory that does not grow with the graph: stacks, mailboxes and queues of searches
)

// Device returns what the graph takes in the memory of a GPU. Each of several GPUs takes as much.
func (g *Graph) Device() []Part {
	directions := g.directions()
	leaves := g.deviceLeaves()
	slots := leaves * leafSlots
	var parts []Part
	spare := uint64(0)
	// add adds a part: buffers with an equal number of elements. The sizes of an element are in bytes.
	add := func(name string, number uint64, sizes ...float64) {
		sum := 0.
		for _, each := range sizes {
			sum += each
			spare += uint64(min(float64(number)*each/4, mostSpare))
		}
		if number > 0 {
			parts = append(parts, Of(name, number, sum))
		}
	}
	add("slots of the array", slots, 4, 4)
	add("leaves of the array", leaves, 4, 4, 4, 8, 8, 4, 8, 4, 4, 8, 8)
	add("orders of edges", g.Edges, 4)
	add("filter of joined pairs", 1<<bits.Len64(max(g.Edges/4, 1)-1), 4)
	add("spans of vertices", g.Vertices*directions, 16, 4)
	add("labels and candidate bits", g.Vertices, 4, 8)
	if g.Conditions {
		add("truths of conditions", g.Edges, 8)
	}
	if g.Counts {
		add("numbers by vertex, for counts", g.Vertices, 4)
	}
	add("work space of updates", min(max(slots/8, 1<<14), workSlots), 8, 4, 4)
	add("work space of loading", min(g.Edges/4, loadSlots), 8, 8, 4, 4)
	return append(parts, Of("spare room of these", 1, float64(spare)), Of("searches", 1, deviceRest))
}

// directions returns the number of directions that the array tells apart.
func (g *Graph) directions() uint64 {
	if g.Directed {
		return 2
	}
	return 1
}

// deviceLeaves returns the number of leaves of the array: an edge has two entries, each kind of a vertex a row.
func (g *Graph) deviceLeaves() uint64 {
	entries := 2 * g.Edges
	rows := min(entries, g.Vertices*g.directions()*max(g.Kinds, 1))
	return uint64(math.Ceil(float64(entries+rows)/(fullness*leafSlots) + float64(entries)*spareLeaves))
}

// MostEdges returns the number of edges of the largest graph that a device of a number of bytes has room for, with as
// many vertices to an edge as g, and rows (a sixteenth of the device, 8 GiB at most) beside it.
func (g *Graph) MostEdges(bytes uint64) uint64 {
	room := bytes - min(bytes/16, 8<<30)
	perEdge := float64(g.Vertices) / float64(max(g.Edges, 1))
	return uint64(sort.Search(mostEdges, func(n int) bool { // the first number that does not fit, less one
		at := *g
		at.Edges, at.Vertices = uint64(n)+1, uint64(perEdge*float64(n+1))
		return Sum(at.Device()) > room
	}))
}

// mostEdges is the number of edges that a graph may have: dyngraph.NoEdge.
const mostEdges = 1<<31 - 1
