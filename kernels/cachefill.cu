// cachefill writes entries of vertices to the slots of a cache (defer.cuh), a warp for each piece of a list.
#include "graph.cuh"
#include "warp.cuh"

// Piece is adjacent entries of one vertex.
struct Piece {
    u32 vertex, from, to, n;  // the first among the entries, its slot, and how many there are
};

// CacheEntry is the lower half of a row, a neighbour and an entry as Graph has them.
struct CacheEntry {
    u32 row, nbr, ent;
};

// CacheFill has the parameters of cachefill. The slots are full: a leaf has no gaps, and its fence is its first entry.
struct CacheFill {
    const Piece* piece;
    const CacheEntry* entry;
    u64* row;
    u32* nbr;
    u32* ent;
    u64* fenceRow;
    u32* fenceNbr;
    u32 pieces, unused;
};
LAYOUT_cachefill

KERNEL(cachefill, CacheFill, 256) {
    for (u32 k = blockOf() * warpsInBlock() + warpInBlock(); k < p.pieces; k += gridBlocks() * warpsInBlock()) {
        Piece x = p.piece[k];
        for (u32 i = laneId(); i < x.n; i += kWarp) {
            CacheEntry e = p.entry[(u64)x.from + i];
            u32 slot = x.to + i;
            u64 row = (u64)x.vertex << 32 | e.row;
            p.row[slot] = row;
            p.nbr[slot] = e.nbr;
            p.ent[slot] = e.ent;
            if (slot % kLeaf != 0) continue;
            p.fenceRow[slot / kLeaf] = row;
            p.fenceNbr[slot / kLeaf] = e.nbr;
        }
    }
}
