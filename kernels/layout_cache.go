//go:build cuda || emu

package kernels

// The types here have the layout of those of the same name in cachefill.cu.

// Deletes marks a staged entry of a cache whose edge the batch deletes: kDeletes of graph.cuh. The rest of it is the
// place of the edge among the net edges.
const Deletes uint32 = 1 << 30

// Piece is N adjacent entries of a vertex, from number From on, and the slot of the first.
type Piece struct{ Vertex, From, To, N uint32 }

// MaxPiece is how many entries of a list one warp writes.
const MaxPiece = 512

// CacheEntry is an entry of a cache: the lower half of a row, which has direction and kind, the neighbour, and the
// edge.
type CacheEntry struct{ Row, Nbr, Ent uint32 }

// CacheFill has the parameters of kernel cachefill.
type CacheFill struct {
	Piece, Entry                      Ptr
	Row, Nbr, Ent, FenceRow, FenceNbr Ptr
	Pieces, _                         uint32
}
