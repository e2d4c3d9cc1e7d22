// wbmflatwhere is wbmflat with conditions on edges.
#define MOTIFD_WHERE
#include "flatlife.cuh"

KERNEL(wbmflatwhere, Search, kFlatThreads, 4) {
    SHARED(FlatBlock, block);
    countTasks(p, block.flats[warpInBlock()]);
}
