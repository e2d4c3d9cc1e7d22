// Work of blocks of matches goes from warp to warp by mail, as in mail.cuh, but is shared by many at once: a warp
// that sees others want work gives parts of the shallowest level that anything is left of, one to each. Whoever wants
// work waits for it; nobody takes what is another's. A box also keeps what its warp is in the middle of when the
// turns of a launch are made. What a box says is Box but for kTaken: from kPosted on, kPosted plus the deepest level
// of what is there.
#pragma once
#include "count.cuh"
#include "emit.cuh"

// kFlatLevels is how many levels of blocks are kept, the tasks' included. Programs with more vertices between anchor
// and leaves are searched task by task. Eight warps' blocks take 18.3 KiB of shared memory.
constexpr u32 kFlatLevels = 4;

// Level is a block of partial matches of so many vertices, a lane each: the vertex mapped last, the lane of the level
// above that has the others, and the list of what may come next: where its slots and its positions in the list of all
// lanes begin. of has the back edge that leads to the list, too.
struct Level {
    u32 at, total;  // of the list of all lanes: positions that are done, and where those that are the warp's end
    u32 w[kWarp], of[kWarp], begin[kWarp], start[kWarp];
};

// Flats is what a warp is in the middle of.
struct Flats {
    u32 program;
    u32 from[kWarp], net[kWarp];  // of tasks: the first vertex, and the net edge
    Level level[kFlatLevels];     // of tasks, w is the second vertex
};
LAYOUT_flatmail

// kMostParts is how many warps are given something at a time. 31 are within noise (docs/notebook/2026-11-gpu.md,
// Searches), as are pauses of 100 and of 2,000 ns in receive.
constexpr u32 kMostParts = 16;

// kDoneEvery is the number of looks that a warp which waits makes at its box between those whether all is done.
constexpr u32 kDoneEvery = 4;

// wordsTo returns how many words the levels down to l have, and all before them.
FN u32 wordsTo(u32 l) { return (sizeof(Flats) - (kFlatLevels - 1 - l) * sizeof(Level)) / 4; }

// give mails parts of what is left of the levels down to l, the positions of l before at being done, to warps that were
// seen to want work, and looks at other boxes. What was seen may be old: the swap decides, since a box that is
// wanted, however often it was used in between, is of a warp that waits and has read its mail. No fence follows the
// swap, as what is written hangs on its outcome: stores are not made on suspicion.
FN void give(const TaskQueue& queue, Flats& f, u32 l, u32 at, Look& k) {
    u32 lane = laneId(), wanting = vote(k.saw == kWanted), first = k.at, d = 0;
    pollBoxes(queue.flatBox, k);
    if (wanting == 0) return;
    warpSync();  // all have read where the level was
    if (lane == 0) f.level[l].at = at;
    warpSync();
    while (d < l && f.level[d].at >= f.level[d].total) d++;
    u32 from = f.level[d].at, rest = f.level[d].total - from;
    u32 most = d < l ? rest : (rest - 1) / kWarp;  // of its own list a warp keeps a turn
    if (most > kMostParts) most = kMostParts;
    bool mine = (wanting >> lane & 1) != 0 && popcount(wanting & lanesBelow()) < most;
    u32 got = vote(mine && compareSwap(&queue.flatBox[first + lane], kWanted, kWritten) == kWanted), n = popcount(got),
        i = 1;
    if (n == 0) return;
    warpSync();  // what a lane got is the warp's to write
    for (u32 to = got; to != 0; to &= to - 1, i++) {
        Flats& t = queue.flatMail[first + lowestBit(to)];
        warpCopy((u32*)&t, (const u32*)&f, wordsTo(d));
        if (lane == 0) {
            t.level[d].at = from + shareOf(rest, i, n + 1);
            t.level[d].total = from + shareOf(rest, i + 1, n + 1);
        }
    }
    if (lane == 0) {
        f.level[d].total = from + shareOf(rest, 1, n + 1);
        add(&queue.control->counting, n);
        add(&queue.control->given, n);
    }
    warpSync();
    if (got >> lane & 1) {
        fence();
        post(&queue.flatBox[first + lane], kPosted + d);
    }
    warpSync();
}

// open reads what the warp's box said was there and returns the deepest level of it. The box goes on saying so while
// the warp works on it: a warp closes its box (receive) or says anew what is there (hold) before it ends, or the next
// launch would count the same once more.
FN u32 open(const TaskQueue& queue, Flats& f, u32 said) {
    fence();
    u32 depth = said - kPosted;
    const u32* from = (const u32*)&queue.flatMail[warpInGrid()];
    u32 words = wordsTo(depth);
    constexpr u32 most = 8;  // on their way at a time
    for (u32 at = laneId(); at < words; at += most * kWarp) {
        u32 got[most];
#pragma unroll
        for (u32 k = 0; k < most; k++) got[k] = at + k * kWarp < words ? peek(from + at + k * kWarp) : 0;
#pragma unroll
        for (u32 k = 0; k < most; k++)
            if (at + k * kWarp < words) ((u32*)&f)[at + k * kWarp] = got[k];
    }
    warpSync();
    return depth;
}

// receive waits for work of others and returns the deepest level of it, or kNone when there is none left: of those
// that have begun nobody works, and nothing is in the mail. Warps that have not begun do not count, nor what they
// hold: they may wait for those that wait here to end, where not all fit on the device at once.
FN u32 receive(const TaskQueue& queue, Flats& f) {
    u32* box = &queue.flatBox[warpInGrid()];
    if (laneId() == 0) {
        add(&queue.control->counting, kAll);
        fence();  // what was there has been read
        post(box, kWanted);
    }
    warpSync();
    for (u32 round = 1;; round++) {
        u32 said = peekWarp(box);
        if (said >= kPosted) return open(queue, f, said);
        // A warp that has just begun may be about to write: then the box is not the warp's to close.
        if (round % kDoneEvery == 0 && peekWarp(&queue.control->counting) == 0 &&
            swapWarp(box, kWanted, kClosed)) return kNone;
        pause(500);
    }
}

// hold has the warp's box keep what is left of the levels down to l for the next launch.
FN void hold(const TaskQueue& queue, Flats& f, u32 l) {
    warpCopy((u32*)&queue.flatMail[warpInGrid()], (const u32*)&f, wordsTo(l));
    if (laneId() == 0) {
        add(&queue.control->held, 1);
        add(&queue.control->counting, kAll);
        fence();
        post(&queue.flatBox[warpInGrid()], kPosted + l);
    }
    warpSync();
}
