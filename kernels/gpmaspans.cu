// gpmaspans updates the spans of vertices in leaves that changed, a warp for each leaf. If an adjacent leaf begins or
// ends with another vertex, it updates the span of that vertex too.
#include "gpma.cuh"

// numberOf returns the number of a slot in the range of a row's vertex. Of a slot, as of the result, 32 bits suffice.
FN u32 numberOf(const Gpma& p, u32 slot, u64 row) {
    return p.rangeAt == nullptr ? slot : slot - p.rangeAt[(u32)(row >> 32) >> p.shift] * kLeaf;
}

// At the border of two leaves both write the same values, and a leaf may be read twice.
FN void beginsAt(const Gpma& p, u32 slot, u64 row) {
    Span& s = p.span[sideAt(row, p.dirs)];
    agree(&s.begin, numberOf(p, slot, row));
    agree(&s.first, kindOfRow(row));
}

FN void endsAt(const Gpma& p, u32 slot, u64 row) {
    Span& s = p.span[sideAt(row, p.dirs)];
    agree(&s.end, numberOf(p, slot, row) + 1);
    agree(&s.last, kindOfRow(row));
}

// spansOf updates the spans of the entries of a leaf from position from on.
FN void spansOf(const Gpma& p, u32 leaf, u32 from) {
    constexpr u64 kNoRow = ~(u64)0;
    u32 n = p.a.count[leaf], first = leaf * kLeaf, before = 0;
    if (n <= from) from = n > 0 ? n - 1 : 0;
    if (n == 0) return;  // the only leaf
    u64 left = kNoRow, right = kNoRow, runs = p.a.runs[leaf];
    if (leaf > 0) {
        u32 last = p.a.count[leaf - 1] - 1;
        before = first - kLeaf + last;
        left = rowIn(p.a, leaf - 1, p.a.runs[leaf - 1], last);
    }
    if (leaf + 1 < p.a.leaves) right = rowIn(p.a, leaf + 1, 1, 0);
    for (u32 at = from + laneId(); at < from + (n - from + kWarp - 1) / kWarp * kWarp; at += kWarp) {
        u64 row = at < n ? rowIn(p.a, leaf, runs, at) : kNoRow;
        u64 last = at >= n ? kNoRow : at > 0 ? rowIn(p.a, leaf, runs, at - 1) : left;
        u64 next = at + 1 < n ? rowIn(p.a, leaf, runs, at + 1) : right;
        bool begins = at < n && (last == kNoRow || sideOf(last) != sideOf(row));
        if (begins) beginsAt(p, first + at, row);
        if (at < n && (next == kNoRow || sideOf(next) != sideOf(row))) endsAt(p, first + at, row);
        if (at == 0 && begins && leaf > 0) endsAt(p, before, left);
        if (at + 1 == n && right != kNoRow && sideOf(right) != sideOf(row)) beginsAt(p, first + kLeaf, right);
        if (p.whole == 2) {
            u32 heads = vote(at < n && (laneId() == 0 || begins)) & ~lanesBelow();
            u32 mine = heads & -heads, later = heads & (heads - 1);
            u32 end = at - laneId() + (later != 0 ? lowestBit(later) : kWarp);
            if (mine == 1u << laneId()) add(&p.degree[sideAt(row, p.dirs)], (end < n ? end : n) - at);
        }
    }
    warpSync();
}

KERNEL(gpmaspans, Gpma, kThreads) {
    u32 warp = blockOf() * warpsInBlock() + warpInBlock(), warps = gridBlocks() * warpsInBlock();
    if (p.whole != 0) {
        for (u32 leaf = warp; leaf < p.a.leaves; leaf += warps) spansOf(p, leaf, 0);
        return;
    }
    if (p.control->rebuild) return;
    u32 each = (p.keys + warps - 1) / warps;
    if (each > kWarp) each = kWarp;
    for (u32 from = warp * each; from < p.keys; from += warps * each) {
        u32 i = from + laneId();
        bool in = laneId() < each && i < p.keys;
        u32 leaf = in ? p.at[i] : kNone;
        // An insertion or removal marks its leaf, unless the operation before is in the same leaf. Either all
        // operations of the leaf are merged, or the leaf is spread, see below.
        u32 info = in ? p.info[i] : 0;
        bool changes = info >= kEnters;
        u32 todo = vote(changes && (i == from || p.at[i - 1] != leaf || p.info[i - 1] < kEnters));
        u32 done = kNone;
        for (; todo != 0; todo &= todo - 1) {
            u32 l = shuffle(leaf, lowestBit(todo)), position = shuffle(info & kPosition, lowestBit(todo));
            if (l != done) spansOf(p, l, position > 0 ? position - 1 : 0);
            done = l;
        }
    }
    for (u32 i = blockOf(); i < p.control->segments; i += gridBlocks()) {
        u32 a, b;
        window(p.segment[i].level, p.segment[i].index, p.a.leaves, a, b);
        for (u32 leaf = a + warpInBlock(); leaf < b; leaf += warpsInBlock()) spansOf(p, leaf, 0);
    }
}
