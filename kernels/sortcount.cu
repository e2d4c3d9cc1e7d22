// sortcount counts, a block a part of the keys, how often each digit occurs.
#include "sort.cuh"

struct SortCount {
    u32 count[kDigits];
};

KERNEL(sortcount, Sort, kSortThreads) {
    SHARED(SortCount, s);
    countDigits(p, s.count);
}
