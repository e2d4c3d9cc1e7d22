// gpmarank sorts few keys: for each key, a warp counts the keys that come before it.
#include "gpma.cuh"

KERNEL(gpmarank, Gpma, kThreads) {
    u64* sortedKey = const_cast<u64*>(p.sortedKey);
    u32* sortedVal = const_cast<u32*>(p.sortedVal);
    u32 warps = gridBlocks() * warpsInBlock();
    for (u32 i = blockOf() * warpsInBlock() + warpInBlock(); i < p.keys; i += warps) {
        u64 mine = p.key[i];
        u32 n = 0;
        for (u32 j = laneId(); j < p.keys; j += kWarp) {
            u64 k = p.key[j];
            n += k < mine || (k == mine && j < i);
        }
        n = warpSum(n);
        if (laneId() == 0) {
            sortedKey[n] = mine;
            sortedVal[n] = p.val[i];
        }
    }
}
