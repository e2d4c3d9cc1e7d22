// wbmrowscached is wbmrowswhere for a cache (defer.cuh).
#define MOTIFD_WHERE
#define MOTIFD_CACHED
#include "wbm.cuh"

KERNEL(wbmrowscached, Search, kBlockWarps* kWarp, 3) {
    SHARED(RowBlock, block);
    searchTasks<true>(p, block.state, block.rows + warpInBlock());
}
