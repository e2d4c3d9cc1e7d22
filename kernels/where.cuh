// Conditions (DESIGN S17): those on one edge alone are in its truth words, which the host evaluates once for each edge
// (A13); those on values of several elements are tested by the step that maps the last of these (A15).
#pragma once
#include "plan.cuh"
#include "graph.cuh"

// meets reports whether an edge meets the conditions of a back edge on it alone.
FN bool meets(const Graph& g, const Back& b, u32 edge) {
    if (!kWhere || b.tests == 0) return true;
    const u64* words = g.where.words + (u64)edge * g.where.stride;
    for (u32 i = b.test; i < b.test + b.tests; i++) {
        const Interval& x = g.where.interval[i];
        if ((words[x.word] >> x.shift & x.mask) - x.lo > x.more) return false;
    }
    return true;
}

// Stack has the values that a condition computes: top, and those below it. Bit i of known says that the one i below the
// top is not null.
struct Stack {
    i64 top, second, third, fourth;
    u32 known;
};

// valueOf returns the value in a column of an element's words, whose presence bits and values begin at words of them;
// known is false if it has none.
FN i64 valueOf(const u64* words, u32 presence, u32 values, u32 column, bool& known) {
    known = words[presence + column / 64] >> column % 64 & 1;
    return (i64)words[values + column];
}

// push pushes a value.
FN void push(Stack& s, i64 value, bool known) {
    s.fourth = s.third;
    s.third = s.second;
    s.second = s.top;
    s.top = value;
    s.known = s.known << 1 | known;
}

// combine does an operation on the two values at the top.
FN void combine(Stack& s, const Instr& x) {
    i64 a = s.second, b = s.top, value = 0;
    bool hasA = s.known & 2, hasB = s.known & 1, known = hasA && hasB;
    s.second = s.third;
    s.third = s.fourth;
    s.known >>= 1;
    if (x.op == kAnd || x.op == kOr) {
        i64 decides = x.op == kOr;  // whatever the other one is
        bool decided = (hasA && a == decides) || (hasB && b == decides);
        known = known || decided;
        value = decided ? decides : !decides;
    } else if (x.op == kNear) {
        value = (a < b ? (u64)b - (u64)a : (u64)a - (u64)b) <= (u64)x.left;
    } else {
        i128 result = x.op == kProduct ? (i128)a * b : (i128)a * x.left + (i128)b * x.right;
        value = (i64)result;
        if (x.op == kCompare)
            value = x.at >> (result < 0 ? 0 : result == 0 ? 1 : 2) & 1;
        else
            known = known && result == value;
    }
    s.top = value;
    s.known = (s.known & ~1u) | known;
}

// evaluate reports whether the conditions in some instructions hold. image returns the image of a back edge, or of
// kAnchorAt, and vertex that of a position.
template <class Image, class Vertex>
FN bool evaluate(const Graph& g, Slice all, Image image, Vertex vertex) {
    const Where& w = g.where;
    Stack s = {0, 0, 0, 0, 0};
    for (u32 i = all.first; i < all.first + all.number; i++) {
        const Instr& x = w.instr[i];
        if (x.op <= kNull) {
            bool known = x.op == kNumber;
            i64 value = x.left;
            if (x.op == kEdgeValue)
                value = valueOf(w.words + (u64)image(x.at) * w.stride, w.presence, w.values, x.column, known);
            else if (x.op == kVertexValue)
                value = valueOf(
                    g.bits + (u64)vertex(x.at) * g.words, w.vertexPresence, w.vertexValues, x.column, known);
            push(s, value, known);
        } else if (x.op == kIsNull) {
            s.top = !(s.known & 1);
            s.known |= 1;
        } else if (x.op != kHolds) {
            combine(s, x);
        } else if (!(s.known & 1) || s.top == 0) {
            return false;
        }
    }
    return true;
}
