// gpmascan computes base, sum and range for the whole array. A block works on a part.
#include "gpmamove.cuh"

struct ScanSums {
    u32 sums[kThreads / kWarp];
};

KERNEL(gpmascan, Gpma, kThreads) {
    SHARED(ScanSums, s);
    u32 first = (p.a.leaves + kTile - 1) / kTile, all = first + (p.keys + kTile - 1) / kTile;
    for (u32 t = blockOf(); t < all; t += gridBlocks()) {
        u32 before = 0, carry, from = t < first ? 0 : first, at = (t - from) * kTile;
        for (u32 i = from + threadInBlock(); i < t; i += kThreads) before += p.tile[i];
        blockScan(s.sums, before, carry);
        u32 n = t < first ? p.a.leaves : p.keys, end = at + kTile < n ? at + kTile : n;
        if (t < first) {
            sumWill(p, s.sums, at, end, carry);
            continue;
        }
        sumOps(p, s.sums, at, end, carry);
        for (u32 i = at + threadInBlock(); i < end; i += kThreads) {
            u32 leaf = p.at[i];
            if (i == 0 || p.at[i - 1] != leaf) p.range[leaf].begin = i;
            if (i + 1 == p.keys || p.at[i + 1] != leaf) p.range[leaf].end = i + 1;
        }
    }
}
