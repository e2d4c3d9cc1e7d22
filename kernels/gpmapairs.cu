// gpmapairs adds all edges of the array to the filter of pairs. Each has two entries, one at either end.
#include "gpma.cuh"

KERNEL(gpmapairs, Gpma, kThreads) {
    u32 warps = gridBlocks() * warpsInBlock();
    for (u32 leaf = blockOf() * warpsInBlock() + warpInBlock(); leaf < p.a.leaves; leaf += warps) {
        u64 first = (u64)leaf * kLeaf, runs = p.a.runs[leaf];
        for (u32 i = laneId(); i < p.a.count[leaf]; i += kWarp) {
            u32 v = p.a.ent[first + rowSlot(i, runs)], nbr = p.a.nbr[first + i];
            if (v < nbr) addPair(p.pairs, p.pairMask, v, nbr);
        }
    }
}
