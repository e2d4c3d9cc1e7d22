// gpmagather copies entries of the array, as the operations leave them, to scratch: those with the indexes [from, to).
// A warp works on a leaf, a lane on an operation.
#include "gpmamove.cuh"

// put writes entry i to scratch, if it belongs there.
FN void put(const Gpma& p, u32 i, u64 row, u32 nbr, u32 ent) {
    if (i < p.from || i >= p.to) return;
    p.scratchRow[i - p.from] = row;
    p.scratchNbr[i - p.from] = nbr;
    p.scratchEnt[i - p.from] = ent;
}

// opsOf returns the operations of a leaf. The range of a leaf without operations is from an earlier batch.
FN OpRange opsOf(const Gpma& p, u32 leaf) {
    OpRange r = p.range[leaf];
    bool real = r.begin < p.keys && p.at[r.begin] == leaf && (r.begin == 0 || p.at[r.begin - 1] != leaf);
    return real ? r : OpRange{0, 0};
}

KERNEL(gpmagather, Gpma, kThreads) {
    u32 thread = blockOf() * blockThreads() + threadInBlock(), threads = gridBlocks() * blockThreads();
    for (u32 leaf = thread / kWarp; leaf < p.a.leaves; leaf += threads / kWarp) {
        if (p.base[leaf] >= p.to || p.base[leaf] + p.a.will[leaf] <= p.from) continue;
        OpRange r = opsOf(p, leaf);
        u32 have = p.a.count[leaf];
        u64 first = slotAt(leaf, 0);
        u64 runs = p.a.runs[leaf];
        for (u32 position = laneId(); position < have; position += kWarp) {
            u32 to = movesTo(p, leaf, r, position);
            if (to != kNone)
                put(p, to, rowIn(p.a, leaf, runs, position), p.a.nbr[first + position], p.a.ent[first + position]);
        }
    }
    for (u32 i = thread; i < p.keys; i += threads) {
        if (!(p.info[i] & kEnters)) continue;
        u64 row;
        u32 nbr;
        Op o = entryOf(p, i, row, nbr);
        put(p, entersAt(p, i, p.range[p.at[i]].begin), row, nbr, o.ent);
    }
}
