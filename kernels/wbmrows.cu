// wbmrows is wbm for rows that are put in order. One kernel for both would take more registers than either.
#include "wbm.cuh"

KERNEL(wbmrows, Search, kBlockWarps* kWarp, 3) {
    SHARED(RowBlock, block);
    searchTasks<true>(p, block.state, block.rows + warpInBlock());
}
