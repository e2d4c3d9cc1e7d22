// What a warp is in the middle of: the stack of Algorithm 1 of GAMMA. It lies in shared memory while its warp runs
// and is plain data, so that it can be stolen from, queued for other blocks, and parked until there is room for
// output.
#pragma once
#include "search.cuh"
#include "plan.cuh"
#include "warp.cuh"

enum Live : u32 { kIdle = 0, kRunning = 1, kFresh = 2 };  // kFresh: the task is to be started anew

// Frame is one level: what is left of the slots that its vertex is chosen from, and which of the 32 slots before next
// are candidates that have not been tried. Its owner alone changes next and sets a mask that is 0; under the lock,
// thieves lower end and take bits of the mask. best is the back edge that is streamed; an edge step has but one, and
// goes from image to image, so that there it says where the 32 slots begin.
struct Frame {
    u32 next, end, mask, best;
};

struct State {
    u32 lock;
    u32 live;
    u32 program, net, request;
    u32 floor, depth;  // levels that are the warp's: floor to depth
    u32 group;         // of its task
    // chunks of extendTwo's list that are done, of the candidates that the frame of depth comes to next
    u32 skip;
    u32 m[kMaxVertices];       // by position: data vertex
    u32 edge[kMaxBacks];       // by back edge, and at kAnchorAt: data edge; when they are kept
    Range range[kMaxBacks];    // by back edge: what its data vertex offers, for the levels up to depth
    Frame frame[kMaxSteps];
};

struct Parked {
    State state;
    u32 base, mask;  // tasks that its warp has taken and not started
};

// Task is a search to be made: a program, with a net edge of the batch or, from a whole graph, a first vertex.
// group is what its rows are marked with.
struct Task {
    u32 program, net, group;
};

struct Net {
    u32 edge, from, to;
};

// Tally is what is counted for one request: matches, in 128 bits, and candidates tried, in blocks of matches some of
// them twice.
struct Tally {
    u64 low, high, steps;
    u32 over, unused;
};

// Control is shared by all warps, and by the launches of one search. What many look at lies apart, in lines of the
// cache of its own.
struct Control {
    u64 used;    // reserved rows of the row buffer; may exceed its capacity
    u32 apart[30];
    u32 next;    // task
    u32 apartToo[31];
    u32 taken;   // next task of those that are counted in blocks of matches
    u32 left;    // tasks that these leave
    u32 apartAgain[30];
    u32 busy;    // warps that have work, and work in the mail
    u32 parked;
    u32 stolen, shared;  // how often, in a block and between blocks
    u32 counting, held, given, unused;  // busy, parked and shared of blocks of matches
};

struct Flats;  // flatmail.cuh

// Programs is what is searched for: one program for each matching order.
struct Programs {
    const Program* program;
    const u32* owner;  // by program: request
    const u32* image;  // by image and column: the column of the match's own row that it has there
};

// Memo keeps what vertices offer to leaves, from one search to the next.
struct Memo {
    u32* offer;         // by column and vertex: see recall; or null
    const u32* column;  // by column of the programs: that of the memo
    u32 known;          // what is not above it is of searches before
    u32 vertices;       // of a column
};

// TaskQueue is where warps take work from: tasks, the mail between blocks, and what was parked in the launch before.
struct TaskQueue {
    const Task* task;
    const Net* net;
    Control* control;
    Parked* parked;    // by warp
    u32* box;          // by warp: Box
    State* mail;       // by warp: what is in its box
    Task* left;        // tasks that blocks of matches leave; control has their number. May be null
    u32* flatBox;      // of blocks of matches, by warp: Box
    Flats* flatMail;   // and what is in it
    u32 tasks, take;   // number, and how many a warp takes at a time: at most 32
    u32 mailing;       // 0: no work goes between blocks
    u32 steal;         // 0: no stealing in the block
    u32 slice;         // turns of a warp in one launch
    u32 closing;       // when the row buffer has more rows, no more tasks are taken; kNone: no limit
};

// Output is where results are written: totals by request, and rows in the row buffer.
struct Output {
    Tally* tally;      // by request
    u32* stop;         // by request: a match was found and one was asked for
    u32* buffer;       // rows
    u64 capacity;      // rows at which the buffer is full; there are spare rows after them
    u32 stride;        // words of a row
    u32 unused;
};

// Search is the parameters of the kernels that search. A function that needs one of these views takes that alone.
struct Search {
    Graph graph;
    Programs programs;
    Memo memo;
    TaskQueue queue;
    Output output;
};
LAYOUT_state

// recall returns 1 plus what a vertex offers to a leaf, by the memo; or 0 when the search has not noted it.
FN u32 recall(const Memo& m, u32 column, u32 v) {
    u32 x = peek(m.offer + (u64)column * m.vertices + v);
    return x > m.known ? x - m.known : 0;
}

// note has the memo know what recall is to return.
FN void note(const Memo& m, u32 column, u32 v, u32 x) { post(m.offer + (u64)column * m.vertices + v, m.known + x); }
