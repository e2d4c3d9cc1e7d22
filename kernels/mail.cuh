// Work is exchanged between blocks by mail; the paper leaves this open. Every warp has a box in the device's memory. A
// warp that is idle and finds no work in its block marks its box as wanted. Busy warps read 32 boxes every few turns,
// the next 32 each time, and put half of a level into a box that is wanted. So no lock is held between blocks, and no
// word is written by all warps. Mail that arrives after its warp has found other work is taken by any idle warp.
#pragma once
#include "steal.cuh"

// Box is the state of a box. Only its warp marks it as wanted. One of the warps that see it wanted gets to write, and
// one of those that see it posted gets to take, by compare and swap.
enum Box : u32 { kClosed = 0, kWanted = 1, kWritten = 2, kPosted = 3, kTaken = 4 };

// kLookEvery is the number of turns between reads of boxes. With 1, 4 and 16 turns, the rows of a tree were found at
// 1,918, 1,896 and 1,800 M/s (docs/notebook/2026-11-gpu.md, Rows).
constexpr u32 kLookEvery = 4;

// Look is what a lane saw in its box of 32 boxes when the warp last read them.
struct Look {
    u32 at, saw;
};

// kStopEvery is the number of turns after which a warp reads control.stop. Not tuned.
constexpr u32 kStopEvery = 16;

// stops reports whether a warp is to park because another device wants work.
FN bool stops(const TaskQueue& queue, u32 turns) {
    return queue.heeds != 0 && turns % kStopEvery == 0 && peekWarp(&queue.control->stop) != 0;
}

FN u32 gridWarps() { return gridBlocks() * warpsInBlock(); }
FN u32 warpInGrid() { return blockOf() * warpsInBlock() + warpInBlock(); }

// pollBoxes reads the 32 boxes after those of the last call. Their state is used at the next call, so that no warp
// waits for the memory.
FN void pollBoxes(const u32* box, Look& l) {
    l.at += kWarp;
    if (l.at >= gridWarps()) l.at = 0;
    u32 i = l.at + laneId();
    l.saw = i < gridWarps() ? peek(&box[i]) : kClosed;
}

// oneOf chooses one of a set of lanes; different seeds give different lanes.
FN u32 oneOf(u32 set, u32 seed) {
    u32 high = set >> (seed % kWarp) << (seed % kWarp);
    return lowestBit(high != 0 ? high : set);
}

// share mails half of the warp's work to a warp whose box was wanted, and reads the next 32 boxes.
FN void share(const Search& p, State& mine, Look& l, u32 turn) {
    u32 wanting = vote(l.saw == kWanted), i = 0;
    if (wanting != 0) i = l.at + oneOf(wanting, warpInGrid() + turn);
    pollBoxes(p.queue.box, l);
    if (wanting == 0) return;
    lockWarp(&mine.lock);
    Part part;
    bool put = halve(mine, part) && swapWarp(&p.queue.box[i], kWanted, kWritten);
    if (put) move(p.programs.program[mine.program], mine, p.queue.mail[i], part);
    unlockWarp(&mine.lock);
    if (put && laneId() == 0) {
        add(&p.queue.control->busy, 1);
        add(&p.queue.control->shared, 1);
        fence();
        post(&p.queue.box[i], kPosted);
    }
    warpSync();
}

// take takes the mail in a box, unless another warp takes it. The mail is already counted in busy.
FN bool take(const TaskQueue& queue, u32 i, State& mine) {
    if (!swapWarp(&queue.box[i], kPosted, kTaken)) return false;
    fence();
    const u32* from = (const u32*)&queue.mail[i];
    constexpr u32 words = sizeof(State) / 4, most = 6;  // loads in flight; not tuned
    for (u32 at = laneId(); at < words; at += most * kWarp) {
        u32 got[most];
#pragma unroll
        for (u32 k = 0; k < most; k++) got[k] = at + k * kWarp < words ? peek(from + at + k * kWarp) : 0;
#pragma unroll
        for (u32 k = 0; k < most; k++)  // except lock and live, which other warps read
            if (at + k * kWarp >= 2 && at + k * kWarp < words) ((u32*)&mine)[at + k * kWarp] = got[k];
    }
    warpSync();
    if (laneId() == 0) {
        fence();
        post(&queue.box[i], kClosed);
        post(&mine.live, kRunning);
    }
    warpSync();
    return true;
}

// collect takes mail for any warp of the block. If there is none, it marks the warp's box as wanted.
FN bool collect(const TaskQueue& queue, State& mine) {
    u32 lane = laneId(), first = blockOf() * warpsInBlock(), me = warpInBlock();
    u32 saw = lane < warpsInBlock() ? peek(&queue.box[first + lane]) : kClosed;
    for (u32 there = vote(saw == kPosted); there != 0; there &= there - 1)
        if (take(queue, first + lowestBit(there), mine)) return true;
    if (lane == me && saw == kClosed) {
        fence();
        post(&queue.box[first + me], kWanted);
    }
    warpSync();
    return false;
}

// collectElsewhere takes mail for any of 32 warps of the grid, which may be busy, or have ended until the next launch.
FN bool collectElsewhere(const TaskQueue& queue, State& mine, Look& l) {
    pollBoxes(queue.box, l);
    for (u32 there = vote(l.saw == kPosted); there != 0; there &= there - 1)
        if (take(queue, l.at + lowestBit(there), mine)) return true;
    return false;
}

// close unmarks the warp's box. Mail that is being written stays for the next idle warp.
FN void close(const TaskQueue& queue) {
    if (laneId() == 0) compareSwap(&queue.box[warpInGrid()], kWanted, kClosed);
    warpSync();
}
