// gpmascatter copies the array into one of another size and applies the operations. A warp works on a leaf, a lane on
// an operation.
#include "gpmamove.cuh"

// put writes entry i of n to the new array.
FN void put(const Slots& b, u32 n, u32 i, u64 row, u32 nbr, u32 ent) {
    u32 leaf = (u32)(((u64)(i + 1) * b.leaves - 1) / n), position = i - shareOf(n, leaf, b.leaves),
        slot = leaf * kLeaf + position;
    b.row[slot] = row;
    b.nbr[slot] = nbr;
    b.ent[slot] = ent;
    if (position == 0 && leaf > 0) {
        b.fenceRow[leaf] = row;
        b.fenceNbr[leaf] = nbr;
    }
}

// opsOf returns the operations of a leaf. The range of a leaf without operations is from an earlier batch.
FN OpRange opsOf(const Gpma& p, u32 leaf) {
    OpRange r = p.range[leaf];
    bool real = r.begin < p.keys && p.at[r.begin] == leaf && (r.begin == 0 || p.at[r.begin - 1] != leaf);
    return real ? r : OpRange{0, 0};
}

KERNEL(gpmascatter, Gpma, kThreads) {
    u32 thread = blockOf() * blockThreads() + threadInBlock(), threads = gridBlocks() * blockThreads(), n = p.entries;
    for (u32 leaf = thread / kWarp; leaf < p.a.leaves; leaf += threads / kWarp) {
        OpRange r = opsOf(p, leaf);
        u32 have = p.a.count[leaf];
        for (u32 position = laneId(); position < have; position += kWarp) {
            u32 to = movesTo(p, leaf, r, position), slot = leaf * kLeaf + position;
            if (to != kNone) put(p.b, n, to, p.a.row[slot], p.a.nbr[slot], p.a.ent[slot]);
        }
    }
    for (u32 i = thread; i < p.keys; i += threads) {
        if (!(p.info[i] & kEnters)) continue;
        u64 row;
        u32 nbr;
        Op o = entryOf(p, i, row, nbr);
        put(p.b, n, entersAt(p, i, p.range[p.at[i]].begin), row, nbr, o.ent);
    }
    for (u32 leaf = thread; leaf < p.b.leaves; leaf += threads) {
        p.b.count[leaf] = p.b.will[leaf] = shareOf(n, leaf + 1, p.b.leaves) - shareOf(n, leaf, p.b.leaves);
        if (leaf == 0) p.b.fenceRow[0] = p.b.fenceNbr[0] = 0;
    }
}
