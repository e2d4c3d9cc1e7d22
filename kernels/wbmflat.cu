// wbmflat counts the tasks of a search in blocks of 32. It leaves tasks that cannot be counted in blocks to wbm.
#include "flatlife.cuh"

KERNEL(wbmflat, Search, kFlatThreads, 4) {
    SHARED(FlatBlock, block);
    countTasks(p, flatsIn(block));
}
