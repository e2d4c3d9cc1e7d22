// wbmflatwhere is wbmflat with conditions on edges, pairs of leaves, and any number of levels, which are in global
// memory.
#define MOTIFD_WHERE
#include "flatlife.cuh"

KERNEL(wbmflatwhere, Search, kFlatThreads, 4) { countTasks(p, flatsOf(p.queue, gridWarps() + warpInGrid())); }
