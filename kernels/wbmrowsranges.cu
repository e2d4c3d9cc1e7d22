// wbmrowsranges is wbmrowsabsent in a graph with ranges.
#define MOTIFD_WHERE
#define MOTIFD_ABSENT
#define MOTIFD_RANGES
#include "wbm.cuh"

KERNEL(wbmrowsranges, Search, kBlockWarps* kWarp, 3) {
    SHARED(RowBlock, block);
    searchTasks<true>(p, block.state, block.rows + warpInBlock());
}
