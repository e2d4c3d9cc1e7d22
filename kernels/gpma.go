//go:build cuda || emu

package kernels

import "math/bits"

// The types here are laid out as their namesakes in gpma.cuh, which asserts it (layouts.cuh). Net is its NetEdge, and
// UpdateStatus its GpmaControl.

// LeafSlots is the number of slots of a leaf of the device's packed memory array: kLeaf of graph.cuh.
const LeafSlots = 64

// Of an operation: Staged, in Ent, when the batch that is being staged inserts or deletes the edge; Out, in Kind,
// when the edge goes or, of a staged one, when the batch deletes it. kStaged of graph.cuh, kOut of gpma.cuh.
const (
	Staged = uint32(1) << 31
	Out    = uint32(1) << 31
)

// Op says what becomes of an edge's entries: both hold Ent afterwards, or are gone. Kind is KindOf the one at From,
// Back of that at To.
type Op struct {
	Ent, From, To, Kind, Back uint32
}

// NbrBits returns how many of the 31 bits of a kind are the neighbour's label, in a graph of that many labels: 16,
// or fewer when there are more than 32,768.
func NbrBits(labels int) int { return 31 - max(15, bits.Len(uint(labels-1))) }

// KindOf returns the kind of an entry: its edge's label and as much of the label of the neighbour as there are bits
// for.
func KindOf(label, nbrLabel uint32, nbrBits int) uint32 {
	return label<<nbrBits | nbrLabel&(1<<nbrBits-1)
}

// UpdateStatus is what an update leaves: Entries, that there are; and Rebuild, not 0 when the array is to be written
// anew before anything reads it.
type UpdateStatus struct {
	Entries, Pending, Segments, Rebuild, Scratch uint32
	_                                            [3]uint32
}

// Slots are the columns of the array.
type Slots struct {
	Row, Nbr, Ent, Count, Will, FenceRow, FenceNbr Ptr
	Leaves, _                                      uint32
}

// Update is the parameters of the kernels of an update: Gpma of gpma.cuh.
type Update struct {
	A, B                                                          Slots
	Span, Degree, Order, Net, Op, Before, Staged                  Ptr
	Key, Val, SortedKey, SortedVal, At, Info, Sum                 Ptr
	Range, Base, Pending, Segment, Mark                           Ptr
	ScratchRow, ScratchNbr, ScratchEnt, Tile, Control             Ptr
	Ops, Settle, Abort, StagedFrom, Keys, Dirs, IDBits, LabelBits uint32
	Height, Stamp, Force, Again, ScratchSize, Entries, From, To   uint32
	Whole, Wide, NbrBits, NbrUsed                                 uint32
	First, _                                                      uint32
	Label                                                         Ptr
}

// Sizes, in bytes, of what only kernels look into: OpRange and Segment of gpma.cuh; and of Op.
const (
	RangeSize   = 8
	SegmentSize = 8
	OpSize      = 20
)

// scanTile is kTile of gpma.cuh.
const scanTile = 2048

// RankMost is the number of keys up to which counting, for each of them, those that come before is the fastest sort.
const RankMost = 8192

// ScanTiles returns how many sums a scan of that many leaves and keys keeps.
func ScanTiles(leaves, keys int) int {
	return (leaves+scanTile-1)/scanTile + (keys+scanTile-1)/scanTile
}

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

// RunUpdateRebuild launches gpmatile, gpmascan and gpmascatter.
func RunUpdateRebuild(q Queue, p *Update) error {
	tiles := ScanTiles(int(p.A.Leaves), int(p.Keys))
	for _, k := range []struct {
		name string
		n    int
	}{{"gpmatile", tiles * flatThreads}, {"gpmascan", tiles * flatThreads},
		{"gpmascatter", max(int(p.A.Leaves)*warp, int(p.B.Leaves))}} {
		if err := runFlat(q, k.name, k.n, p); err != nil {
			return err
		}
	}
	return nil
}

// RunUpdateKinds launches gpmakinds.
func RunUpdateKinds(q Queue, p *Update) error { return runFlat(q, "gpmakinds", int(p.To-p.From), p) }

// RunUpdateFill launches gpmafill.
func RunUpdateFill(q Queue, p *Update) error { return runFlat(q, "gpmafill", int(p.To-p.From), p) }

func runFlat(q Queue, kernel string, n int, p *Update) error {
	return q.Launch(kernel, flat(q, n), flatThreads, BytesOf(p))
}
