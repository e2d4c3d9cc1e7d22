// Admission: whether a data vertex or a data edge may extend a partial match. All kernels decide it here, so that a
// further condition is added once:
//
//   - passes: conditions on a vertex alone (label and neighbourhood; a vertex predicate).
//   - admits: these, and conditions between a vertex and the images of earlier steps (injectivity, symmetry).
//   - admitsEdge: conditions on an edge alone (whether the search sees it, its truth words); admitsSlot: these, and its
//     label.
//   - admitsImage: conditions between the image of an edge and the images of others (parallel edges, symmetry).
//   - holds (holds.cuh): conditions on values of the images of several elements, and negations of one edge.
#pragma once
#include "state.cuh"
#include "where.cuh"

// passes reports whether w is a candidate of a step, without regard to the vertices that are mapped.
FN bool passes(const Graph& g, const Step& st, u32 w) { return (g.bits[(u64)w * g.words + st.word] & st.mask) != 0; }

// besideImages reports whether w differs from the images that conflict with a step, and is above or below those that
// symmetry constraints name. image returns the vertex that is mapped at a position.
template <class Image>
FN bool besideImages(const Step& st, u32 w, Image image) {
    for (u32 k = st.conflicts | st.above | st.below; k != 0; k &= k - 1) {
        u32 i = lowestBit(k), m = image(i);
        if ((m == w ? st.conflicts | st.above | st.below : m > w ? st.above : st.below) >> i & 1) return false;
    }
    return true;
}

// admits reports whether w may be the image of a step in the partial match.
template <class Image>
FN bool admits(const Graph& g, const Step& st, u32 w, Image image) {
    return passes(g, st, w) && besideImages(st, w, image);
}

// sees reports whether a search from a net edge sees the data edge of an entry as the image of a back edge with a rule.
FN bool sees(const Graph& g, u32 net, u32 entry, u32 rule) {
    if (!(entry & kStaged)) return true;
    if (rule == kUnchanged) return false;
    u32 o = g.order[entry & ~kStaged];
    bool deleted = o & kDeleted;
    if (kWhere && (o & kReplaced)) {  // both versions are staged, the old one just before the new one
        if (rule == kInView) return true;
        deleted = g.sees == kRemoved;
        o -= kReplaced + deleted;
    }
    u32 order = (o & ~kDeleted) - 1;
    if (rule == kInView) return deleted == (g.old != 0);
    if (deleted != (g.sees == kRemoved)) return false;
    return rule == kAnyEdge || (deleted ? order > net : order < net);
}

// admitsEdge reports whether the data edge of an entry may be the image of a back edge, in a search from a net edge.
FN bool admitsEdge(const Graph& g, u32 net, const Back& b, u32 entry) {
    return sees(g, net, entry, b.rule) && meets(g, b, entry & ~kStaged);
}

// admitsAlong reports whether w may be the image of a step, and the data edge of an entry the image of its back edge.
template <class Image>
FN bool admitsAlong(const Graph& g, u32 net, const Step& st, const Back& b, u32 w, u32 entry, Image image) {
    return passes(g, st, w) && admitsEdge(g, net, b, entry) && besideImages(st, w, image);
}

// hasLabel reports whether a slot in the range of a back edge has its label.
FN bool hasLabel(const Lists& l, const Back& b, u32 slot) {
    if (among(b.label)) {
        u32 label = edgeLabel(l.g, rowAt(l, slot));
        return nextLabel(l.g, b.label, label) == label;
    }
    return b.dir != kEither || b.label == kAnyLabel || edgeLabel(l.g, rowAt(l, slot)) == b.label;
}

// admitsSlot reports whether the data edge in a slot in the range of a back edge may be its image.
FN bool admitsSlot(const Lists& l, u32 net, const Back& b, u32 slot) {
    return hasLabel(l, b, slot) && admitsEdge(l.g, net, b, entAt(l, slot));
}

// rankOf returns the rank of a slot of vertex u among the edges that join u and w: by source, then label.
FN u32 rankOf(const Lists& l, u32 u, u32 w, u32 slot) {
    u64 row = rowAt(l, slot);
    return (dirOfRow(row) ^ (u > w)) << 31 | edgeLabel(l.g, row);
}

// rankOfEdge is the rank of an edge that joins two vertices.
FN u32 rankOfEdge(const Graph& g, u32 u, u32 w, u32 edge) {
    Range r = reach(g, u, Back{0, 0, kAnyLabel, g.dirs > 1 ? kEither : 0, 0, 0, kAnyLabel});
    Lists l = listsOf(g, u);
    u32 at = r.begin;
    while ((at = nextImage(l, at, r.end, kAnyLabel, w)) < r.end && (entAt(l, at) & ~kStaged) != edge) at++;
    return rankOf(l, u, w, at);
}

// admitsImage reports whether the entry in a slot may be the image of an edge step: it must differ from the images of
// parallel edges, and satisfy the symmetry constraints among edges.
FN bool admitsImage(const Lists& l, const State& s, const Step& st, const Back& b, u32 slot) {
    u32 e = entAt(l, slot) & ~kStaged;
    for (u64 k = st.apart; k != 0; k &= k - 1) {
        u32 low = (u32)k;
        if (s.edge[low != 0 ? lowestBit(low) : 32 + lowestBit((u32)(k >> 32))] == e) return false;
    }
    if (st.after == kNone && st.before == kNone) return true;
    u32 u = s.m[b.from], w = s.m[b.to], rank = rankOf(l, u, w, slot);
    return (st.after == kNone || rankOfEdge(l.g, u, w, s.edge[st.after]) < rank) &&
           (st.before == kNone || rankOfEdge(l.g, u, w, s.edge[st.before]) > rank);
}
