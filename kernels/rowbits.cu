// rowbits finds in which bits the columns of rows differ.
#include "rows.cuh"

struct RowBitsBlock {
    u32 bits[kMaxStride];
};

KERNEL(rowbits, RowBits, kRowThreads) {
    SHARED(RowBitsBlock, s);
    differing(p, s.bits);
}
