// gpmaweigh computes the number of leaves for each piece of the entries in scratch. A block works on a piece.
#include "gpmalay.cuh"

struct Sums {
    u32 sums[kThreads / kWarp];
};

KERNEL(gpmaweigh, Gpma, kThreads) {
    SHARED(Sums, s);
    for (u32 k = blockOf(); k < pieces(p); k += gridBlocks()) {
        u32 slots = slotsOf(s.sums, pieceOf(p, k));
        u32 leaves = (slots * 100 + kFullness * kLeaf / 2) / (kFullness * kLeaf);
        if (leaves == 0) leaves = 1;
        if (threadInBlock() == 0) {
            p.tile[k] = leaves;
            add(&p.control->leaves, leaves);
        }
    }
}
