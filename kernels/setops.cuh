// Gen_candidates of GAMMA's Algorithm 1, 32 slots at a time: the shortest of the neighbour ranges is streamed, the others
// are searched by every lane for its own candidate, ballots compact (DESIGN A7).
#pragma once
#include "state.cuh"

// openLevel prepares a level: it looks its ranges up, a lane each, and returns whether there is anything to read.
FN bool openLevel(const Params& p, State& s, const Program& q, u32 d) {
    const Step& st = q.step[d];
    u32 lane = laneId();
    u32 key = kNone;
    if (lane < st.backs) {
        const Back& b = q.back[st.back + lane];
        Range r = rangeOf(p.g, s.m[b.step], b.dir, b.label);
        s.range[st.back + lane] = r;
        u32 n = r.end - r.begin;
        key = (n < (1u << 27) - 1 ? n : (1u << 27) - 1) << 5 | lane;
    }
    key = warpMin(key);
    warpSync();
    if (key >> 5 == 0) return false;
    if (lane == 0) {
        u32 best = st.back + (key & 31);
        s.frame[d] = Frame{s.range[best].begin, s.range[best].end, 0, best};
        fenceBlock();
        s.depth = d;
    }
    warpSync();
    return true;
}

// candidates returns, in a ballot, which of the 32 slots up to the next multiple of 32 hold vertices that step d can be
// mapped to; w is the lane's. It counts the vertices looked at.
FN u32 candidates(const Params& p, const State& s, const Program& q, const Step& st, u32 from, u32 end, u32 best, u32& w, u64& steps) {
    u32 slot = (from & ~(kWarp - 1)) + laneId();
    bool ok = slot >= from && slot < end && slot % kLeaf < p.g.count[slot / kLeaf];
    steps += popcount(vote(ok));
    if (ok) {
        w = p.g.nbr[slot];
        ok = candidate(p.g, st, w) && fits(s, st, w) && visible(p, s, p.g.ent[slot], q.back[best].rule);
    }
    for (u32 k = st.back; k < st.back + st.backs; k++) {
        if (k == best) continue;
        if (ok) {
            u32 e = find(p.g, s.range[k], w);
            ok = e != kNone && visible(p, s, e, q.back[k].rule);
        }
    }
    warpSync();
    return vote(ok);
}

// offers returns how many vertices a vertex v offers to a leaf's step, whatever else is mapped.
FN u32 offers(const Params& p, const State& s, const Program& q, const Step& st, u32 v, u64& steps) {
    const Back& b = q.back[st.back];
    Range r = rangeOf(p.g, v, b.dir, b.label);
    u32 n = 0;
    for (u32 at = r.begin & ~(kWarp - 1); at < r.end; at += kWarp) {
        u32 slot = at + laneId();
        bool ok = slot >= r.begin && slot < r.end && slot % kLeaf < p.g.count[slot / kLeaf];
        steps += popcount(vote(ok));
        if (ok) n += candidate(p.g, st, p.g.nbr[slot]) && visible(p, s, p.g.ent[slot], b.rule);
    }
    return warpSum(n);
}
