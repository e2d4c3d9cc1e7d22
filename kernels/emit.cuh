// Matches out: a piece of the ring for up to 32 of them, taken with one atomic addition. A piece is two words, the net edge
// and the request with the number of rows, and the rows: vertices in pattern order, then edges.
#pragma once
#include "state.cuh"

constexpr u32 kHeader = 3;

// emit writes the matches of the lanes in mask, whose last vertex, of step d, is w. It writes nothing and returns
// false when the ring is full.
FN bool emit(const Params& p, const State& s, const Program& q, u32 d, u32 mask, u32 w) {
    u32 n = popcount(mask), width = q.vertices + q.edges;
    if (q.mode == kAny) mask &= 0 - mask, n = 1;
    u32 words = kHeader + n * width, low = 0, high = 0, ok = 0;
    if (laneId() == 0) {
        u64 at = add(&p.control->used, (u64)words);
        ok = at + words <= p.ringWords;
        if (!ok) lower(&p.control->full, at);
        low = (u32)at;
        high = (u32)(at >> 32);
    }
    if (!broadcast(ok)) return false;
    u32* out = p.ring + ((u64)broadcast(high) << 32 | broadcast(low));
    if (laneId() == 0) {
        out[0] = s.net;
        out[1] = s.request;
        out[2] = n;
        if (q.mode == kAny) exchange(&p.stop[s.request], 1);
    }
    if (mask >> laneId() & 1) {
        u32* row = out + kHeader + popcount(mask & lanesBelow()) * width;
        for (u32 i = 0; i < q.steps; i++) row[q.step[i].vertex] = i == d ? w : s.m[i];
        row += q.vertices;
        for (u32 i = 0; i < q.edges; i++) row[i] = s.edge[i];
        const Step& st = q.step[d];
        for (u32 k = st.back; k < st.back + st.backs; k++)
            row[q.back[k].edge] = find(p.g, s.range[k], w) & ~kStaged;
    }
    warpSync();
    return true;
}
