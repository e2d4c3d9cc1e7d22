// sorttile sorts few pairs in one block.
#include "sort.cuh"

KERNEL(sorttile, Sort, kSortThreads) {
    SHARED(SortBlock, s);
    sortTile(p, s);
}
