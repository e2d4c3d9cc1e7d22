// gpmakeys prepares an update. It makes the operations that end the batch before from those that staged it, the keys of
// the two entries of each operation, and the data of staged edges that searches read.
#include "gpmakey.cuh"

// settled returns the operation that ends a staged operation.
FN Op settled(Op o, bool abort) {
    if (o.from == o.to) return o;
    bool goes = !(o.back & kStays) && ((o.kind & kOut) != 0) != abort;
    o.ent &= ~kStaged;
    o.kind = (o.kind & ~kOut) | (goes ? kOut : 0);
    return o;
}

KERNEL(gpmakeys, Gpma, kThreads) {
    u32 step = gridBlocks() * blockThreads(), first = blockOf() * blockThreads() + threadInBlock();
    if (first == 0) {
        GpmaControl* c = p.control;
        c->pending = c->segments = c->rebuild = c->scratch = 0;
    }
    u32 added = 0;
    for (u32 i = first; i < p.ops; i += step) {
        Op o;
        if (i < p.settle) {
            o = settled(p.before[i], p.abort != 0);
            p.op[i] = o;
        } else {
            o = p.op[i];
            if (o.from != o.to) added += addPair(p.pairs, p.pairMask, o.from, o.to);
        }
        if (i >= p.stagedFrom) {
            u32 n = i - p.stagedFrom, edge = o.ent & ~kStaged;
            bool stays = o.back & kStays, out = o.kind & kOut;
            if (!(stays && out)) p.order[edge] = (n + 1) | (stays ? kReplaced : out ? kDeleted : 0);
            p.net[n] = NetEdge{edge, o.from, o.to};
            p.staged[n] = o;
        }
        p.key[2 * i] = p.wide ? o.to : keyOf(p, o.from, 0, o.kind & ~kOut, o.to);
        p.key[2 * i + 1] = p.wide ? o.from : keyOf(p, o.to, 1, o.back & ~kStays, o.from);
        p.val[2 * i] = 2 * i;
        p.val[2 * i + 1] = 2 * i + 1;
    }
    added = warpSum(added);
    if (laneId() == 0 && added != 0) add(&p.control->added, added);
}
