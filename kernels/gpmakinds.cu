// gpmakinds sets the kinds of a run of loaded entries in scratch, whose rows have only the labels of the edges, and
// makes sort keys without the neighbour: the entries are sorted by neighbour already, and the sort is stable.
#include "gpmakey.cuh"

KERNEL(gpmakinds, Gpma, kThreads) {
    u32 n = p.to - p.from, step = gridBlocks() * blockThreads();
    for (u32 i = blockOf() * blockThreads() + threadInBlock(); i < n; i += step) {
        u64 row = p.scratchRow[i];
        u32 kind = kindOf(kindOfRow(row), p.label[p.scratchNbr[i]], p.nbrBits);
        p.scratchRow[i] = row = row - kindOfRow(row) + kind;
        p.key[i] = rowKeyOf(p, (u32)(row >> 32) - p.first, dirOfRow(row), kind);
        p.val[i] = i;
    }
}
