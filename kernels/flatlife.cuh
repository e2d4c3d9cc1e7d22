// The life of a warp in a launch that counts the tasks of a search in blocks of 32. It leaves tasks that cannot be
// counted in blocks to wbm.
#pragma once
#include "flatcount.cuh"
#include "wbm.cuh"

constexpr u32 kFlatThreads = kBlockWarps * kWarp;

// FlatBlock is the memory of a block's warps, which have kFlatLevels levels each.
struct FlatBlock {
    u32 words[kBlockWarps][wordsTo(kFlatLevels - 1)];
};

FN Flats& flatsIn(FlatBlock& b) { return *(Flats*)b.words[warpInBlock()]; }

// leave adds the tasks of some lanes to those for wbm.
FN void leave(const TaskQueue& queue, u32 lanes, Task t) {
    u32 first = broadcast(laneId() == 0 && lanes != 0 ? add(&queue.control->left, popcount(lanes)) : 0);
    if (lanes >> laneId() & 1) queue.left[first + popcount(lanes & lanesBelow())] = t;
}

// serve makes the request of a program the one that is counted for, and delivers the count of the request before.
FN void serve(const Search& p, u32 program, Work& work) {
    if (p.programs.owner[program] == work.request) return;
    if (work.request != kNone) deliver(p.output.tally[work.request], work.found, work.steps);
    work.request = p.programs.owner[program];
    work.found = work.steps = 0;
}

// begin makes a first level of the tasks (from base on, in mask) that have the program of the first one, removes them
// from mask, and returns their number. If the program cannot be counted in blocks, it leaves them and returns 0.
FN u32 begin(const Search& p, Flats& f, u32 base, u32& mask) {
    u32 lane = laneId();
    Task t = mask >> lane & 1 ? p.queue.task[base + lane] : Task{kNone, 0, 0};
    u32 program = shuffle(t.program, lowestBit(mask)), of = vote(t.program == program);
    mask &= ~of;
    const Program& q = p.programs.program[program];
    if (q.mode != kCount || q.flat == 0 || (q.groups > 0 && p.memo.offer == nullptr)) {
        leave(p.queue, of, t);
        return 0;
    }
    warpSync();  // all lanes have finished the tasks before
    if (of >> lane & 1) {
        u32 i = popcount(of & lanesBelow());
        Net net = q.anchor == kNone ? Net{kNone, t.net, kNone} : p.queue.net[t.net];
        f.from[i] = net.from;
        f.level[0].w[i] = net.to;
        f.net[i] = t.net;
    }
    if (lane == 0) f.program = program;
    warpSync();
    return popcount(of);
}

// countTasks is the part of one warp in a launch.
FN void countTasks(const Search& p, Flats& f) {
    Work work = {kNone, 0, 0, 0, 0, 0, {warpInGrid() & ~(kWarp - 1), kClosed}};
    u32 lane = laneId(), base = 0, mask = 0;
    if (lane == 0) add(&p.queue.control->counting, 1);
    u32 said = peekWarp(&p.queue.flatBox[warpInGrid()]);
    while (true) {
        u32 n = 0, l = 0;
        if (said >= kPosted) {  // held since the launch before
            l = open(p.queue, f, said);
            said = kClosed;
        } else if (mask != 0) {
            n = begin(p, f, base, mask);
            if (n == 0) continue;
        } else if (base < p.queue.tasks) {
            mask = takeTasks(p, p.queue.task, &p.queue.control->taken, p.queue.tasks, p.queue.take, base);
            continue;
        } else {
            l = receive(p.queue, f);
            if (l == kNone) break;
        }
        const Program& q = p.programs.program[f.program];
        serve(p, f.program, work);
        pollBoxes(p.queue.flatBox, work.look);
        if (n > 0) {
            u32 hubs = openTasks(p, q, f, n, work);
            leave(p.queue, hubs, Task{f.program, f.net[lane], 0});
        }
        l = countFrom(p, q, f, l, work);
        if (l == kNone) continue;
        leave(p.queue, mask, mask >> lane & 1 ? p.queue.task[base + lane] : Task{kNone, 0, 0});
        hold(p.queue, f, l);
        break;
    }
    if (work.request != kNone) deliver(p.output.tally[work.request], work.found, work.steps);
}
