// gpmakinds gives entries that are loaded, a run in scratch whose rows have the edges' labels alone, their kinds, and
// makes keys that put them in order: they are in order but for their neighbours' labels, and a stable sort keeps what
// they are by neighbour.
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
