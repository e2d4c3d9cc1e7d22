// fetch copies words to page-locked memory of the host. A small copy by the copy engine would wait for all large copies
// that are queued on another stream; a kernel does not.
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
