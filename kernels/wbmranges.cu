// wbmranges is wbmwhere in a graph with ranges.
#define MOTIFD_WHERE
#define MOTIFD_RANGES
#include "wbm.cuh"

KERNEL(wbmranges, Search, kBlockWarps* kWarp, 4) {
    SHARED(Block, block);
    searchTasks<false>(p, block.state, nullptr);
}
