// The search of one warp (GAMMA Algorithm 1): a depth-first extension of a partial match, level by level.
#pragma once
#include "count.cuh"
#include "emit.cuh"
#include "setops.cuh"
#include "steal.cuh"

// shareEvery is the number of turns between looks at other blocks.
constexpr u32 kShareEvery = 32;

// Work is what a warp carries in registers.
struct Work {
    u32 request;  // that found and steps are of
    u128 found;   // by this lane
    u64 steps;
    u32 turns;
};

enum Outcome : u32 { kDone = 0, kFull = 1 };

// leaves multiplies the numbers of ways to map the leaves: alike ones take from the same vertices, others cannot meet. Every
// active lane does so for its own vertex w of step d. What a vertex offers is counted by all lanes and kept; that some of
// it is taken by vertices mapped before is put right for each match.
FN u128 leaves(const Params& p, const State& s, const Program& q, u32 d, u32 w, bool active, Work& work) {
    u128 total = active ? 1 : 0;
    for (u32 i = 0; i < q.groups; i++) {
        const Leaf& l = q.leaf[i];
        const Step& st = q.step[l.step];
        const Back& b = q.back[st.back];
        bool wanted = total != 0;
        u32 v = wanted ? b.step == d ? w : s.m[b.step] : 0, n = 0;
        u64 place = (u64)p.column[l.column] * p.vertices + v;
        if (wanted && p.memo != nullptr) n = peek(p.memo + place);
        for (u32 todo = vote(wanted && n == 0); todo != 0;) {
            u32 lane = lowestBit(todo), x = shuffle(v, lane);
            u32 c = offers(p, s, q, st, x, work.steps) + 1;
            if (p.memo != nullptr && laneId() == lane) post(p.memo + place, c);
            if (v == x) n = c;
            todo &= ~vote(v == x);
        }
        if (wanted) {
            n--;
            Range r = n > 0 && st.clash != 0 ? rangeOf(p.g, v, b.dir, b.label) : Range{0, 0};
            for (u32 k = st.clash; r.begin < r.end && k != 0; k &= k - 1) {
                u32 taken = lowestBit(k) == d ? w : s.m[lowestBit(k)];
                if (!candidate(p.g, st, taken)) continue;
                u32 e = find(p.g, r, taken);
                n -= e != kNone && visible(p, s, e, b.rule);
            }
            if (n < l.size) total = 0;
            for (u32 k = 0; total != 0 && k < l.size; k++) total = times(total, n - k);
        }
        warpSync();
    }
    return total;
}

// finish ends the warp's part of a task.
FN void finish(State& s) {
    lockWarp(&s.lock);
    if (laneId() == 0) s.live = kIdle;
    unlockWarp(&s.lock);
}

// start maps the first steps by the task and looks what is next. The vertices have been tested.
FN Outcome start(const Params& p, State& s, const Program& q, Work& work) {
    if (laneId() == 0) {
        if (q.anchor == kNone) {
            s.m[0] = s.net;
        } else {
            Net n = p.net[s.net];
            s.m[0] = n.from;
            s.m[1] = n.to;
            s.edge[q.anchor] = n.edge;
        }
        s.floor = s.depth = q.start;
    }
    warpSync();
    work.steps++;
    if (q.mode == kCount && q.start == q.leaves) {
        work.found = plus(work.found, leaves(p, s, q, kNone, 0, laneId() == 0, work));
        return kDone;
    }
    if (q.start == q.steps) {
        if (q.mode == kCount)
            work.found = plus(work.found, laneId() == 0);
        else if (!emit(p, s, q, q.steps - 1, 1, s.m[q.steps - 1]))
            return kFull;
        return kDone;
    }
    if (openLevel(p, s, q, q.start) && laneId() == 0) {
        fenceBlock();
        post(&s.live, kRunning);
    }
    warpSync();
    return kDone;
}

// descend maps step d to w and opens the next level.
FN void descend(const Params& p, State& s, const Program& q, u32 d, u32 w) {
    const Step& st = q.step[d];
    if (laneId() == 0) s.m[d] = w;
    if (q.mode != kCount && laneId() < st.backs) {
        u32 k = st.back + laneId();
        s.edge[q.back[k].edge] = find(p.g, s.range[k], w) & ~kStaged;
    }
    warpSync();
    openLevel(p, s, q, d + 1);
}

// extend searches on from what is in s until nothing is left of it, or until there is no room for output or the warp has made
// its turns of this launch.
FN Outcome extend(const Params& p, State& s, const Program& q, Work& work) {
    while (true) {
        if (++work.turns > p.slice) return kFull;
        if (p.queueSize != 0 && work.turns % kShareEvery == 0) share(p, s);
        if (q.mode == kAny && peekWarp(&p.stop[s.request]) != 0) {
            finish(s);
            return kDone;
        }
        lockWarp(&s.lock);
        u32 d = s.depth;
        Frame f = s.frame[d];
        while (f.mask == 0 && f.next >= f.end && d > s.floor) f = s.frame[--d];
        bool read = f.mask == 0, done = read && f.next >= f.end;
        warpSync();
        if (laneId() == 0) {
            s.depth = d;
            if (done)
                s.live = kIdle;
            else if (read)
                s.frame[d].next = (f.next & ~(kWarp - 1)) + kWarp;
            else
                s.frame[d].mask = f.mask & (f.mask - 1);
        }
        unlockWarp(&s.lock);
        if (done) return kDone;
        if (!read) {
            descend(p, s, q, d, p.g.nbr[f.next - kWarp + lowestBit(f.mask)]);
            continue;
        }
        u32 w = 0;
        u32 mask = candidates(p, s, q, q.step[d], f.next, f.end, f.best, w, work.steps);
        if (mask == 0) continue;
        bool mine = mask >> laneId() & 1;
        if (q.mode == kCount && d + 1 == q.leaves) {
            // leaves is steps when there are none: then each candidate is a match.
            work.found = plus(work.found, q.groups > 0 ? leaves(p, s, q, d, w, mine, work) : mine);
        } else if (d + 1 < q.steps) {
            if (laneId() == 0) post(&s.frame[d].mask, mask);
            warpSync();
        } else if (!emit(p, s, q, d, mask, w)) {
            lockWarp(&s.lock);
            if (laneId() == 0) s.frame[d].next = f.next;  // this piece again
            unlockWarp(&s.lock);
            return kFull;
        }
    }
}
