// sortcount counts the digits of the keys. A block works on a part.
#include "sort.cuh"

struct SortCount {
    u32 count[kDigits];
};

KERNEL(sortcount, Sort, kSortThreads) {
    SHARED(SortCount, s);
    countDigits(p, s.count);
}
