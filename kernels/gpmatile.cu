// gpmatile computes the sums of the parts that gpmascan scans: entries of leaves, then changes of operations.
#include "gpma.cuh"

struct TileSums {
    u32 sums[kThreads / kWarp];
};

KERNEL(gpmatile, Gpma, kThreads) {
    SHARED(TileSums, s);
    u32 first = (p.a.leaves + kTile - 1) / kTile, all = first + (p.keys + kTile - 1) / kTile;
    for (u32 t = blockOf(); t < all; t += gridBlocks()) {
        u32 n = 0, total;
        for (u32 k = threadInBlock(); k < kTile; k += kThreads) {
            u32 i = (t < first ? t : t - first) * kTile + k;
            if (t < first)
                n += i < p.a.leaves ? p.a.will[i] : 0;
            else
                n += i < p.keys ? change(p.info[i]) : 0;
        }
        blockScan(s.sums, n, total);
        if (threadInBlock() == 0) p.tile[t] = total;
    }
}
