// Output of matches: a warp reserves rows of the row buffer for up to 32 matches with one atomic addition. A row is the
// group of its task, then vertices and edges in pattern order, then zeros: all rows of a search have one length. The
// buffer has spare rows after its capacity. A warp that reserves some of these makes no further turn in the launch and
// parks, so that the spare rows suffice for one reservation of each warp.
#pragma once
#include "mail.cuh"
#include "setops.cuh"

// Work is the part of a warp's state that is in registers.
struct Work {
    u32 request;  // that found and steps are of
    u128 found;   // by this lane
    u64 steps;
    u32 turns, next;  // made, and when to look at boxes
    u32 kept;         // rows, in Out
    Look look;
};

// takeRows reserves n rows of the row buffer. If they exceed its capacity, this is the warp's last turn of the launch.
FN u32* takeRows(const Search& p, Work& work, u32 n) {
    u32 low = 0, high = 0, full = 0;
    if (laneId() == 0) {
        u64 at = add(&p.queue.control->used, (u64)n);
        full = at + n > p.output.capacity;
        low = (u32)at;
        high = (u32)(at >> 32);
    }
    if (broadcast(full)) work.turns = p.queue.slice;
    return p.output.buffer + ((u64)broadcast(high) << 32 | broadcast(low)) * p.output.stride;
}

// Out collects the rows of a warp in shared memory. When it is full, one atomic addition reserves room for all of them,
// and the lanes write them side by side. The rest is written at the end of the launch.
// Eight warps' rows, with what Flat has, fit the 48 KiB of shared memory that a block may have on every device.
constexpr u32 kOutWords = 512;
LAYOUT_emit

struct Out {
    u32 word[kOutWords];
};

// flush writes the rows in Out to the row buffer.
FN void flush(const Search& p, const Out& o, Work& work) {
    if (work.kept == 0) return;
    u32* rows = takeRows(p, work, work.kept);
    u32 n = work.kept * p.output.stride;
    work.kept = 0;
    for (u32 i = laneId(); i < n; i += kWarp) rows[i] = o.word[i];
    warpSync();
}

// keep returns the address for n further rows. The caller must synchronise the warp after writing them.
FN u32* keep(const Search& p, Out& o, Work& work, u32 n) {
    if (n * p.output.stride > kOutWords) return takeRows(p, work, n);
    if ((work.kept + n) * p.output.stride > kOutWords) flush(p, o, work);
    u32* rows = o.word + work.kept * p.output.stride;
    work.kept += n;
    return rows;
}

// putImages writes the images of a match, which are its row with the columns permuted, after its row.
FN void putImages(const Search& p, const State& s, const Program& q, u32* row) {
    const u32 *own = row + 1, *from = p.programs.image + q.image;
    u32 width = q.vertices + q.edges;
    for (u32 k = 0; k < q.images; k++, from += width) {
        row += p.output.stride;
        row[0] = s.group;
        for (u32 i = 0; i < width; i++) row[1 + i] = own[from[i]];
        for (u32 i = 1 + width; i < p.output.stride; i++) row[i] = 0;
    }
}

// emit writes the matches of the lanes in mask, whose last step d is mapped to vertex w in a slot of back edge
// streamed.
FN void emit(const Search& p, const State& s, const Program& q, u32 d, u32 mask, u32 w, u32 slot, u32 streamed,
    Work& work) {
    bool any = q.mode == kAny;
    if (any) mask &= 0 - mask;
    u32 each = any ? 1 : 1 + q.images;
    u32* out = takeRows(p, work, popcount(mask) * each);
    if (any && laneId() == 0) exchange(&p.output.stop[s.request], 1);
    if (mask >> laneId() & 1) {
        u32* own = out + popcount(mask & lanesBelow()) * each * p.output.stride;
        own[0] = s.group;
        u32 width = q.vertices + q.edges;
        for (u32 i = 1 + width; i < p.output.stride; i++) own[i] = 0;
        u32* row = own + 1;
        for (u32 i = 0; i < q.steps; i++) {
            const Step& st = q.step[i];
            if (st.vertex != kNone) row[st.vertex] = i == d ? w : s.m[st.position];
        }
        row += q.vertices;
        const Step& st = q.step[d];
        if (q.anchor != kNone) row[q.anchor] = s.edge[kAnchorAt];
        for (u32 k = 0; k < st.back; k++) row[q.back[k].edge] = s.edge[k];
        for (u32 k = st.back; k < st.back + st.own; k++)
            row[q.back[k].edge] = imageOf(p.graph, s, q, st, k, slot, streamed);
        if (each > 1) putImages(p, s, q, own);
    }
    warpSync();
}
