// gpmafill writes a run of entries from scratch into a new array, in the order of sortedVal. A warp works on a leaf.
#include "gpma.cuh"

KERNEL(gpmafill, Gpma, kThreads) {
    u32 n = p.entries, leaves = p.a.leaves;
    u32 warp = blockOf() * warpsInBlock() + warpInBlock(), warps = gridBlocks() * warpsInBlock();
    u32 last = (u32)(((u64)p.to * leaves - 1) / n);
    for (u32 leaf = (u32)(((u64)(p.from + 1) * leaves - 1) / n) + warp; leaf <= last; leaf += warps) {
        u32 begin = shareOf(n, leaf, leaves), end = shareOf(n, leaf + 1, leaves);
        for (u32 i = begin + laneId(); i < end; i += kWarp) {
            if (i < p.from || i >= p.to) continue;
            u32 slot = leaf * kLeaf + i - begin, from = p.sortedVal[i - p.from];
            p.a.row[slot] = p.scratchRow[from];
            p.a.nbr[slot] = p.scratchNbr[from];
            p.a.ent[slot] = p.scratchEnt[from];
            if (i == begin) {
                p.a.fenceRow[leaf] = leaf > 0 ? p.scratchRow[from] : 0;
                p.a.fenceNbr[leaf] = leaf > 0 ? p.scratchNbr[from] : 0;
                p.a.count[leaf] = p.a.will[leaf] = end - begin;
            }
        }
    }
}
