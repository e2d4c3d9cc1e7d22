// gpmamerge merges the operations into the leaves that stay within their limits, a warp for each leaf. The others are
// left to climb. It works in registers: every lane has two slots, and computes how far their entries move.
#include "gpma.cuh"

// mergeLeaf merges the operations of one leaf, from begin on.
FN void mergeLeaf(const Gpma& p, u32 leaf, u32 begin) {
    u32 lane = laneId(), i = begin + lane;
    u32 end = begin + popcount(vote(i < p.keys && p.at[i] == leaf));
    if (end == begin + kWarp) {
        u32 hi = p.keys;
        while (end < hi) {
            u32 mid = (end + hi) / 2;
            if (p.at[mid] == leaf)
                end = mid + 1;
            else
                hi = mid;
        }
    }
    u32 n = p.a.count[leaf], will = p.a.will[leaf];
    if (will > kMaxLeaf || (will < kMinLeaf && p.a.leaves > 1)) {
        if (lane == 0) {
            p.pending[add(&p.control->pending, 1)] = leaf;
            p.range[leaf] = OpRange{begin, end};
        }
        warpSync();
        return;
    }
    u32 least = kNone;  // entries before that position stay where they are
    for (; begin < end; begin += kWarp) {
        i = begin + lane;
        u32 info = i < end ? p.info[i] : 0, some = vote(info >= kEnters);
        least = shuffle(info & kPosition, some != 0 ? lowestBit(some) : 0);
        if (some != 0) break;
    }
    if (begin >= end) return;
    u32 first = leaf * kLeaf, position[2], to[2];
    u64 row[2];
    u32 nbr[2], ent[2];
    bool stays[2];
    for (u32 k = 0; k < 2; k++) {
        position[k] = to[k] = lane + k * kWarp;
        stays[k] = position[k] >= least && position[k] < n;
        if (stays[k]) {
            row[k] = p.a.row[first + position[k]];
            nbr[k] = p.a.nbr[first + position[k]];
            ent[k] = p.a.ent[first + position[k]];
        }
    }
    warpSync();
    u32 sum = 0;
    for (; begin < end; begin += kWarp) {
        i = begin + lane;
        u32 info = i < end ? p.info[i] : 0, at = info & kPosition;
        u32 enters = vote((info & kEnters) != 0), goes = vote((info & kGoes) != 0);
        if (info & kEnters) {
            u32 slot = first + at + sum + popcount(enters & lanesBelow()) - popcount(goes & lanesBelow());
            u64 r;
            u32 w;
            Op o = entryOf(p, i, r, w);
            p.a.row[slot] = r;
            p.a.nbr[slot] = w;
            p.a.ent[slot] = o.ent;
        }
        for (u32 todo = enters | goes; todo != 0; todo &= todo - 1) {
            u32 k = lowestBit(todo), x = shuffle(at, k);
            for (u32 j = 0; j < 2; j++) {
                if (enters >> k & 1) {
                    to[j] += x <= position[j];
                } else {
                    to[j] -= x < position[j];
                    if (x == position[j]) stays[j] = false;
                }
            }
        }
        sum += popcount(enters) - popcount(goes);
    }
    for (u32 k = 0; k < 2; k++) {
        if (!stays[k] || to[k] == position[k]) continue;
        p.a.row[first + to[k]] = row[k];
        p.a.nbr[first + to[k]] = nbr[k];
        p.a.ent[first + to[k]] = ent[k];
    }
    if (lane == 0) p.a.count[leaf] = will;
    warpSync();
}

KERNEL(gpmamerge, Gpma, kThreads) {
    u64 n = (u64)p.control->entries * 100, slots = (u64)p.a.leaves * kLeaf;
    u32 warp = blockOf() * warpsInBlock() + warpInBlock(), warps = gridBlocks() * warpsInBlock();
    if (p.force || n > 84 * slots || (p.a.leaves > 1 && n < 42 * slots)) {
        if (warp == 0 && laneId() == 0) p.control->rebuild = 1;
        return;
    }
    u32 each = (p.keys + warps - 1) / warps;
    if (each > kWarp) each = kWarp;
    for (u32 from = warp * each; from < p.keys; from += warps * each) {
        u32 i = from + laneId();
        bool in = laneId() < each && i < p.keys;
        u32 leaf = in ? p.at[i] : kNone;
        if (in && p.info[i] & kGoes) {  // a vertex without entries has no span
            u64 row;
            u32 nbr;
            entryOf(p, i, row, nbr);
            u32 side = sideAt(row, p.dirs);
            if (p.degree[side] == 0) {
                Span& s = p.span[side];
                agree(&s.begin, 0), agree(&s.end, 0), agree(&s.first, 0), agree(&s.last, 0);
            }
        }
        u32 heads = vote(in && (i == 0 || p.at[i - 1] != leaf));
        for (; heads != 0; heads &= heads - 1) mergeLeaf(p, shuffle(leaf, lowestBit(heads)), from + lowestBit(heads));
    }
}
