// gpmaclimb finds, for every leaf that would be too full or too empty, the smallest window whose density is within its
// limits. A warp works on a leaf.
#include "gpma.cuh"

// addLeaves adds the numbers of entries, and of slots in use, of the leaves [a, b) after the batch.
FN void addLeaves(const Gpma& p, u32 a, u32 b, u32& entries, u32& used) {
    u32 n = 0, m = 0;
    for (u32 i = a + laneId(); i < b; i += kWarp) {
        n += p.a.will[i];
        m += p.a.used[i] & ~kClimbs;
    }
    warpSync();
    entries += warpSum(n);
    used += warpSum(m);
}

KERNEL(gpmaclimb, Gpma, kThreads) {
    u32 leaves = p.control->pending, warps = gridBlocks() * warpsInBlock();
    for (u32 i = blockOf() * warpsInBlock() + warpInBlock(); i < leaves; i += warps) {
        u32 leaf = p.pending[i], a = leaf, b = leaf + 1, level = 0;
        u32 n = p.a.will[leaf], used = p.a.used[leaf] & ~kClimbs;
        do {
            u32 x, y;
            level++;
            window(level, leaf >> level, p.a.leaves, x, y);
            addLeaves(p, x, a, n, used);
            addLeaves(p, b, y, n, used);
            a = x;
            b = y;
        } while (level < p.top && !within(p, level, b - a, n, used));
        if (laneId() != 0) {
        } else if (!within(p, level, b - a, n, used)) {
            exchange(&p.control->rebuild, 1);
        } else if (exchange(markOf(p, level, leaf >> level), p.stamp) != p.stamp) {
            p.segment[add(&p.control->segments, 1)] = Segment{level, leaf >> level};
        }
        warpSync();
    }
}
