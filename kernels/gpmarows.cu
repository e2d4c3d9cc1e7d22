// gpmarows makes keys of the rows of operations that are sorted by neighbour. A stable sort by these keys gives the
// order of the entries.
#include "gpmakey.cuh"

KERNEL(gpmarows, Gpma, kThreads) {
    u64* key = const_cast<u64*>(p.sortedKey);
    u32 step = gridBlocks() * blockThreads();
    for (u32 i = blockOf() * blockThreads() + threadInBlock(); i < p.keys; i += step) {
        u64 row;
        u32 nbr;
        entryOf(p, i, row, nbr);
        key[i] = rowKeyOf(p, (u32)(row >> 32), (u32)(row >> 31) & 1, kindOfRow(row));
    }
}
