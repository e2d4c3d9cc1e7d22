// Work between blocks, which the paper left open, goes by mail. Every warp has a box in the device's memory. One that
// is idle and finds nothing in its block says there that it wants work; busy warps look at 32 boxes every few turns,
// at others each time, and put half of a level in one. So no lock is held and no word is written by all. What came
// late, when its warp had found other work, is for any that is idle.
#pragma once
#include "steal.cuh"

// Box is what goes on in a box. Its warp alone opens it; of those that find it wanted, or posted, one gets to write,
// or to take.
enum Box : u32 { kClosed = 0, kWanted = 1, kWritten = 2, kPosted = 3, kTaken = 4 };

// kLookEvery is the number of turns between looks at boxes. With looks every turn, every 4 and every 16 turns, a tree's
// rows came at 1,918, 1,896 and 1,800 M/s (docs/notebook/2026-11-gpu.md, Rows).
constexpr u32 kLookEvery = 4;

// Look is of a warp at 32 boxes: a lane's is what it saw when the last look was made.
struct Look {
    u32 at, saw;
};

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

// oneOf chooses one of a set of lanes, others for other warps.
FN u32 oneOf(u32 set, u32 seed) {
    u32 high = set >> (seed % kWarp) << (seed % kWarp);
    return lowestBit(high != 0 ? high : set);
}

// share mails half of the warp's work to a warp that was seen to want some, and looks at other boxes.
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

// take takes what is in a box, unless another warp does. It counts as busy already.
FN bool take(const TaskQueue& queue, u32 i, State& mine) {
    if (!swapWarp(&queue.box[i], kPosted, kTaken)) return false;
    fence();
    const u32* from = (const u32*)&queue.mail[i];
    constexpr u32 words = sizeof(State) / 4, most = 6;  // on their way at a time
    for (u32 at = laneId(); at < words; at += most * kWarp) {
        u32 got[most];
#pragma unroll
        for (u32 k = 0; k < most; k++) got[k] = at + k * kWarp < words ? peek(from + at + k * kWarp) : 0;
#pragma unroll
        for (u32 k = 0; k < most; k++)  // but the lock, and what thieves look at
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

// collect takes what came for a warp of the block. When nothing did, it says that the warp wants work.
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

// collectElsewhere takes what came for any of 32 warps, which may all be busy, or gone until the next launch.
FN bool collectElsewhere(const TaskQueue& queue, State& mine, Look& l) {
    pollBoxes(queue.box, l);
    for (u32 there = vote(l.saw == kPosted); there != 0; there &= there - 1)
        if (take(queue, l.at + lowestBit(there), mine)) return true;
    return false;
}

// close takes back that the warp wants work. What is on its way stays for the next that is idle.
FN void close(const TaskQueue& queue) {
    if (laneId() == 0) compareSwap(&queue.box[warpInGrid()], kWanted, kClosed);
    warpSync();
}
