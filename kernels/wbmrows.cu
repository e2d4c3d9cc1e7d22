// wbmrows is wbm for rows that are sorted. One kernel for both would need more registers than either.
#include "wbm.cuh"

KERNEL(wbmrows, Search, kBlockWarps* kWarp, 3) {
    SHARED(RowBlock, block);
    searchTasks<true>(p, block.state, block.rows + warpInBlock());
}
