// spans finds anew where vertices' entries begin and end, in the leaves that changed and those beside them, a warp a leaf.
#include "graph.cuh"
#include "warp.cuh"

struct Spans {
    const u64* row;
    const u32* count;
    Span* span;
    const u32* leaf;   // null: all leaves
    u32 leaves, total;  // to look at, and in the array
    u32 dirs, unused;
};

FN u64 sideOf(u64 row) { return row >> 31; }

KERNEL(spans, Spans, 256) {
    u32 warps = gridBlocks() * warpsInBlock();
    for (u32 i = blockOf() * warpsInBlock() + warpInBlock(); i < p.leaves; i += warps) {
        u32 leaf = p.leaf != nullptr ? p.leaf[i] : i;
        u32 n = p.count[leaf];
        for (u32 at = laneId(); at < n; at += kWarp) {
            u32 slot = leaf * kLeaf + at;
            u64 row = p.row[slot], none = ~(u64)0;
            u64 before = at > 0 ? p.row[slot - 1] : leaf > 0 ? p.row[(leaf - 1) * kLeaf + p.count[leaf - 1] - 1] : none;
            u64 after = at + 1 < n ? p.row[slot + 1] : leaf + 1 < p.total ? p.row[(leaf + 1) * kLeaf] : none;
            u32 key = (u32)(row >> 32) * p.dirs + (p.dirs > 1 ? (u32)(row >> 31 & 1) : 0);
            if (before == none || sideOf(before) != sideOf(row)) {
                p.span[key].begin = slot;
                p.span[key].first = labelOfRow(row);
            }
            if (after == none || sideOf(after) != sideOf(row)) {
                p.span[key].end = slot + 1;
                p.span[key].last = labelOfRow(row);
            }
        }
        warpSync();
    }
}
