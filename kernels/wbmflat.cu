// wbmflat does the tasks of a search for counts as far as they are little work, 32 at a time, and, in its second round, pieces of those that are left. What is left
// then is wbm's.
#include "flatcount.cuh"
#include "wbm.cuh"

constexpr u32 kFlatThreads = kBlockWarps * kWarp;
constexpr u32 kPieces = 8;  // of a task, in the second round

struct FlatBlock {
    Flats flats[kBlockWarps];
};

// leave hands the rest of a block of tasks, a lane each, to the next round or to wbm.
FN void leave(const Params& p, u32 lanes, Task t) {
    u32 first = broadcast(laneId() == 0 && lanes != 0 ? add(&p.control->left[p.round], popcount(lanes)) : 0);
    if (lanes >> laneId() & 1) p.left[p.round][first + popcount(lanes & lanesBelow())] = t;
}

KERNEL(wbmflat, Params, kFlatThreads, 4) {
    SHARED(FlatBlock, block);
    Flats& f = block.flats[warpInBlock()];
    Work work = {kNone, 0, 0, 0, 0, 0, {0, kClosed}};
    const Task* task = p.round > 0 ? p.left[0] : p.task;
    u32 lane = laneId(), base = 0, tasks = p.tasks, pieces = 1;
    if (p.round > 0) {
        tasks = peekWarp(&p.control->left[0]);
        if (tasks <= p.tasks / kPieces) pieces = kPieces;  // all of them may be left
        tasks *= pieces;
    }
    do {
        u32 mask = takeTasks(p, task, &p.control->taken[p.round], tasks, pieces, p.take, base);
        Task t = mask >> lane & 1 ? task[(base + lane) / pieces] : Task{kNone, 0, 0, 0};
        u32 piece = (base + lane) % pieces;
        while (mask != 0) {
            u32 program = shuffle(t.program, lowestBit(mask)), of = vote(t.program == program), n = popcount(of);
            mask &= ~of;
            const Program& q = p.program[program];
            if (q.mode != kCount || q.flat == 0 || (q.groups > 0 && p.memo == nullptr)) {
                leave(p, of & vote(piece == 0), t);
                continue;
            }
            if (p.owner[program] != work.request) {
                if (work.request != kNone) deliver(p.tally[work.request], work.found, work.steps);
                work.request = p.owner[program];
                work.found = work.steps = 0;
            }
            if (p.round == 0) work.steps += n;
            if (of >> lane & 1) {
                u32 i = popcount(of & lanesBelow());
                Net net = q.anchor == kNone ? Net{kNone, t.net, kNone} : p.net[t.net];
                f.from[i] = net.from;
                f.level[0].w[i] = net.to;
                f.net[i] = t.net;
                f.level[0].begin[i] = t.group;
                f.level[0].start[i] = t.end;
                f.piece[i] = piece;
            }
            f.level[0].of[lane] = 0;
            warpSync();
            Rest r = countFlat(p, q, f, n, pieces, work);
            leave(p, r.lanes, Task{program, f.net[lane], r.begin, r.end});
            warpSync();
        }
    } while (base < tasks);
    if (work.request != kNone) deliver(p.tally[work.request], work.found, work.steps);
}
