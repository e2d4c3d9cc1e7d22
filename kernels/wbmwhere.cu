// wbmwhere is wbm with conditions on edges.
#define MOTIFD_WHERE
#include "wbm.cuh"

KERNEL(wbmwhere, Search, kBlockWarps* kWarp, 4) {
    SHARED(Block, block);
    searchTasks<false>(p, block.state, nullptr);
}
