// Binary searches in the packed memory array, one per lane (GAMMA section IV-C: the intersection is a parallel binary
// search). A search finds the leaf by the fences, which are adjacent in memory, then the slot inside the leaf. All
// leaves with entries of a row, except the first, have a fence of that row.
#pragma once
#include "graph.cuh"
#include "plan.cuh"

// lowerBound returns the first slot from at on (which holds an entry) whose entry is not below a row and neighbour;
// or end. All slots up to end are of one vertex, which the row is without. It may be beyond the last row of the vertex.
FN u32 lowerBound(const Lists& l, u32 at, u32 end, u64 row, u32 nbr = 0) {
    u32 lo = at / kLeaf, hi = (end - 1) / kLeaf;
    while (lo < hi) {
        u32 mid = (lo + hi + 1) / 2;
        if (below((u32)l.g.fenceRow[l.base + mid], l.g.fenceNbr[l.base + mid], row, nbr))
            lo = mid;
        else
            hi = mid - 1;
    }
    u32 i = lo * kLeaf < at ? at : lo * kLeaf;
    u32 stop = leafEnd(l, lo, end), j = stop;
    u64 runs = runsAt(l, lo);
    while (i < j) {
        u32 mid = i + (j - i) / 2; // the sum may not fit
        if (below(nbrAt(l, rowSlot(mid, runs)), nbrAt(l, mid), row, nbr))
            i = mid + 1;
        else
            j = mid;
    }
    if (i == stop && stop < end) i = (lo + 1) * kLeaf;
    return i < end ? i : end;
}

// labelsOf returns the slots of a vertex and direction with labels of the edge from first to last; unless nbrLabel is
// kAnyLabel, from the first of neighbours with that label to the last of them.
FN Range labelsOf(const Graph& g, u32 v, u32 dir, u32 first, u32 last, u32 nbrLabel) {
    Span s = g.span[v * g.dirs + dir];
    Lists l = listsOf(g, v);
    u32 kind = kindOf(first, nbrLabel, g.nbrBits), after = kindOf(last, nbrLabel, g.nbrBits) + 1;
    if (nbrLabel == kAnyLabel) {
        kind = first << g.nbrBits;
        after = (last << g.nbrBits) + (1u << g.nbrBits);
    }
    if (s.begin == s.end || s.last < kind || s.first >= after) return Range{0, 0};
    u32 begin = s.first >= kind ? s.begin : lowerBound(l, s.begin, s.end, rowOf(0, dir, kind));
    u32 end = s.last < after ? s.end : lowerBound(l, begin, s.end, rowOf(0, dir, 0) + after);
    return Range{begin, end};
}

// rangeOf returns the slots of N(v, dir, label); unless nbrLabel is kAnyLabel, only those of neighbours with that
// label.
FN Range rangeOf(const Graph& g, u32 v, u32 dir, u32 label, u32 nbrLabel) {
    return labelsOf(g, v, dir, label, label, nbrLabel);
}

// nextLabel returns the first label from a number on that is in a set, or the first of the set if there is none.
FN u32 nextLabel(const Graph& g, u32 set, u32 from) {
    const Labels* x = g.where.labels + (set - kAmong);
    u32 first = x->first;
    for (;; x++) {
        if (from <= x->last) return from < x->first ? x->first : from;
        if (x->more == 0) return first;
    }
}

// labelled is rangeOf, where label may also be a set of labels, or kAnyLabel: then it returns all slots of one
// direction.
FN Range labelled(const Graph& g, u32 v, u32 dir, u32 label, u32 nbrLabel) {
    u32 first = label, last = label;
    if (among(label)) {
        const Labels* x = g.where.labels + (label - kAmong);
        first = x->first;
        last = x[x->more].last;
    }
    if (label != kAnyLabel) return labelsOf(g, v, dir, first, last, nbrLabel);
    Span s = g.span[v * g.dirs + dir];
    return Range{s.begin, s.end};
}

// reach returns the slots that can be the image of a back edge from a vertex. If the back edge is loose, slots with
// other labels may lie between them.
FN Range reach(const Graph& g, u32 v, const Back& b) {
    if (b.dir != kEither) return labelled(g, v, b.dir, b.label, b.nbrLabel);
    // in lies after out
    Range out = labelled(g, v, 0, b.label, b.nbrLabel), in = labelled(g, v, 1, b.label, b.nbrLabel);
    if (out.begin == out.end) return in;
    return Range{out.begin, in.begin == in.end ? out.end : in.end};
}

// slotAmong returns the slot of neighbour w in a range of one label and several kinds, or kNone.
FN u32 slotAmong(const Lists& l, Range r, u32 w) {
    u64 row = rowTo(l.g, rowAt(l, r.begin), w);
    u32 i = lowerBound(l, r.begin, r.end, row, w);
    return i < r.end && rowAt(l, i) == row && nbrAt(l, i) == w ? i : kNone;
}

// slotOf returns the slot of neighbour w in a range of one label, and of one kind unless nbrLabel is kAnyLabel; or
// kNone.
FN u32 slotOf(const Lists& l, Range r, u32 w, u32 nbrLabel) {
    if (r.begin == r.end) return kNone;
    if (nbrLabel == kAnyLabel) return slotAmong(l, r, w);
    u32 lo = r.begin / kLeaf, hi = (r.end - 1) / kLeaf;
    while (lo < hi) {
        u32 mid = (lo + hi + 1) / 2;
        if (l.g.fenceNbr[l.base + mid] <= w)
            lo = mid;
        else
            hi = mid - 1;
    }
    u32 i = lo * kLeaf < r.begin ? r.begin : lo * kLeaf;
    u32 end = leafEnd(l, lo, r.end), j = end;
    while (i < j) {
        u32 mid = i + (j - i) / 2; // the sum may not fit
        if (nbrAt(l, mid) < w)
            i = mid + 1;
        else
            j = mid;
    }
    return i < end && nbrAt(l, i) == w ? i : kNone;
}

// find returns the entry of neighbour w in a range of a back edge that is not loose, or kNone.
FN u32 find(const Lists& l, Range r, u32 w, const Back& b) {
    u32 slot = slotOf(l, r, w, b.nbrLabel);
    return slot == kNone ? kNone : entAt(l, slot);
}

// entryTo returns the entry that joins a vertex to neighbour w along a back edge that is not loose, or kNone.
FN u32 entryTo(const Graph& g, u32 v, const Back& b, u32 w) {
    if (!mayJoin(g, v, w)) return kNone;
    Span s = g.span[v * g.dirs + b.dir];
    u32 kind = kindOf(b.label, b.nbrLabel == kAnyLabel ? g.label[w] : b.nbrLabel, g.nbrBits);
    if (s.begin == s.end || kind < s.first || kind > s.last) return kNone;
    Lists l = listsOf(g, v);
    u64 row = rowOf(0, b.dir, kind);
    u32 i = lowerBound(l, s.begin, s.end, row, w);
    return i < s.end && rowAt(l, i) == row && nbrAt(l, i) == w ? entAt(l, i) : kNone;
}

// nextImage returns the first slot in [at, end) with the label and neighbour w, or end. The slots belong to one vertex.
// It searches label by label.
FN u32 nextImage(const Lists& l, u32 at, u32 end, u32 label, u32 w) {
    while (at < end) {
        if (!holdsEntry(l, at)) { // a gap
            at = (at / kLeaf + 1) * kLeaf;
            continue;
        }
        u64 row = rowAt(l, at);
        u32 want = among(label) ? nextLabel(l.g, label, edgeLabel(l.g, row)) : label;
        if (label != kAnyLabel && edgeLabel(l.g, row) != want) {
            u64 next = row - kindOfRow(row) + (want << l.g.nbrBits); // of this direction
            at = lowerBound(l, at, end, next > row ? next : next + kDirection);
            continue;
        }
        u64 to = rowTo(l.g, row, w);
        at = lowerBound(l, at, end, to, w);
        if (at == end || (rowAt(l, at) == to && nbrAt(l, at) == w)) return at;
        at = lowerBound(l, at, end, ((row >> l.g.nbrBits) + 1) << l.g.nbrBits);
    }
    return end;
}
