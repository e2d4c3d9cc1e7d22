// The life of a warp in one launch.
#pragma once
#include "extend.cuh"

constexpr u32 kBlockWarps = 8;

struct Block {
    State state[kBlockWarps];
    Flat flat[kBlockWarps];
};

// takeTasks takes the next tasks from the counter and returns which of them pass the tests that a lane can make alone: the filter
// and the constraints between the vertices that the task maps.
FN u32 takeTasks(const Params& p, u32& base) {
    base = broadcast(laneId() == 0 && peek(&p.control->next) < p.tasks ? add(&p.control->next, p.take) : p.tasks);
    u32 i = base + laneId();
    bool ok = laneId() < p.take && base < p.tasks && i < p.tasks;
    if (ok) {
        Task t = p.task[i];
        const Program& q = p.program[t.program];
        if (q.anchor == kNone) {
            ok = candidate(p.g, q.step[0], t.net);
        } else {
            Net n = p.net[t.net];
            const Step& b = q.step[1];
            ok = candidate(p.g, q.step[0], n.from) && candidate(p.g, b, n.to) && (!(b.clash & 1) || n.from != n.to) &&
                 (!(b.above & 1) || n.from < n.to) && (!(b.below & 1) || n.from > n.to);
        }
    }
    return vote(ok);
}

// seek makes an idle warp's state live again with work of others, or returns false when there is none left.
FN bool seek(const Params& p, Block& b, State& s) {
    Control* c = p.control;
    if (laneId() == 0) {
        add(&c->idle, 1);
        add(&c->busy, kAll);
    }
    warpSync();
    bool got = false;
    while (!got) {
        got = (p.steal != 0 && stealInBlock(p, b.state, s)) || (p.queueSize != 0 && takeQueued(p, s));
        if (got) break;
        u32 over = laneId() == 0 ? peek(&c->busy) == 0 && peek(&c->queued) == 0 : 0;
        if (broadcast(over)) break;
        if (p.steal == 0 && p.queueSize == 0) break;
        pause(1000);
    }
    if (laneId() == 0) add(&c->idle, kAll);
    warpSync();
    return got;
}

FN void searchTasks(const Params& p, Block& block) {
    State& s = block.state[warpInBlock()];
    Parked& parked = p.parked[blockOf() * warpsInBlock() + warpInBlock()];
    Work work = {kNone, 0, 0, 0, 0};
    u32 base = 0, mask = 0;
    if (laneId() == 0) {
        add(&p.control->busy, 1);
        s.lock = 0;
        s.live = kIdle;
    }
    blockSync();
    u32 live = parked.state.live;
    if (live != kIdle) {
        base = parked.base;
        mask = parked.mask;
        for (u32 i = laneId() + 2; i < sizeof(State) / 4; i += kWarp) ((u32*)&s)[i] = ((u32*)&parked.state)[i];
        warpSync();
        if (laneId() == 0) {
            parked.state.live = kIdle;
            fenceBlock();
            post(&s.live, live);
        }
        warpSync();
    }
    while (true) {
        if (peekWarp(&s.live) == kIdle) {
            while (mask == 0) {
                mask = takeTasks(p, base);
                if (base >= p.tasks) break;
            }
            if (mask != 0) {
                if (laneId() == 0) {
                    Task t = p.task[base + lowestBit(mask)];
                    s.program = t.program;
                    s.net = t.net;
                    s.group = t.group;
                    s.request = p.owner[t.program];
                    post(&s.live, kFresh);
                }
                mask &= mask - 1;
                warpSync();
            } else if (!seek(p, block, s)) {
                break;
            }
        }
        const Program& q = p.program[s.program];
        if (s.request != work.request) {
            if (work.request != kNone) deliver(p.tally[work.request], work.found, work.steps);
            work = {s.request, 0, 0, work.turns, work.look};
        }
        Outcome out = kDone;
        if (q.mode == kAny && peekWarp(&p.stop[s.request]) != 0) {
            finish(s);
            continue;
        }
        if (peekWarp(&s.live) == kFresh) {
            out = start(p, s, q, work);
            if (out == kDone && peekWarp(&s.live) == kFresh) {
                finish(s);
                continue;
            }
        }
        if (out == kDone) out = extend(p, s, q, block.flat[warpInBlock()], work);
        if (out == kFull) {
            lockWarp(&s.lock);
            warpCopy((u32*)&parked.state + 1, (u32*)&s + 1, sizeof(State) / 4 - 1);  // thieves look at the lock
            if (laneId() == 0) {
                post(&s.live, kIdle);
                parked.base = base;
                parked.mask = mask;
                add(&p.control->parked, 1);
                add(&p.control->busy, kAll);
            }
            unlockWarp(&s.lock);
            break;
        }
    }
    if (work.request != kNone) deliver(p.tally[work.request], work.found, work.steps);
}
