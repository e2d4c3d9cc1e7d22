// What a step tests of the match so far beside its own vertex and edges: conditions on values of several elements
// (DESIGN S17), and negations of one edge (S25), of which it maps the last element.
#pragma once
#include "admission.cuh"

// present reports whether the view that is searched has the data edge of an entry: the graph before the batch or behind
// it, and not the one just before the anchor, which the match is found in.
FN bool present(const Graph& g, u32 entry) {
    if (!(entry & kStaged)) return true;
    u32 o = g.order[entry & ~kStaged];
    if (o & kReplaced) return true;  // either view has a version of it
    bool old = g.sees == kView ? g.old != 0 : g.sees == kRemoved;
    return ((o & kDeleted) != 0) == old;
}

// kMostBlockers is the number of slots in which an edge that blocks is looked for. A match for which they do not decide
// is written: the host tests it, too. The tests have shorter and longer lists.
#if defined(MOTIFD_EMULATE)
constexpr u32 kMostBlockers = 12;
#else
constexpr u32 kMostBlockers = 1024;
#endif

// blocked reports whether an edge of an instruction kAbsent blocks the match. The conditions on it are the instructions
// from first on.
template <class Image, class Vertex>
FN bool blocked(const Graph& g, const Instr& x, u32 first, Image image, Vertex vertex) {
    u32 w = x.column == kNone ? kNone : vertex(x.column), nbr = (u32)x.right;
    Back b = {0, 0, (u32)x.left, (u32)((u64)x.left >> 32), 0, 0, nbr, 0, 0};
    u32 v = vertex(x.at);
    Range r = reach(g, v, b);
    Lists l = listsOf(g, v);
    u32 looked = 0;
    for (u32 at = r.begin; at < r.end && looked < kMostBlockers; at++, looked++) {
        if (w != kNone) {
            at = nextImage(l, at, r.end, b.label, w);
            if (at >= r.end) break;
        } else if (!holdsEntry(l, at)) {
            at |= kLeaf - 1;  // a gap
            continue;
        } else if (!hasLabel(l, b, at) || (nbr != kAnyLabel && g.label[nbrAt(l, at)] != nbr)) {
            continue;
        }
        u32 entry = entAt(l, at);
        auto images = [&](u32 k) { return k == kBlockerAt ? entry & ~kStaged : image(k); };
        if (present(g, entry) && evaluate(g, Slice{first, x.more}, images, vertex)) return true;
    }
    return false;
}

// holds reports whether the conditions hold of which a step maps the last element, and no edge of such a negation
// blocks the match.
template <class Image, class Vertex>
FN bool holds(const Graph& g, const Program& q, u32 step, Image image, Vertex vertex) {
    if (!kWhere) return true;
    Slice all = q.check[step];
    if (!kDenies) return evaluate(g, all, image, vertex);
    u32 end = all.first + all.number, i = all.first;
    while (i < end && g.where.instr[i].op != kAbsent) i++;
    all.number = i - all.first;
    if (!evaluate(g, all, image, vertex)) return false;
    while (i < end) {
        const Instr& x = g.where.instr[i];
        if (blocked(g, x, i + 1, image, vertex)) return false;
        i += 1 + x.more;
    }
    return true;
}
