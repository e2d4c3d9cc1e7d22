// Search of a cache: a graph of which the device holds the entries of some vertices alone (DESIGN A25; PBE and SGSI
// divide graphs in host memory, and extend partial matches where their partition is). A vertex is looked up when a step
// binds it, if later steps read from it. If it is absent, the partial match is written to a ring in device memory as a
// record, and the search goes on with the next candidate. So no search waits for an entry, and frames of the stack
// never point to what is not there: the host evicts nothing while a warp is parked. When nothing is left to do, the
// host loads vertices and has the records extended: each takes the place of a task. A partial match is extended or
// deferred once.
//
// A record is: program, net edge (or root), group, and the step to go on with; the vertices by position; the images of
// back edges, if they are kept. The ring has spare records after its capacity. As for rows, a warp that reserves some
// of these makes no further turn in the launch and parks.
#pragma once
#include "emit.cuh"

constexpr u32 kRecordHead = 4;  // words of a record before its vertices
LAYOUT_defer

// reserveRecords reserves n records of the ring.
FN u32* reserveRecords(const Search& p, Work& work, u32 n) {
    u32 at = broadcast(laneId() == 0 ? add(&p.queue.control->deferred, n) : 0);
    if (at + n > p.deferred.capacity) work.turns = p.queue.slice;
    return p.deferred.record + (u64)at * p.deferred.stride;
}

// putRecord writes the partial match of s with the vertices before a position, to go on with step next.
FN u32* putRecord(u32* r, const State& s, u32 position, u32 next) {
    r[0] = s.program;
    r[1] = s.net;
    r[2] = s.group;
    r[3] = next;
    for (u32 i = 0; i < position; i++) r[kRecordHead + i] = s.m[i];
    return r + kRecordHead;
}

// deferStart writes a record of a task whose first vertices are not all there, and reports whether it has.
FN bool deferStart(const Search& p, const State& s, const Program& q, Work& work) {
    u32 lane = laneId();
    work.looked += popcount(q.reads & ((1u << q.start) - 1));
    bool away = lane < q.start && (q.reads >> lane & 1) && p.graph.frame[s.m[lane]] == 0;
    if (vote(away) == 0) return false;
    u32* r = reserveRecords(p, work, 1);
    if (lane == 0) putRecord(r, s, q.start, q.start);
    warpSync();
    return true;
}

// resident returns the lanes in mask whose vertex w, in their slot a candidate of step d, is there, and writes records
// of the others.
FN u32 resident(const Search& p, const State& s, const Program& q, u32 d, u32 mask, u32 w, u32 slot, u32 streamed,
    Work& work) {
    const Step& st = q.step[d];
    bool mine = mask >> laneId() & 1;
    work.looked += popcount(mask);
    u32 away = vote(mine && p.graph.frame[w] == 0);
    if (away == 0) return mask;
    u32* all = reserveRecords(p, work, popcount(away));
    if (away >> laneId() & 1) {
        u32* m = putRecord(all + popcount(away & lanesBelow()) * p.deferred.stride, s, st.position, d + 1);
        m[st.position] = w;
        u32* edges = m + q.vertices;
        for (u32 k = 0; q.keep != 0 && k < st.back; k++) edges[k] = s.edge[k];
        for (u32 k = st.back; q.keep != 0 && k < st.back + st.own; k++)
            edges[k] = imageOf(p.graph, s, q, st, k, slot, streamed);
    }
    warpSync();
    return mask & ~away;
}

// takeRecord makes s the partial match of a record, which start goes on with. No warp steals from s yet.
FN void takeRecord(const Search& p, State& s, u32 i) {
    u32 lane = laneId();
    const u32* r = p.deferred.again + (u64)i * p.deferred.stride;
    const Program& q = p.programs.program[r[0]];
    const Step& last = q.step[r[3] - 1];
    for (u32 k = lane; k < q.vertices; k += kWarp) s.m[k] = r[kRecordHead + k];  // later steps bind the rest
    for (u32 k = lane; q.keep != 0 && k < last.back + last.own; k += kWarp) s.edge[k] = r[kRecordHead + q.vertices + k];
    if (lane == 0) {
        s.program = r[0];
        s.net = r[1];
        s.group = r[2];
        s.floor = r[3];
        if (q.anchor != kNone) s.edge[kAnchorAt] = p.queue.net[r[1]].edge;
    }
    warpSync();
}

// extends reports whether a launch extends records.
FN bool extends(const Search& p) { return kCached && p.deferred.again != nullptr; }
