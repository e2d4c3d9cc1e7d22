// gpmalocate finds the leaf of every operation and its position in it, a lane each, with the top levels of the tree
// over the fences in shared memory (GAMMA section V-C). Operations that only overwrite an entry are done here;
// insertions and removals are counted.
#include "gpma.cuh"

struct Top {
    u64 row[kTop];
    u32 nbr[kTop];
};

// leafOf returns the last leaf whose fence is not above an entry.
FN u32 leafOf(const Gpma& p, const Top& top, u32 tops, u32 stride, u64 row, u32 nbr) {
    u32 lo = 0, hi = tops - 1;
    while (lo < hi) {
        u32 mid = (lo + hi + 1) / 2;
        if (below(row, nbr, top.row[mid], top.nbr[mid]))
            hi = mid - 1;
        else
            lo = mid;
    }
    lo *= stride;
    hi = lo + stride < p.a.leaves ? lo + stride - 1 : p.a.leaves - 1;
    while (lo < hi) {
        u32 mid = (lo + hi + 1) / 2;
        u64 r = p.a.fenceRow[mid];
        if (row < r || (row == r && nbr < p.a.fenceNbr[mid]))
            hi = mid - 1;
        else
            lo = mid;
    }
    return lo;
}

// positionIn returns the number of entries of a leaf below (row, nbr), and whether the next entry is (row, nbr).
FN u32 positionIn(const Gpma& p, u32 leaf, u64 row, u32 nbr, bool& found) {
    u32 lo = 0, hi = p.a.count[leaf], n = hi;
    u64 first = slotAt(leaf, 0), runs = p.a.runs[leaf];
    while (lo < hi) {
        u32 mid = (lo + hi) / 2;
        u64 r = rowIn(p.a, leaf, runs, mid);
        if (r < row || (r == row && p.a.nbr[first + mid] < nbr))
            lo = mid + 1;
        else
            hi = mid;
    }
    found = lo < n && rowIn(p.a, leaf, runs, lo) == row && p.a.nbr[first + lo] == nbr;
    return lo;
}

KERNEL(gpmalocate, Gpma, kThreads) {
    SHARED(Top, top);
    u32 stride = (p.a.leaves + kTop - 1) / kTop, tops = (p.a.leaves + stride - 1) / stride;
    for (u32 i = threadInBlock(); i < tops; i += blockThreads()) {
        top.row[i] = p.a.fenceRow[i * stride];
        top.nbr[i] = p.a.fenceNbr[i * stride];
    }
    blockSync();
    u32 more = 0;
    for (u32 i = blockOf() * blockThreads() + threadInBlock(); i < p.keys; i += gridBlocks() * blockThreads()) {
        u64 row;
        u32 nbr;
        Op o = entryOf(p, i, row, nbr);
        u32 leaf = leafOf(p, top, tops, stride, row, nbr);
        bool found;
        u32 info = positionIn(p, leaf, row, nbr, found);
        p.at[i] = leaf;
        if (i + 1 == p.keys || !same(p, i, i + 1)) {  // of several operations on one entry, the last
            bool goes = (o.kind & kOut) && !(o.ent & kStaged);
            if (found && !goes) {
                p.a.ent[slotAt(leaf, info)] = o.ent;
            } else if (found != !goes) {
                info |= goes ? kGoes : kEnters;
                if (!p.again) {
                    add(&p.a.will[leaf], change(info));
                    add(&p.degree[sideAt(row, p.dirs)], change(info));
                    more += change(info);
                }
            }
        }
        p.info[i] = info;
    }
    warpSync();
    more = warpSum(more);
    if (laneId() == 0 && more != 0) add(&p.control->entries, more);
}
