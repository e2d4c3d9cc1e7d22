// The last two steps of rows together (unrolling, STMatch section 4). Each lane has a candidate of the last step but
// one. The lists of these 32 candidates for the last step are read as one list, 32 slots at a time, so that all lanes
// are busy even if each list is short.
#pragma once
#include "emit.cuh"

// kFlatBacks is the maximum number of back edges of either step. Not tuned; each takes 384 bytes of shared memory of a
// warp (Flat).
constexpr u32 kFlatBacks = 3;
LAYOUT_flat
constexpr u32 kFlatStride = 32;  // maximum words of a row: one for each lane
// kFlatSlots is the maximum length of a candidate's list. A longer list becomes a level of its own, from which other
// warps can steal. The tests have both. With 64, 256 and 1,024 the rows of a tree were found at 1,700, 1,896 and 1,860
// M/s (docs/notebook/2026-11-gpu.md, Rows).
#if defined(MOTIFD_EMULATE)
constexpr u32 kFlatSlots = 24;
#else
constexpr u32 kFlatSlots = 256;
#endif

// Flat is the shared memory of a warp for this. All arrays are by lane, except row, which emitRows uses too.
struct Flat {
    u32 w[kWarp];                    // candidate
    u32 start[kWarp];                // where its list begins in the list of all lanes
    u32 best[kWarp];                 // back edge of its list
    u32 image[kFlatBacks][kWarp];    // images of its own back edges
    Range range[kFlatBacks][kWarp];  // ranges of the back edges of the last step
    u32 row[kFlatStride];            // the columns that all rows have in common
};

// RowBuffers is the shared memory, besides the state, of a warp that finds rows.
struct RowBuffers {
    Flat flat;
    Out out;
};

// common sets row to the columns that are mapped before step d, which all rows from there on have in common.
FN void common(const State& s, const Program& q, Flat& f, u32 d) {
    u32 lane = laneId(), back = q.step[d].back;
    f.row[lane] = 0;
    warpSync();
    if (lane == 0) f.row[0] = s.group;
    for (u32 i = lane; i < d; i += kWarp)
        if (q.step[i].vertex != kNone) f.row[1 + q.step[i].vertex] = s.m[q.step[i].position];
    u32* edges = f.row + 1 + q.vertices;
    if (lane == 0 && q.anchor != kNone) edges[q.anchor] = s.edge[kAnchorAt];
    for (u32 k = lane; k < back; k += kWarp) edges[q.back[k].edge] = s.edge[k];
    warpSync();
}

// spread writes the common columns of n rows, one column per lane.
FN void spread(const Output& output, const Flat& f, u32* rows, u32 n) {
    u32 lane = laneId(), x = f.row[lane];
    if (lane < output.stride)
        for (u32 i = 0; i < n; i++) rows[i * output.stride + lane] = x;
    warpSync();
}

// emitRows is emit for rows that are sorted and at most kFlatStride words wide.
FN void emitRows(const Search& p, const State& s, const Program& q, Flat& f, Out& o, u32 d, u32 mask, u32 w, u32 slot,
    u32 streamed, Work& work) {
    const Step& st = q.step[d];
    u32 n = popcount(mask), each = 1 + q.images;
    common(s, q, f, d);
    u32* rows = keep(p, o, work, n * each);
    spread(p.output, f, rows, n * each);
    if (mask >> laneId() & 1) {
        u32 *row = rows + popcount(mask & lanesBelow()) * each * p.output.stride, *edges = row + 1 + q.vertices;
        if (st.vertex != kNone) row[1 + st.vertex] = w;
        for (u32 k = st.back; k < st.back + st.own; k++)
            edges[q.back[k].edge] = imageOf(p.graph, s, q, st, k, slot, streamed);
        if (each > 1) putImages(p, s, q, row);
    }
    warpSync();
}

// flatten makes one list of the lists of the lanes in mask, whose candidates for step d are in their slots, and returns
// its length. Lanes whose list is too long stay in mask.
FN u32 flatten(const Graph& g, const State& s, const Program& q, Flat& f, u32 d, u32& mask, u32 slot, u32 streamed) {
    const Step &st = q.step[d], &last = q.step[d + 1];
    u32 lane = laneId(), n = 0, w = 0;
    bool mine = mask >> lane & 1;
    if (mine) {
        Lists l = alongOf(g, s, q.back[streamed]);
        w = nbrAt(l, slot);
        n = kNone;
        for (u32 k = 0; k < last.backs; k++) {
            const Back& b = q.back[last.back + k];
            Range r = rangeOf(g, b.from == st.position ? w : s.m[b.from], b.dir, b.label, b.nbrLabel);
            f.range[k][lane] = r;
            if (r.end - r.begin >= n) continue;
            n = r.end - r.begin;
            f.best[lane] = k;
        }
        f.w[lane] = w;
        if (n != 0 && n <= kFlatSlots) {
            for (u32 k = 0; k < st.backs; k++) {
                u32 b = st.back + k;
                u32 e = b == streamed ? entAt(l, slot) : find(alongOf(g, s, q.back[b]), s.range[b], w, q.back[b]);
                f.image[k][lane] = e & ~kStaged;
            }
        }
    }
    mask = vote(mine && n > kFlatSlots);
    if (mask >> lane & 1) n = 0;
    common(s, q, f, d);
    u32 total;
    f.start[lane] = sumBefore(n, total);
    warpSync();
    return total;
}

// extendTwo writes the rows of the matches that extend the candidates in mask for step d, except those of the first
// skip chunks of the list. It returns the candidates that it has left, because their lists are too long. If the row
// buffer is full before the list ends, it stops and sets skip to the number of chunks that are done, else to 0.
FN u32 extendTwo(const Search& p, const State& s, const Program& q, Flat& f, Out& o, u32 d, u32 mask, u32 slot,
    u32 streamed, Work& work, u32& skip) {
    u32 total = flatten(p.graph, s, q, f, d, mask, slot, streamed), lane = laneId(), each = 1 + q.images;
    const Step &st = q.step[d], &last = q.step[d + 1];
    u32 t = skip * kWarp + lane;
    skip = 0;
    for (; t - lane < total; t += kWarp) {
        u32 of = 0, x = 0, entry = 0, found[kFlatBacks];
        for (u32 k = kWarp / 2; k > 0; k /= 2)
            if (f.start[of + k] <= t) of += k;
        bool hit = t < total;
        u32 best = hit ? f.best[of] : 0, at = hit ? f.range[best][of].begin + t - f.start[of] : 0;
        auto parent = [&](u32 k) {  // of the last step, along its back edge k
            u32 from = hit ? q.back[last.back + k].from : 0;
            return from == st.position ? f.w[of] : s.m[from];
        };
        Lists l = listsOf(p.graph, parent(best));
        hit = hit && holdsEntry(l, at);
        work.steps += popcount(vote(hit));
        if (hit) {
            x = nbrAt(l, at);
            entry = entAt(l, at);
            auto image = [&](u32 position) { return position == st.position ? f.w[of] : s.m[position]; };
            hit = admitsAlong(p.graph, s.net, last, q.back[last.back + best], x, entry, image);
        }
#pragma unroll
        for (u32 k = 0; k < kFlatBacks; k++) {
            if (!hit || k >= last.backs) continue;
            u32 v = parent(k);
            found[k] = k == best ? entry : kNone;
            if (k != best && mayJoin(p.graph, v, x))
                found[k] = find(listsOf(p.graph, v), f.range[k][of], x, q.back[last.back + k]);
            hit = found[k] != kNone && (k == best || admitsEdge(p.graph, s.net, q.back[last.back + k], found[k]));
        }
        if (hit) {
            hit = holds(p.graph, q, d + 1, [&](u32 k) {
                if (k < st.back || k == kAnchorAt) return s.edge[k];
                u32 e = k < last.back ? f.image[k - st.back][of] : 0;
#pragma unroll
                for (u32 i = 0; i < kFlatBacks; i++)
                    if (k == last.back + i) e = found[i] & ~kStaged;
                return e;
            }, [&](u32 position) {
                return position == st.position ? f.w[of] : position == last.position ? x : s.m[position];
            });
        }
        u32 hits = vote(hit);
        work.turns++;
        if (hits == 0) continue;
        u32* rows = keep(p, o, work, popcount(hits) * each);
        spread(p.output, f, rows, popcount(hits) * each);
        if (hit) {
            u32* row = rows + popcount(hits & lanesBelow()) * each * p.output.stride;
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
        if (work.turns >= p.queue.slice && t - lane + kWarp < total) {
            skip = t / kWarp + 1;
            break;
        }
    }
    warpSync();
    return mask;
}
