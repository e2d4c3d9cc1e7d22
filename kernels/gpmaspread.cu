// gpmaspread spreads the entries of windows evenly and applies the operations, a block for each window. It gathers the
// entries in shared memory, or in scratch if they are many.
#include "gpmalay.cuh"
#include "gpmamove.cuh"

struct Spread {
    u64 row[kInShared];
    u32 nbr[kInShared], ent[kInShared];
    u32 sums[kThreads / kWarp];
    u32 skip, from, to, scratch;
};

// covered reports whether a window above is spread too.
FN bool covered(const Gpma& p, Segment s) {
    for (u32 h = s.level + 1; h <= p.top; h++)
        if (*markOf(p, h, s.index >> (h - s.level)) == p.stamp) return true;
    return false;
}

FN void spread(const Gpma& p, Spread& s, Segment seg) {
    u32 a, b;
    window(seg.level, seg.index, p.a.leaves, a, b);
    blockSync();
    if (threadInBlock() == 0) {
        // read once for all threads, because other blocks may set it meanwhile
        s.skip = peek(&p.control->rebuild) || covered(p, seg);
        s.from = firstIn(p, a);
        s.to = firstIn(p, b);
    }
    blockSync();
    if (s.skip) return;
    u32 n = sumWill(p, s.sums, a, b, 0);
    sumOps(p, s.sums, s.from, s.to, 0);
    if (n > kInShared && threadInBlock() == 0) {
        s.scratch = add(&p.control->scratch, n);
        s.skip = (u64)s.scratch + n > p.scratchSize;
        if (s.skip) exchange(&p.control->rebuild, 1);
    }
    blockSync();
    if (s.skip) return;
    u64* row = n > kInShared ? p.scratchRow + s.scratch : s.row;
    u32* nbr = n > kInShared ? p.scratchNbr + s.scratch : s.nbr;
    u32* ent = n > kInShared ? p.scratchEnt + s.scratch : s.ent;
    for (u32 leaf = a + warpInBlock(); leaf < b; leaf += kThreads / kWarp) {
        u32 have = p.a.count[leaf];
        u64 runs = p.a.runs[leaf];
        OpRange r = p.a.used[leaf] & kClimbs ? p.range[leaf] : OpRange{0, 0};  // other leaves have been merged
        for (u32 position = laneId(); position < have; position += kWarp) {
            u32 to = movesTo(p, leaf, r, position);
            if (to == kNone) continue;
            row[to] = rowIn(p.a, leaf, runs, position);
            nbr[to] = p.a.nbr[slotAt(leaf, position)];
            ent[to] = p.a.ent[slotAt(leaf, position)];
        }
    }
    for (u32 i = s.from + threadInBlock(); i < s.to; i += kThreads) {
        u32 leaf = p.at[i];
        if (!(p.info[i] & kEnters) || !(p.a.used[leaf] & kClimbs)) continue;
        u64 r;
        u32 w;
        Op o = entryOf(p, i, r, w);
        u32 to = entersAt(p, i, p.range[leaf].begin);
        row[to] = r;
        nbr[to] = w;
        ent[to] = o.ent;
    }
    blockSync();
    Entries e{row, nbr, ent, nullptr, n};
    layOut(p.a, e, s.sums, p.base + a, slotsOf(s.sums, e), a, b, a);
}

KERNEL(gpmaspread, Gpma, kThreads) {
    SHARED(Spread, s);
    u32 segments = p.control->segments;
    for (u32 i = blockOf(); i < segments; i += gridBlocks()) spread(p, s, p.segment[i]);
}
