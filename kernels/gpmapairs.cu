// gpmapairs adds the edges of the entries in scratch to the filter of pairs.
#include "gpma.cuh"

KERNEL(gpmapairs, Gpma, kThreads) {
    u32 n = p.to - p.from, step = gridBlocks() * blockThreads();
    for (u32 i = blockOf() * blockThreads() + threadInBlock(); i < n; i += step)
        addPair(p.pairs, p.pairMask, (u32)(p.scratchRow[i] >> 32), p.scratchNbr[i]);
}
