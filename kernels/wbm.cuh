// The life of a warp in one launch.
#pragma once
#include "extend.cuh"

// kBlockWarps is the warps of a block. Four blocks a multiprocessor leave a thread 64 registers, as many as the kernels
// for totals are compiled for; three leave it 80, for rows (docs/notebook/2026-11-gpu.md, Rows: 16, 24 and 32 warps).
constexpr u32 kBlockWarps = 8;
LAYOUT_wbm

struct Block {
    State state[kBlockWarps];
};

struct RowBlock {
    State state[kBlockWarps];
    RowBuffers rows[kBlockWarps];
};

// takeTasks takes up to take tasks from the counter next, and returns the lanes whose task passes the tests that need
// no search: the filter, the constraints between the vertices that the task maps, and the conditions on its edge. base
// is the first of these tasks, or tasks if none is left or no more may be taken in this launch.
FN u32 takeTasks(const Search& p, const Task* task, u32* next, u32 tasks, u32 take, u32& base) {
    // a row buffer has fewer than 2^32 rows
    const Control* c = p.queue.control;
    u32 saw = laneId() < 3 ? peek(laneId() == 0 ? next : laneId() == 1 ? (const u32*)&c->used : &c->stop) : 0;
    bool closed = vote(laneId() == 0 ? saw >= tasks : laneId() == 1 ? saw > p.queue.closing : saw != 0) != 0;
    base = broadcast(laneId() == 0 && !closed ? add(next, take) : tasks);
    u32 i = base + laneId();
    bool ok = laneId() < take && base < tasks && i < tasks;
    if (ok) {
        Task t = task[i];
        const Program& q = p.programs.program[t.program];
        if (q.anchor == kNone) {
            ok = passes(p.graph, q.step[0], t.net);
        } else {
            Net n = p.queue.net[t.net];
            ok = passes(p.graph, q.step[0], n.from) && admits(p.graph, q.step[1], n.to, [&](u32) { return n.from; }) &&
                 meets(p.graph, q.back[kAnchorAt], n.edge) &&
                 holds(p.graph, q, 1, [&](u32) { return n.edge; }, [&](u32 at) { return at == 0 ? n.from : n.to; });
        }
    }
    return vote(ok);
}

// kOverEvery is the number of rounds in which an idle warp looks for work in its block, between two rounds in which it
// also looks in other blocks and whether all work is done. Not tuned.
constexpr u32 kOverEvery = 8;

// findWork gives an idle warp work of other warps. It returns false if all work is done.
FN bool findWork(const Search& p, State* states, State& s, Look& l) {
    if (laneId() == 0) add(&p.queue.control->busy, kAll);
    warpSync();
    bool got = false;
    for (u32 round = 1; !got; round++) {
        got = (p.queue.steal != 0 && stealInBlock(p, states, s)) || (p.queue.mailing != 0 && collect(p.queue, s));
        if (got || (p.queue.steal == 0 && p.queue.mailing == 0)) break;
        if (round % kOverEvery == 0) {
            if (peekWarp(&p.queue.control->busy) == 0) break;
            got = p.queue.mailing != 0 && collectElsewhere(p.queue, s, l);
        }
        if (!got) pause(1000);
    }
    if (p.queue.mailing != 0) close(p.queue);
    return got;
}

// searchTasks is the part of one warp in a launch. states are the states of its block; rows are its buffers, in a
// kernel for rows.
template <bool kOfRows>
FN void searchTasks(const Search& p, State* states, RowBuffers* rows) {
    State& s = states[warpInBlock()];
    Parked& parked = p.queue.parked[warpInGrid()];
    Work work = {kNone, 0, 0, 0, 0, 0, {warpInGrid() & ~(kWarp - 1), kClosed}};
    const Task* task = p.queue.task;
    u32 base = 0, mask = 0, tasks = p.queue.tasks, take = p.queue.take;
    if (p.queue.left != nullptr) {
        task = p.queue.left;
        tasks = peekWarp(&p.queue.control->left);
        take = 1;
        if (tasks == 0) return;  // all tasks were counted in blocks
    }
    if (laneId() == 0) {
        add(&p.queue.control->busy, 1);
        s.lock = 0;
        s.live = kIdle;
        s.skip = 0;
    }
    blockSync();
    u32 live = parked.state.live;
    base = parked.base;
    mask = parked.mask;
    warpSync();
    if (laneId() == 0) parked.mask = 0;
    if (live != kIdle) {
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
                mask = takeTasks(p, task, &p.queue.control->next, tasks, take, base);
                if (base >= tasks) break;
            }
            if (mask != 0) {
                if (laneId() == 0) {
                    Task t = task[base + lowestBit(mask)];
                    s.program = t.program;
                    s.net = t.net;
                    s.group = t.group;
                    s.request = p.programs.owner[t.program];
                    post(&s.live, kFresh);
                }
                mask &= mask - 1;
                warpSync();
            } else if (!findWork(p, states, s, work.look)) {
                break;
            }
        }
        const Program& q = p.programs.program[s.program];
        if (s.request != work.request) {
            if (work.request != kNone) deliver(p.output.tally[work.request], work.found, work.steps);
            work = {s.request, 0, 0, work.turns, work.next, work.kept, work.look};
        }
        Outcome out = kDone;
        if (wanted<kOfRows>(q) == kAny && peekWarp(&p.output.stop[s.request]) != 0) {
            finish(s);
            continue;
        }
        if (peekWarp(&s.live) == kFresh) {
            out = start<kOfRows>(p, s, q, work);
            if (out == kDone && peekWarp(&s.live) == kFresh) {
                finish(s);
                continue;
            }
        }
        if (out == kDone) out = extend<kOfRows>(p, s, q, rows, work);
        if (out == kFull) {
            lockWarp(&s.lock);
            warpCopy((u32*)&parked.state + 1, (u32*)&s + 1, sizeof(State) / 4 - 1);  // not the lock
            if (laneId() == 0) {
                post(&s.live, kIdle);
                parked.base = base;
                parked.mask = mask;
                add(&p.queue.control->parked, 1);
                add(&p.queue.control->busy, kAll);
            }
            unlockWarp(&s.lock);
            break;
        }
    }
    if (kOfRows) flush(p, rows->out, work);
    if (work.request != kNone) deliver(p.output.tally[work.request], work.found, work.steps);
}
