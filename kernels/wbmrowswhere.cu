// wbmrowswhere is wbmrows with conditions on edges.
#define MOTIFD_WHERE
#include "wbm.cuh"

KERNEL(wbmrowswhere, Search, kBlockWarps* kWarp, 3) {
    SHARED(RowBlock, block);
    searchTasks<true>(p, block.state, block.rows + warpInBlock());
}
