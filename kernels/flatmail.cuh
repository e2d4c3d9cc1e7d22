// Exchange of work of counting in blocks of matches, by mail as in mail.cuh, with these differences. A warp divides the
// shallowest level that has work left among several warps that want work. A warp that wants work waits for its own box,
// and no warp takes the mail of another. A box also keeps the state of its warp between launches. The states of a box
// are those of Box, except kTaken: kPosted plus the deepest level of the content.
#pragma once
#include "count.cuh"
#include "emit.cuh"

// kFlatLevels is the number of levels, including that of the tasks, that wbmflat has in shared memory. Those of eight
// warps take 18.3 KiB. wbmflatwhere has as many as the programs of a search need, in global memory.
constexpr u32 kFlatLevels = 4;

// Level is a block of partial matches with the same number of vertices, one per lane, and the list of candidates for
// the next vertex. The lists of the lanes are one list.
struct Level {
    u32 at, total;     // of the list of all lanes: positions before at are done; the warp's work ends at total
    u32 w[kWarp];      // vertex mapped last
    u32 of[kWarp];     // lane of the level above with the other vertices, plus kWarp times the back edge of the list
    u32 begin[kWarp];  // first slot of the lane's list
    u32 start[kWarp];  // position of the lane's list in the list of all lanes
};

// Flats is the state of a warp that counts in blocks. A search has memory for the first levels only:
// TaskQueue.flatWords.
struct Flats {
    u32 program;
    u32 from[kWarp], net[kWarp];  // by task: the first vertex, and the net edge
    Level level[kMaxVertices];    // at level 0, w is the second vertex of the task
};
LAYOUT_flatmail

// kMostParts is the maximum number of warps that get work at a time. 31 is as fast, within noise
// (docs/notebook/2026-11-gpu.md, Searches), and so are pauses of 100 and 2,000 ns in receive.
constexpr u32 kMostParts = 16;

// kDoneEvery is how often a waiting warp reads its box before it checks whether all work is done. Not tuned.
constexpr u32 kDoneEvery = 4;

// wordsTo returns the number of words of a Flats with the levels down to l.
constexpr u32 wordsTo(u32 l) { return (sizeof(Flats) - (kMaxVertices - 1 - l) * sizeof(Level)) / 4; }

// flatsOf returns the Flats with a number in the memory of a search: those of mail come first, by warp, then those in
// which the warps of wbmflatwhere work.
FN Flats& flatsOf(const TaskQueue& queue, u32 i) { return *(Flats*)((u32*)queue.flatMail + (u64)i * queue.flatWords); }

// give mails parts of the remaining work of the levels down to l (positions before at of level l are done) to warps
// that wanted work when their boxes were read, and reads the next 32 boxes. What was read may be old, but the swap
// decides: a box that is wanted belongs to a warp that waits and has read its mail, however often it was used in
// between. No fence is needed after the swap, because the writes depend on its result, and stores are not speculative.
// Level l is divided into parts of about least positions or more: a turn, unless each position takes long.
FN void give(const TaskQueue& queue, Flats& f, u32 l, u32 at, u32 least, Look& k) {
    u32 lane = laneId(), wanting = vote(k.saw == kWanted), first = k.at, d = 0;
    pollBoxes(queue.flatBox, k);
    if (wanting == 0) return;
    warpSync();  // all lanes have read at
    if (lane == 0) f.level[l].at = at;
    warpSync();
    while (d < l && f.level[d].at >= f.level[d].total) d++;
    u32 from = f.level[d].at, rest = f.level[d].total - from;
    u32 most = d < l ? rest : (rest - 1) / least;  // the warp keeps a part of its current list
    if (most > kMostParts) most = kMostParts;
    bool mine = (wanting >> lane & 1) != 0 && popcount(wanting & lanesBelow()) < most;
    u32 got = vote(mine && compareSwap(&queue.flatBox[first + lane], kWanted, kWritten) == kWanted), n = popcount(got),
        i = 1;
    if (n == 0) return;
    warpSync();  // all lanes write to a box that one lane has got
    for (u32 to = got; to != 0; to &= to - 1, i++) {
        Flats& t = flatsOf(queue, first + lowestBit(to));
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

// open reads the content of the warp's box and returns its deepest level. The box stays posted while the warp works on
// the content. Before the warp ends, it closes the box (receive) or posts the remaining work (hold); otherwise the next
// launch would count the same matches again.
FN u32 open(const TaskQueue& queue, Flats& f, u32 said) {
    fence();
    u32 depth = said - kPosted;
    const u32* from = (const u32*)&flatsOf(queue, warpInGrid());
    u32 words = wordsTo(depth);
    constexpr u32 most = 8;  // loads in flight; not tuned
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

// receive waits for work of other warps and returns its deepest level, or kNone when no warp that has begun is working
// and no mail is left. Warps that have not begun, and the work in their boxes, do not count: if not all blocks fit on
// the device at once, they begin only after the waiting warps have ended.
FN u32 receive(const TaskQueue& queue, Flats& f) {
    u32* box = &queue.flatBox[warpInGrid()];
    if (laneId() == 0) {
        add(&queue.control->counting, kAll);
        fence();  // the content of the box has been read
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

// hold posts the remaining work of the levels down to l in the warp's own box, for the next launch.
FN void hold(const TaskQueue& queue, Flats& f, u32 l) {
    warpCopy((u32*)&flatsOf(queue, warpInGrid()), (const u32*)&f, wordsTo(l));
    if (laneId() == 0) {
        add(&queue.control->held, 1);
        add(&queue.control->counting, kAll);
        fence();
        post(&queue.flatBox[warpInGrid()], kPosted + l);
    }
    warpSync();
}
