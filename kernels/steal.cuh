// Work stealing: between the warps of a block through shared memory (GAMMA section V-A, active stealing), and between blocks
// through a queue, which the paper left open (T-DFS).
#pragma once
#include "state.cuh"

// chunks returns how many pieces of 32 slots are left in a frame.
FN u32 chunks(const Frame& f) {
    return f.next < f.end ? (f.end - (f.next & ~(kWarp - 1)) + kWarp - 1) / kWarp : 0;
}

// copyPrefix copies the match below a level and the level's ranges: what the owner of s does not write while it has work there.
FN void copyPrefix(const State& s, State& t, const Program& q, u32 level) {
    u32 lane = laneId();
    const Step& st = q.step[level];
    if (lane < st.place) {
        t.m[lane] = s.m[lane];
        if (q.fork != kNone) t.left[lane] = s.left[lane];
    }
    for (u32 k = lane; q.keep != 0 && k < st.back; k += kWarp) t.edge[k] = s.edge[k];
    for (u32 k = st.back + lane; st.vertex != kNone && k < st.back + st.backs; k += kWarp) t.range[k] = s.range[k];
    if (lane == 0) {
        t.program = s.program;
        t.net = s.net;
        t.group = s.group;
        t.request = s.request;
        if (q.anchor != kNone) t.edge[kAnchorAt] = s.edge[kAnchorAt];
    }
    warpSync();
}

// split moves half of what is left of the shallowest level of s that has anything to spare into t. The caller holds the
// lock of s; t is nobody else's.
FN bool split(const Params& p, State& s, State& t) {
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
    const Program& base = p.program[s.program];
    copyPrefix(s, t, programAt(p, s, base, level), level);
    if (laneId() == 0) {
        if (level > base.fork) t.member = s.member;
        s.frame[level].end = kept.end;
        if (rest == 0) s.frame[level].mask = kept.mask;
        t.frame[level] = f;
        t.floor = level;
        post(&t.depth, level);
        fence();
        post(&t.live, kRunning);
    }
    warpSync();
    return true;
}

// stealInBlock takes half of the work of another warp of the block.
FN bool stealInBlock(const Params& p, State* states, State& mine) {
    u32 n = warpsInBlock();
    for (u32 i = 1; i < n; i++) {
        State& victim = states[(warpInBlock() + i) % n];
        if (peekWarp(&victim.live) != kRunning || !tryLockWarp(&victim.lock)) continue;
        bool got = peekWarp(&victim.live) == kRunning && split(p, victim, mine);
        if (got && laneId() == 0) {
            add(&p.control->busy, 1);
            add(&p.control->stolen, 1);
        }
        unlockWarp(&victim.lock);
        if (got) return true;
    }
    return false;
}

// share queues half of the warp's work when warps elsewhere are idle. Their number is looked at now and then.
FN void share(const Params& p, State& mine) {
    Control* c = p.control;
    u32 want = laneId() == 0 ? (peek(&c->idle) > peek(&c->queued) && peek(&c->queued) < p.queueSize) : 0;
    if (!broadcast(want) || !tryLockWarp(&c->lock)) return;
    u32 n = broadcast(laneId() == 0 ? peek(&c->queued) : 0);
    if (n < p.queueSize) {
        lockWarp(&mine.lock);
        bool got = split(p, mine, p.queue[n]);
        unlockWarp(&mine.lock);
        if (got && laneId() == 0) {
            fence();
            post(&c->queued, n + 1);
            add(&c->shared, 1);
        }
    }
    warpSync();
    fence();
    unlockWarp(&c->lock);
}

// takeQueued takes work that another block queued.
FN bool takeQueued(const Params& p, State& mine) {
    Control* c = p.control;
    if (peekWarp(&c->queued) == 0 || !tryLockWarp(&c->lock)) return false;
    fence();
    u32 n = broadcast(laneId() == 0 ? peek(&c->queued) : 0);
    if (n > 0) {
        u32* from = (u32*)&p.queue[n - 1];
        for (u32 i = laneId() + 2; i < sizeof(State) / 4; i += kWarp) ((u32*)&mine)[i] = peek(from + i);
        warpSync();
        if (laneId() == 0) {
            add(&c->busy, 1);
            post(&c->queued, n - 1);
            fenceBlock();
            post(&mine.live, kRunning);
        }
    }
    warpSync();
    fence();
    unlockWarp(&c->lock);
    return n > 0;
}
