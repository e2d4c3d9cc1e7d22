// Work stealing between the warps of a block, through shared memory (GAMMA section V-A, active stealing).
#pragma once
#include "state.cuh"

// chunks returns how many chunks of 32 slots are left in a frame.
FN u32 chunks(const Frame& f) {
    return f.next < f.end ? (f.end - (f.next & ~(kWarp - 1)) + kWarp - 1) / kWarp : 0;
}

// copyPrefix copies the partial match below a level and the ranges of the level. The owner of s does not write these
// while it has work at the level.
FN void copyPrefix(const State& s, State& t, const Program& q, u32 level) {
    u32 lane = laneId();
    const Step& st = q.step[level];
    if (lane < st.position) t.m[lane] = s.m[lane];
    for (u32 k = lane; q.keep != 0 && k < st.back; k += kWarp) t.edge[k] = s.edge[k];
    for (u32 k = st.back + lane; st.vertex != kNone && k < st.back + st.backs; k += kWarp) t.range[k] = s.range[k];
    if (lane == 0) {
        t.program = s.program;
        t.net = s.net;
        t.group = s.group;
        t.request = s.request;
        t.skip = 0;
        if (q.anchor != kNone) t.edge[kAnchorAt] = s.edge[kAnchorAt];
    }
    warpSync();
}

// Part is a division of a level into the half that stays and the half that is given away.
struct Part {
    u32 level;
    Frame kept, gone;
    bool mask;  // bits of the mask are given away, not slots
};

// halve divides the shallowest level of s that has work to give away. The caller holds the lock of s.
FN bool halve(const State& s, Part& part) {
    u32 depth = peekWarp(&s.depth), level = s.floor;  // the owner may go deeper meanwhile
    Frame f;
    u32 rest = 0;
    for (; level <= depth; level++) {
        f = Frame{s.frame[level].next, s.frame[level].end, peekWarp(&s.frame[level].mask), s.frame[level].best};
        rest = chunks(f);
        u32 more = popcount(f.mask) + (level < depth);
        if (rest >= 2 || (rest == 1 && more > 0) || (f.mask != 0 && more >= 2)) break;
    }
    warpSync();
    if (level > depth) return false;
    Frame kept = f;
    if (rest > 0) {
        f.next = (f.next & ~(kWarp - 1)) + (rest - (rest + 1) / 2) * kWarp;
        if (f.next < kept.next) f.next = kept.next;
        f.mask = 0;
        kept.end = f.next;
    } else {
        for (u32 n = popcount(f.mask) / 2; n > 0; n--) f.mask &= f.mask - 1;
        kept.mask &= ~f.mask;
        f.end = f.next;
    }
    part = Part{level, kept, f, rest == 0};
    return true;
}

// move moves a part of s into t, which no other warp uses. The caller has held the lock of s since halve.
FN void move(const Program& q, State& s, State& t, const Part& part) {
    u32 level = part.level;
    copyPrefix(s, t, q, level);
    if (laneId() == 0) {
        s.frame[level].end = part.kept.end;
        if (part.mask) s.frame[level].mask = part.kept.mask;
        t.frame[level] = part.gone;
        t.floor = level;
        post(&t.depth, level);
    }
    warpSync();
}

// stealInBlock takes half of the work of the next warp of the block that has work to give away.
FN bool stealInBlock(const Search& p, State* states, State& mine) {
    u32 lane = laneId(), me = warpInBlock();
    u32 running = vote(lane < warpsInBlock() && lane != me && peek(&states[lane].live) == kRunning);
    while (running != 0) {
        u32 after = running >> me, i = after != 0 ? me + lowestBit(after) : lowestBit(running);
        running &= ~(1u << i);
        State& victim = states[i];
        if (!tryLockWarp(&victim.lock)) continue;
        Part part;
        bool got = peekWarp(&victim.live) == kRunning && halve(victim, part);
        if (got) {
            move(p.programs.program[victim.program], victim, mine, part);
            if (lane == 0) {
                fenceBlock();
                post(&mine.live, kRunning);
                add(&p.queue.control->busy, 1);
                add(&p.queue.control->stolen, 1);
            }
        }
        unlockWarp(&victim.lock);
        if (got) return true;
    }
    return false;
}
