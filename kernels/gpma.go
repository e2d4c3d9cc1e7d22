//go:build cuda || emu

package kernels

import "math/bits"

// The types here have the layout of those of the same name in gpma.cuh, which asserts it (layouts.cuh). Net is its
// NetEdge, UpdateStatus its GpmaControl.

// LeafSlots is the number of slots of a leaf of the device's packed memory array: kLeaf of graph.cuh.
const LeafSlots = 64

// Flags of an operation. Staged, in Ent: the operation stages a batch, which inserts or deletes the edge (kStaged of
// graph.cuh). Out, in Kind: the edge is removed or, with Staged, the batch deletes it (kOut of gpma.cuh). Stays, in
// Back: it stages a version of an edge that the batch replaces (kStays). Replaced is kReplaced of graph.cuh.
const (
	Staged   = uint32(1) << 31
	Out      = uint32(1) << 31
	Stays    = uint32(1) << 31
	Replaced = uint32(1) << 30
)

// NoEdge returns the operation for a version of a vertex that a batch revises: it has the place of a net edge.
func NoEdge(vertex uint32) Op {
	return Op{Ent: None &^ Staged, From: vertex, To: vertex, Kind: Out, Back: Stays}
}

// Op says what the two entries of an edge are after an update: both hold Ent, or both are removed. Kind is the kind of
// the entry at From, Back that of the entry at To.
type Op struct {
	Ent, From, To, Kind, Back uint32
}

// NbrBits returns how many of the 31 bits of a kind hold the label of the neighbour: 16, or fewer if the graph has more
// than 32,768 labels.
func NbrBits(labels int) int { return 31 - max(15, bits.Len(uint(labels-1))) }

// KindOf returns the kind of an entry: the label of its edge, and the low nbrBits bits of the label of its neighbour.
func KindOf(label, nbrLabel uint32, nbrBits int) uint32 {
	return label<<nbrBits | nbrLabel&(1<<nbrBits-1)
}

// UpdateStatus is the result of an update: the number of entries, and Rebuild, which is not 0 if the array must be
// rewritten before it is read.
type UpdateStatus struct {
	Entries, Pending, Segments, Rebuild, Scratch uint32
	Leaves                                       uint32 // that RunUpdateWeigh has added
	Added                                        uint32 // pairs that updates have added to their filter
	_                                            uint32
}

// Slots are the columns of the array.
type Slots struct {
	Nbr, Ent, Count, Will, Used, Runs, FenceRow, FenceNbr Ptr
	Leaves, _                                             uint32
}

// Update has the parameters of the kernels of an update: Gpma of gpma.cuh.
type Update struct {
	A, B                                                          Slots
	Span, Degree, Order, Net, Op, Before, Staged                  Ptr
	Key, Val, SortedKey, SortedVal, At, Info, Sum                 Ptr
	Range, Base, Pending, Segment, Mark                           Ptr
	ScratchRow, ScratchNbr, ScratchEnt, Tile, Control             Ptr
	Ops, Settle, Abort, StagedFrom, Keys, Dirs, IDBits, LabelBits uint32
	Height, Stamp, Force, Again, ScratchSize, Least, Most         uint32
	From, To, Whole, Wide, NbrBits, NbrUsed, First, Leaf, Sorted  uint32
	Top, Shift                                                    uint32
	Label, RangeAt, Pairs                                         Ptr
	PairMask, _                                                   uint32
}

// Sizes, in bytes, of structures that only kernels read, OpRange and Segment of gpma.cuh, and of Op.
const (
	RangeSize   = 8
	SegmentSize = 8
	OpSize      = 20
)

// scanTile is kTile of gpma.cuh, piece its kPiece, and Fullness its kFullness: percent of the slots of a new array that
// are in use.
const (
	scanTile = 2048
	piece    = 2048
	Fullness = 63
)

// TopWindow is the level of the widest window that is spread, of 1 << TopWindow leaves; others are reasons to write the
// array anew. Not tuned.
const TopWindow = 12

// MostRanges is the number of ranges of vertices in an array that has ranges (Graph.Base).
const MostRanges = 64

// RankMost is the maximum number of keys that gpmarank sorts, by counting in one launch. Not tuned.
const RankMost = 8192

// ScanTiles returns the number of sums that a scan of a number of leaves and keys stores.
func ScanTiles(leaves, keys int) int {
	return (leaves+scanTile-1)/scanTile + (keys+scanTile-1)/scanTile
}

// Pieces returns the number of pieces in which a number of entries is laid out: each in leaves of its own.
func Pieces(entries int) int { return (entries + piece - 1) / piece }

// RunUpdateKeys launches gpmakeys.
func RunUpdateKeys(q Queue, p *Update) error { return runFlat(q, "gpmakeys", int(p.Ops), p) }

// RunUpdateRank launches gpmarank.
func RunUpdateRank(q Queue, p *Update) error { return runFlat(q, "gpmarank", int(p.Keys)*warp, p) }

// RunUpdateRows launches gpmarows.
func RunUpdateRows(q Queue, p *Update) error { return runFlat(q, "gpmarows", int(p.Keys), p) }

// RunUpdateLocate launches gpmalocate.
func RunUpdateLocate(q Queue, p *Update) error { return runFlat(q, "gpmalocate", int(p.Keys), p) }

// RunUpdateMerge launches gpmamerge.
func RunUpdateMerge(q Queue, p *Update) error { return runFlat(q, "gpmamerge", int(p.Keys)*warp, p) }

// RunUpdateSpread launches gpmaclimb and gpmaspread.
func RunUpdateSpread(q Queue, p *Update) error {
	most := min(int(p.A.Leaves), int(p.Keys)) // leaves that may climb
	if err := runFlat(q, "gpmaclimb", most*warp, p); err != nil {
		return err
	}
	return runFlat(q, "gpmaspread", most*flatThreads, p)
}

// RunUpdateSpans launches gpmaspans.
func RunUpdateSpans(q Queue, p *Update) error {
	n := int(p.Keys)
	if p.Whole != 0 {
		n = int(p.A.Leaves)
	}
	return runFlat(q, "gpmaspans", n*warp, p)
}

// RunUpdateScan launches gpmatile and gpmascan.
func RunUpdateScan(q Queue, p *Update) error {
	tiles := ScanTiles(int(p.A.Leaves), int(p.Keys))
	if err := runFlat(q, "gpmatile", tiles*flatThreads, p); err != nil {
		return err
	}
	return runFlat(q, "gpmascan", tiles*flatThreads, p)
}

// RunUpdateGather launches gpmagather.
func RunUpdateGather(q Queue, p *Update) error {
	return runFlat(q, "gpmagather", max(int(p.A.Leaves)*warp, int(p.Keys)), p)
}

// RunUpdateWeigh launches gpmaweigh.
func RunUpdateWeigh(q Queue, p *Update) error {
	return runFlat(q, "gpmaweigh", Pieces(int(p.To-p.From))*flatThreads, p)
}

// RunUpdateKinds launches gpmakinds.
func RunUpdateKinds(q Queue, p *Update) error { return runFlat(q, "gpmakinds", int(p.To-p.From), p) }

// RunUpdatePairs launches gpmapairs.
func RunUpdatePairs(q Queue, p *Update) error {
	return runFlat(q, "gpmapairs", int(p.A.Leaves)*warp, p)
}

// RunUpdateFill launches gpmafill.
func RunUpdateFill(q Queue, p *Update) error {
	return runFlat(q, "gpmafill", Pieces(int(p.To-p.From))*flatThreads, p)
}

func runFlat(q Queue, kernel string, n int, p *Update) error {
	return q.Launch(kernel, flat(q, n), flatThreads, BytesOf(p))
}
