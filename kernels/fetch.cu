// fetch copies words to page-locked memory of the host. The copy engine serves the large copies of one stream until
// there are none, and a small one of another stream waits for all of them; a kernel does not.
#include "warp.cuh"

struct Fetch {
    u32* dst;
    const u32* src;
    u64 words;
};
LAYOUT_fetch

KERNEL(fetch, Fetch, 256) {
    u64 step = (u64)gridBlocks() * blockThreads();
    for (u64 i = (u64)blockOf() * blockThreads() + threadInBlock(); i < p.words; i += step)
        p.dst[i] = p.src[i];
}
