// patch writes records to a table: record i of src becomes record at[i] of dst. Records with equal at are equal.
#include "warp.cuh"

struct Patch {
    u32* dst;
    const u32* src;
    const u32* at;
    u32 records, words;  // a record's size
};
LAYOUT_patch

KERNEL(patch, Patch, 256) {
    u64 all = (u64)p.records * p.words, step = (u64)gridBlocks() * blockThreads();
    for (u64 i = (u64)blockOf() * blockThreads() + threadInBlock(); i < all; i += step)
        agree(&p.dst[(u64)p.at[i / p.words] * p.words + i % p.words], p.src[i]);
}
