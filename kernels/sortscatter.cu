// sortscatter writes the pairs in the order of one digit.
#include "sort.cuh"

KERNEL(sortscatter, Sort, kSortThreads) {
    SHARED(SortBlock, s);
    scatter(p, s);
}
