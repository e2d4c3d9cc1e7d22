// wbmflatranges is wbmflatwhere in a graph with ranges.
#define MOTIFD_WHERE
#define MOTIFD_RANGES
#include "flatlife.cuh"

KERNEL(wbmflatranges, Search, kFlatThreads, 4) { countTasks(p, flatsOf(p.queue, gridWarps() + warpInGrid())); }
