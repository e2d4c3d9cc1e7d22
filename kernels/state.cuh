// The state of a warp's search: the stack of Algorithm 1 of GAMMA. It is in shared memory while its warp runs. It is
// plain data, so that other warps can steal from it, and it can be sent to other blocks and parked until there is room
// for output.
#pragma once
#include "search.cuh"
#include "plan.cuh"
#include "warp.cuh"

enum Live : u32 { kIdle = 0, kRunning = 1, kFresh = 2 };  // kFresh: the task is to be started anew

// Frame is one level of the stack: [next, end) are the slots that are not read yet, and mask has the candidates among
// the 32 slots before next that are not tried yet. Only the owner changes next, and sets a mask that is 0. Other warps
// that steal lower end and take bits of the mask, under the lock. best is the back edge that is streamed; in an edge
// step, which has one back edge, it is the first of the 32 slots.
struct Frame {
    u32 next, end, mask, best;
};

struct State {
    u32 lock;
    u32 live;
    u32 program, net, request;
    u32 floor, depth;  // levels that are the warp's: floor to depth
    u32 group;         // of its task
    // chunks of extendTwo's list that are done, for the candidates that the frame at depth reads next
    u32 skip;
    u32 m[kMaxVertices];       // by position: data vertex
    u32 edge[kMaxBacks];       // by back edge, and at kAnchorAt: data edge; when they are kept
    Range range[kMaxBacks];    // by back edge: the slots at its data vertex, for the levels up to depth
    Frame frame[kMaxSteps];
};

struct Parked {
    State state;
    u32 base, mask;  // tasks that the warp has taken and not started, whether or not state is live
};

// Task is one search: a program, and a net edge of the batch or, for a whole graph, a first vertex. The first word of
// its rows is group.
struct Task {
    u32 program, net, group;
};

struct Net {
    u32 edge, from, to;
};

// Tally has the totals of one request: matches, in 128 bits, and steps (candidates tried). Counting in blocks of
// matches may count some steps twice.
struct Tally {
    u64 low, high, steps;
    u32 over, unused;
};

// Control is shared by all warps, and by the launches of one search. Words that many warps use are in separate cache
// lines.
struct Control {
    u64 used;    // reserved rows of the row buffer; may exceed its capacity
    u32 apart[30];
    u32 next;    // task
    u32 apartToo[31];
    u32 taken;   // next task for counting in blocks of matches
    u32 left;    // tasks that counting in blocks leaves
    u32 apartAgain[30];
    u32 busy;    // warps that have work, and work in the mail
    u32 parked;
    u32 stolen, shared;  // how often work was divided: inside blocks, and between blocks
    u32 counting, held, given;  // busy, parked and shared of blocks of matches
    u32 stop;    // another device wants work: warps park soon
};

struct Flats;  // flatmail.cuh

// Programs holds one program for each matching order.
struct Programs {
    const Program* program;
    const u32* owner;  // by program: request
    const u32* image;  // by image and column of a row: the column of the match's own row to copy
};

// Memo keeps the numbers of candidates that vertices have for leaves (see offers), from search to search of a phase;
// and for a search those that two vertices have for a pair of leaves (see meetings).
struct Memo {
    u32* offer;         // by column and vertex: see recall; or null
    const u32* column;  // by column of the programs: that of the memo
    u64* both;          // see recallBoth; or null
    const u32* pair;    // by pair of the programs: a small number
    u32 known;          // values up to it are from earlier searches and are not valid
    u32 vertices;       // length of a column
    u32 vertexBits;     // of a vertex
    u32 keyBits;        // of a pair of leaves and two vertices
    u32 slotBits;       // of a slot's number; the other bits of the key, at most 32, are kept in the slot
    u32 unused;
};

// TaskQueue is where warps get work: tasks, mail from other blocks, and the state parked in the launch before.
struct TaskQueue {
    const Task* task;
    const Net* net;
    Control* control;
    Parked* parked;    // by warp
    u32* box;          // by warp: Box
    State* mail;       // by warp: the content of its box
    Task* left;        // tasks that counting in blocks leaves; control has their number. May be null
    u32* flatBox;      // by warp: Box for counting in blocks
    Flats* flatMail;   // by warp: the content of that box; more in flatsOf
    u32 tasks, take;   // number, and how many a warp takes at a time: at most 32
    u32 mailing;       // 0: no work goes between blocks
    u32 steal;         // 0: no stealing in the block
    u32 slice;         // turns of a warp in one launch
    u32 closing;       // when the row buffer has more rows, no more tasks are taken; kNone: no limit
    u32 flatWords;     // words of a Flats
    u32 heeds;         // 0: control.stop is never set
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

// Search has the parameters of the kernels that search. A function that needs one of these views takes only that one.
struct Search {
    Graph graph;
    Programs programs;
    Memo memo;
    TaskQueue queue;
    Output output;
};
LAYOUT_state

// recall returns 1 plus the number of candidates that a vertex has for a leaf, or 0 if the memo does not have it.
FN u32 recall(const Memo& m, u32 column, u32 v) {
    u32 x = peek(m.offer + (u64)column * m.vertices + v);
    return x > m.known ? x - m.known : 0;
}

// note stores the value that recall returns.
FN void note(const Memo& m, u32 column, u32 v, u32 x) { post(m.offer + (u64)column * m.vertices + v, m.known + x); }

// Both is a slot of Memo.both and what it has for a pair of leaves and two vertices.
struct Both {
    u64* slot;
    u64 tag;  // the upper 32 bits
};

// bothOf returns the Both of a pair of leaves and two vertices. A bijection maps them to a key. Its low bits are the
// number of the slot, the others are the tag.
FN Both bothOf(const Memo& m, u32 pair, u32 u, u32 v) {
    u32 half = m.keyBits / 2;
    u64 mask = ~(u64)0 >> (64 - m.keyBits), x = ((u64)m.pair[pair] << m.vertexBits | u) << m.vertexBits | v;
    for (u32 i = 0; i < 2; i++) {
        x = x * 0x9e3779b97f4a7c15u & mask;
        x ^= x >> half;
    }
    return Both{m.both + (x & ((1u << m.slotBits) - 1)), x >> m.slotBits << 32};
}

// recallBoth returns 1 plus the number that noteBoth has stored, or 0 if another one has taken the slot.
FN u32 recallBoth(const Both& b) {
    u64 x = peek(b.slot);
    return x >> 32 << 32 == b.tag ? (u32)x : 0;
}

FN void noteBoth(const Both& b, u32 x) { post(b.slot, b.tag | x); }
