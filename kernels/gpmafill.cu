// gpmafill lays out the entries in scratch in a new array, from a leaf on. A block works on a piece.
#include "gpmalay.cuh"

struct Fill {
    u32 sums[kThreads / kWarp];
    u32 firsts[2 * kPiece / (kFullness * kLeaf / 100) + 2];
};

KERNEL(gpmafill, Gpma, kThreads) {
    SHARED(Fill, s);
    for (u32 k = blockOf(); k < pieces(p); k += gridBlocks()) {
        u32 before = 0, total;
        for (u32 i = threadInBlock(); i < k; i += kThreads) before += p.tile[i];
        blockScan(s.sums, before, total);
        u32 a = p.leaf + total;
        Entries e = pieceOf(p, k);
        layOut(p.b, e, s.sums, s.firsts, slotsOf(s.sums, e), a, a + p.tile[k], 0);
        if (a == 0 && threadInBlock() == 0) p.b.fenceRow[0] = p.b.fenceNbr[0] = 0;
    }
}
