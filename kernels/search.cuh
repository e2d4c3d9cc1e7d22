// Binary searches in the packed memory array, by one lane each (GAMMA section IV-C: the intersection is a parallel
// binary search). Leaves first, by their first entries; then inside one leaf.
#pragma once
#include "graph.cuh"

// lowerBound returns the first slot in the span, which is not empty, with a label of at least l; or an end.
FN u32 lowerBound(const Graph& g, const Span& s, u32 l) {
    u32 lo = s.begin / kLeaf, hi = (s.end - 1) / kLeaf;
    while (lo < hi) {
        u32 mid = (lo + hi + 1) / 2;
        if (labelOfRow(g.row[mid * kLeaf]) < l)
            lo = mid;
        else
            hi = mid - 1;
    }
    u32 i = lo * kLeaf < s.begin ? s.begin : lo * kLeaf;
    u32 end = leafEnd(g, lo, s.end), j = end;
    while (i < j) {
        u32 mid = (i + j) / 2;
        if (labelOfRow(g.row[mid]) < l)
            i = mid + 1;
        else
            j = mid;
    }
    if (i == end && end < s.end) i = (lo + 1) * kLeaf;
    return i < s.end ? i : s.end;
}

// rangeOf returns N(v, dir, label).
FN Range rangeOf(const Graph& g, u32 v, u32 dir, u32 label) {
    Span s = g.span[v * g.dirs + dir];
    if (s.begin == s.end || label < s.first || label > s.last) return Range{0, 0};
    if (s.first == s.last) return Range{s.begin, s.end};
    u32 begin = s.first == label ? s.begin : lowerBound(g, s, label);
    u32 end = s.last == label ? s.end : lowerBound(g, s, label + 1);
    return Range{begin, end > begin ? end : begin};
}

// find returns the entry of neighbour w in a range, or kNone.
FN u32 find(const Graph& g, Range r, u32 w) {
    if (r.begin == r.end) return kNone;
    u32 lo = r.begin / kLeaf, hi = (r.end - 1) / kLeaf;
    while (lo < hi) {
        u32 mid = (lo + hi + 1) / 2;
        if (g.nbr[mid * kLeaf] <= w)
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
    return i < end && g.nbr[i] == w ? g.ent[i] : kNone;
}
