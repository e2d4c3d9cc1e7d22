// Binary searches in the packed memory array, by one lane each (GAMMA section IV-C: the intersection is a parallel
// binary search). Leaves first, by their fences, which lie densely; then inside one leaf. The fences of all leaves but the first that
// hold entries of a row are of that row.
#pragma once
#include "graph.cuh"
#include "plan.cuh"

// seek returns the first slot from at on, which holds an entry, whose row is not below the one given; or end.
FN u32 seek(const Graph& g, u32 at, u32 end, u64 row) {
    u32 lo = at / kLeaf, hi = (end - 1) / kLeaf;
    while (lo < hi) {
        u32 mid = (lo + hi + 1) / 2;
        if (g.fenceRow[mid] < row)
            lo = mid;
        else
            hi = mid - 1;
    }
    u32 i = lo * kLeaf < at ? at : lo * kLeaf;
    u32 stop = leafEnd(g, lo, end), j = stop;
    while (i < j) {
        u32 mid = (i + j) / 2;
        if (g.row[mid] < row)
            i = mid + 1;
        else
            j = mid;
    }
    if (i == stop && stop < end) i = (lo + 1) * kLeaf;
    return i < end ? i : end;
}

// rangeOf returns N(v, dir, label).
FN Range rangeOf(const Graph& g, u32 v, u32 dir, u32 label) {
    Span s = g.span[v * g.dirs + dir];
    if (s.begin == s.end || label < s.first || label > s.last) return Range{0, 0};
    if (s.first == s.last) return Range{s.begin, s.end};
    u64 row = rowOf(v, dir, label);
    u32 begin = s.first == label ? s.begin : seek(g, s.begin, s.end, row);
    u32 end = s.last == label || begin == s.end ? s.end : seek(g, begin, s.end, row + 1);
    return Range{begin, end};
}

// labelled returns the slots of one label, or of all labels in one direction.
FN Range labelled(const Graph& g, u32 v, u32 dir, u32 label) {
    if (label != kAnyLabel) return rangeOf(g, v, dir, label);
    Span s = g.span[v * g.dirs + dir];
    return Range{s.begin, s.end};
}

// reach returns the slots among which are those that a vertex offers to a back edge. Loose ones may have others between them, of other
// labels.
FN Range reach(const Graph& g, u32 v, u32 dir, u32 label) {
    if (dir != kEither) return labelled(g, v, dir, label);
    Range out = labelled(g, v, 0, label), in = labelled(g, v, 1, label); // lie together, in this order
    if (out.begin == out.end) return in;
    return Range{out.begin, in.begin == in.end ? out.end : in.end};
}

// slotOf returns the slot of neighbour w in a range of one row, or kNone.
FN u32 slotOf(const Graph& g, Range r, u32 w) {
    if (r.begin == r.end) return kNone;
    u32 lo = r.begin / kLeaf, hi = (r.end - 1) / kLeaf;
    while (lo < hi) {
        u32 mid = (lo + hi + 1) / 2;
        if (g.fenceNbr[mid] <= w)
            lo = mid;
        else
            hi = mid - 1;
    }
    u32 i = lo * kLeaf < r.begin ? r.begin : lo * kLeaf;
    u32 end = leafEnd(g, lo, r.end), j = end;
    while (i < j) {
        u32 mid = (i + j) / 2;
        if (g.nbr[mid] < w)
            i = mid + 1;
        else
            j = mid;
    }
    return i < end && g.nbr[i] == w ? i : kNone;
}

// find returns the entry of neighbour w in a range of one row, or kNone.
FN u32 find(const Graph& g, Range r, u32 w) {
    u32 slot = slotOf(g, r, w);
    return slot == kNone ? kNone : g.ent[slot];
}

// nextImage returns the first slot from at on, before end, whose entry has the label and neighbour w; or end. The slots are of one
// vertex. It goes from row to row.
FN u32 nextImage(const Graph& g, u32 at, u32 end, u32 label, u32 w) {
    while (at < end) {
        if (at % kLeaf >= g.count[at / kLeaf]) { // a gap
            at = (at / kLeaf + 1) * kLeaf;
            continue;
        }
        u64 row = g.row[at];
        if (label != kAnyLabel && labelOfRow(row) != label) {
            u64 next = row - labelOfRow(row) + label; // of this direction
            at = seek(g, at, end, next > row ? next : next + kDirection);
            continue;
        }
        u32 after = seek(g, at, end, row + 1);
        u32 slot = slotOf(g, Range{at, after}, w);
        if (slot != kNone) return slot;
        at = after;
    }
    return end;
}
