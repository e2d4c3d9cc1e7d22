// The last two steps at once (unrolling, STMatch section 4): each lane has a vertex that the last but one can be
// mapped to; what these offer to the last step is walked as one list, 32 slots at a time, so that lanes are busy
// where each vertex offers little.
#pragma once
#include "emit.cuh"

constexpr u32 kFlatBacks = 3;    // of either step, at most
constexpr u32 kFlatStride = 32;  // words of a row, at most
// kFlatSlots is what a vertex offers at most: longer lists are levels of their own, which can be stolen from. Tests
// meet both.
#if defined(MOTIFD_EMULATE)
constexpr u32 kFlatSlots = 24;
#else
constexpr u32 kFlatSlots = 256;
#endif

// Flat is what a warp keeps meanwhile; all but the row is by lane, of its vertex. The row serves levels of their own,
// too.
struct Flat {
    u32 w[kWarp], start[kWarp], best[kWarp];  // where its slots begin in the list, and of which back edge they are
    u32 image[kFlatBacks][kWarp];             // of its own back edges
    Range range[kFlatBacks][kWarp];           // of those of the last step
    u32 row[kFlatStride];                     // what all rows have
};

// RowBuffers is what a warp that gives rows has beside its state.
struct RowBuffers {
    Flat flat;
    Out out;
};

// common notes what is mapped before step d: what all rows that follow from it have.
FN void common(const Params& p, const State& s, const Program& q, Flat& f, u32 d) {
    u32 lane = laneId(), back = q.step[d].back;
    f.row[lane] = 0;
    warpSync();
    if (lane == 0) f.row[0] = s.group;
    for (u32 i = lane; i < d; i += kWarp)
        if (q.step[i].vertex != kNone) f.row[1 + q.step[i].vertex] = s.m[q.step[i].place];
    u32* edges = f.row + 1 + q.vertices;
    if (lane == 0 && q.anchor != kNone) edges[q.anchor] = s.edge[kAnchorAt];
    for (u32 k = lane; k < back; k += kWarp) edges[q.back[k].edge] = s.edge[k];
    warpSync();
}

// spread writes what n rows have in common, a lane a column.
FN void spread(const Params& p, const Flat& f, u32* rows, u32 n) {
    u32 lane = laneId(), x = f.row[lane];
    if (lane < p.stride)
        for (u32 i = 0; i < n; i++) rows[i * p.stride + lane] = x;
    warpSync();
}

// emitRows is emit for what is to be put in order, in rows that are not too wide.
FN void emitRows(const Params& p, const State& s, const Program& q, Flat& f, Out& o, u32 d, u32 mask, u32 w, u32 slot,
    u32 streamed, Work& work) {
    const Step& st = q.step[d];
    u32 n = popcount(mask), each = 1 + q.images;
    common(p, s, q, f, d);
    u32* rows = keep(p, o, work, n * each);
    spread(p, f, rows, n * each);
    if (mask >> laneId() & 1) {
        u32 *row = rows + popcount(mask & lanesBelow()) * each * p.stride, *edges = row + 1 + q.vertices;
        if (st.vertex != kNone) row[1 + st.vertex] = w;
        for (u32 k = st.back; k < st.back + st.own; k++)
            edges[q.back[k].edge] = imageOf(p, s, q, st, k, slot, streamed);
        if (each > 1) putImages(p, s, q, row);
    }
    warpSync();
}

// flatten prepares a list for the lanes in mask, whose candidates for step d are in their slots, and returns its
// length. Lanes whose part would be too long are left in mask.
FN u32 flatten(const Params& p, const State& s, const Program& q, Flat& f, u32 d, u32& mask, u32 slot, u32 streamed) {
    const Step &st = q.step[d], &last = q.step[d + 1];
    u32 lane = laneId(), n = 0, w = 0;
    bool mine = mask >> lane & 1;
    if (mine) {
        w = p.g.nbr[slot];
        n = kNone;
        for (u32 k = 0; k < last.backs; k++) {
            const Back& b = q.back[last.back + k];
            Range r = rangeOf(p.g, b.from == st.place ? w : s.m[b.from], b.dir, b.label, b.near);
            f.range[k][lane] = r;
            if (r.end - r.begin >= n) continue;
            n = r.end - r.begin;
            f.best[lane] = k;
        }
        f.w[lane] = w;
        if (n != 0 && n <= kFlatSlots) {
            for (u32 k = 0; k < st.backs; k++) {
                u32 b = st.back + k;
                f.image[k][lane] = (b == streamed ? p.g.ent[slot] : find(p.g, s.range[b], w, q.back[b])) & ~kStaged;
            }
        }
    }
    mask = vote(mine && n > kFlatSlots);
    if (mask >> lane & 1) n = 0;
    common(p, s, q, f, d);
    u32 total;
    f.start[lane] = sumBefore(n, total);
    warpSync();
    return total;
}

// extendTwo puts out the matches that the candidates in mask for step d lead to, but for those of the first skip
// pieces of the list. It returns which candidates it left, for being too long. When the ring is full before the list
// ends, it stops and skip is the number of pieces that are done, else 0.
FN u32 extendTwo(const Params& p, const State& s, const Program& q, Flat& f, Out& o, u32 d, u32 mask, u32 slot,
    u32 streamed, Work& work, u32& skip) {
    u32 total = flatten(p, s, q, f, d, mask, slot, streamed), lane = laneId(), each = 1 + q.images;
    const Step &st = q.step[d], &last = q.step[d + 1];
    u32 t = skip * kWarp + lane;
    skip = 0;
    for (; t - lane < total; t += kWarp) {
        u32 of = 0, x = 0, entry = 0, found[kFlatBacks];
        for (u32 k = kWarp / 2; k > 0; k /= 2)
            if (f.start[of + k] <= t) of += k;
        bool hit = t < total;
        u32 best = hit ? f.best[of] : 0, at = hit ? f.range[best][of].begin + t - f.start[of] : 0;
        hit = hit && at % kLeaf < p.g.count[at / kLeaf];
        work.steps += popcount(vote(hit));
        if (hit) {
            x = p.g.nbr[at];
            entry = p.g.ent[at];
            auto image = [&](u32 place) { return place == st.place ? f.w[of] : s.m[place]; };
            hit = admitsAlong(p, s.net, last, x, entry, q.back[last.back + best].rule, image);
        }
#pragma unroll
        for (u32 k = 0; k < kFlatBacks; k++) {
            if (!hit || k >= last.backs) continue;
            found[k] = k == best ? entry : find(p.g, f.range[k][of], x, q.back[last.back + k]);
            hit = found[k] != kNone && (k == best || admitsEdge(p, s.net, found[k], q.back[last.back + k].rule));
        }
        u32 hits = vote(hit);
        work.turns++;
        if (hits == 0) continue;
        u32* rows = keep(p, o, work, popcount(hits) * each);
        spread(p, f, rows, popcount(hits) * each);
        if (hit) {
            u32* row = rows + popcount(hits & lanesBelow()) * each * p.stride;
            row[1 + st.vertex] = f.w[of];
            row[1 + last.vertex] = x;
            u32* edges = row + 1 + q.vertices;
            for (u32 k = 0; k < st.backs; k++) edges[q.back[st.back + k].edge] = f.image[k][of];
#pragma unroll
            for (u32 k = 0; k < kFlatBacks; k++)
                if (k < last.backs) edges[q.back[last.back + k].edge] = found[k] & ~kStaged;
            if (each > 1) putImages(p, s, q, row);
        }
        warpSync();
        if (work.turns >= p.slice && t - lane + kWarp < total) {
            skip = t / kWarp + 1;
            break;
        }
    }
    warpSync();
    return mask;
}
