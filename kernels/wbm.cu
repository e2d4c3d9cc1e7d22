// wbm searches tasks (program, net edge) for counts and existence: GAMMA's warp-centric batch-dynamic matching. Warps
// take tasks from a counter; those that find none left steal. A warp that has made its turns, or finds the row buffer
// full, parks its state; the next launch continues there, after the host has emptied the buffer.
#include "wbm.cuh"

KERNEL(wbm, Search, kBlockWarps* kWarp, 4) {
    SHARED(Block, block);
    searchTasks<false>(p, block.state, nullptr);
}
