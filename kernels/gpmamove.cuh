// New positions of entries when several leaves are rewritten together. An entry moves by the sum of the changes of the
// operations before it.
#pragma once
#include "gpma.cuh"

// firstIn returns the first sorted operation whose leaf is not before a leaf.
FN u32 firstIn(const Gpma& p, u32 leaf) {
    u32 lo = 0, hi = p.keys;
    while (lo < hi) {
        u32 mid = (lo + hi) / 2;
        if (p.at[mid] < leaf)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

// movesTo returns the new position of the entry at a position of a leaf with operations r; kNone if it is removed.
FN u32 movesTo(const Gpma& p, u32 leaf, OpRange r, u32 position) {
    u32 lo = r.begin, hi = r.end;
    while (lo < hi) {
        u32 mid = (lo + hi) / 2;
        if ((p.info[mid] & kPosition) <= position)
            lo = mid + 1;
        else
            hi = mid;
    }
    u32 to = p.base[leaf] + position;
    if (lo == r.begin) return to;
    u32 last = p.info[lo - 1];
    if ((last & kGoes) && (last & kPosition) == position) return kNone;
    return to + p.sum[lo - 1] + change(last) - p.sum[r.begin];
}

// entersAt returns the position of the entry that an operation inserts. begin is the first operation of its leaf.
FN u32 entersAt(const Gpma& p, u32 i, u32 begin) {
    return p.base[p.at[i]] + (p.info[i] & kPosition) + p.sum[i] - p.sum[begin];
}

// sumWill writes base, from 0, for the leaves [a, b), and returns their number of entries. A block calls it.
FN u32 sumWill(const Gpma& p, u32* sums, u32 a, u32 b, u32 carry) {
    for (u32 t = a; t < b; t += kThreads) {
        u32 i = t + threadInBlock(), total, before = blockScan(sums, i < b ? p.a.will[i] : 0, total);
        if (i < b) p.base[i] = carry + before;
        carry += total;
    }
    return carry;
}

// sumOps writes sum for the operations [a, b). A block calls it.
FN void sumOps(const Gpma& p, u32* sums, u32 a, u32 b, u32 carry) {
    for (u32 t = a; t < b; t += kThreads) {
        u32 i = t + threadInBlock(), total, before = blockScan(sums, i < b ? change(p.info[i]) : 0, total);
        if (i < b) p.sum[i] = carry + before;
        carry += total;
    }
}
