// wbmrowsabsent is wbmrowswhere with negations of one edge.
#define MOTIFD_WHERE
#define MOTIFD_ABSENT
#include "wbm.cuh"

KERNEL(wbmrowsabsent, Search, kBlockWarps* kWarp, 3) {
    SHARED(RowBlock, block);
    searchTasks<true>(p, block.state, block.rows + warpInBlock());
}
