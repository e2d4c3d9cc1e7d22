// wbmcached is wbmwhere for a cache (defer.cuh).
#define MOTIFD_WHERE
#define MOTIFD_CACHED
#include "wbm.cuh"

KERNEL(wbmcached, Search, kBlockWarps* kWarp, 4) {
    SHARED(Block, block);
    searchTasks<false>(p, block.state, nullptr);
}
