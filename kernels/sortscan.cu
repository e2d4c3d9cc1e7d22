// sortscan turns the counts of sortcount into positions, a warp for each digit. tiles is the number of parts.
#include "sort.cuh"

KERNEL(sortscan, Sort, kSortThreads) {
    u32 digit = blockOf() * warpsInBlock() + warpInBlock();
    if (digit < kDigits) scanDigit(p.counts, digit, p.tiles);
}
