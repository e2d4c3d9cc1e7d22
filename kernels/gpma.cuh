// The packed memory array that the device keeps and updates itself (GAMMA section V-C; GPMA). Entries lie sorted by
// row and neighbour in leaves of kLeaf slots, packed to the left. A batch says, entry by entry, what is to be there
// afterwards, so that it can be applied to a part of the array twice. It is located, and merged into leaves by a warp
// each; leaves that would be too full or too empty climb to the smallest window of leaves whose density is within
// bounds, which a block spreads evenly anew.
//
// Every leaf has a fence: entries of the leaf are not below it and those of the leaf before are. Fences change only
// when a window is spread, and lie densely, so that what searches leaves reads little memory. Leaf 0's is the lowest
// there is.
#pragma once
#include "graph.cuh"
#include "warp.cuh"

constexpr u32 kThreads = 256;             // a block of any kernel here
constexpr u32 kMinLeaf = 5, kMaxLeaf = 59;  // entries: 0.08 and 0.92 of the slots (GAMMA section V-C)
constexpr u32 kTop = 1024;                // fences in shared memory while a batch is located: 12 KiB
constexpr u32 kWide = 12;                 // windows of 1 << kWide leaves at most are spread by one block
constexpr u32 kInShared = 2048;               // entries that it does in shared memory: 32 KiB
constexpr u32 kTile = 2048;               // elements of a block's part of a scan: 8 a thread

constexpr u32 kOut = 1u << 31;  // in a kind: the operation removes the edge; of a staged one, the batch deletes it

// Op says what becomes of an edge's entries: ent is what they hold, if they are to be there. Those that are kStaged
// are of the batch that is being staged. The kinds are of the entry at from, with kOut, and of that at to: vertices'
// ids may be used again, with other labels.
struct Op {
    u32 ent, from, to, kind, back;
};

// What an operation does to an entry, beside the position of the entry in its leaf: see Gpma.info.
constexpr u32 kEnters = 1u << 8, kGoes = 2u << 8, kPosition = 0xff;

struct OpRange {
    u32 begin, end;
};

struct Segment {
    u32 level, index;
};

struct NetEdge {
    u32 edge, from, to;
};

// GpmaControl is what a batch's kernels tell each other and the host.
struct GpmaControl {
    u32 entries;   // that there are after the batch; the only one that outlives it
    u32 pending;   // leaves that climb
    u32 segments;  // windows to spread
    u32 rebuild;   // the array must be written anew; until then only some of the batch is in it
    u32 scratch;   // entries of scratch that are taken
    u32 unused[3];
};

// Slots are the columns of the array: by slot row, nbr and ent; by leaf the others. will is the number of entries
// that a leaf has after the batch, and count until then.
struct Slots {
    u64* row;
    u32* nbr;
    u32* ent;
    u32* count;
    u32* will;
    u64* fenceRow;
    u32* fenceNbr;
    u32 leaves, unused;
};

// Gpma is the parameters of all kernels of an update.
struct Gpma {
    Slots a;         // the array
    Slots b;         // the one to write, when it is written anew
    Span* span;      // by vertex and direction
    u32* degree;     // by vertex and direction: entries
    u32* order;      // by edge: see Graph
    NetEdge* net;    // of the staged batch
    Op* op;          // first those that settle the batch before, then those given
    const Op* before;  // the staged operations of the batch before
    Op* staged;      // those of this one
    u64* key;        // two of each operation, unsorted
    u32* val;
    const u64* sortedKey;
    const u32* sortedVal;  // operation and end
    u32* at;         // by sorted operation: leaf
    u32* info;       // position in the leaf, and what is done
    u32* sum;        // operations before that enter less those that go, within some part
    OpRange* range;  // by leaf: its operations; right for leaves that climb, and when the array is written anew
    u32* base;       // by leaf: entries after the batch before it, within some part
    u32* pending;    // leaves
    Segment* segment;
    u32* mark;       // by window: the stamp of the last batch that spread it
    u64* scratchRow;
    u32* scratchNbr;
    u32* scratchEnt;
    u32* tile;       // sums of parts of a scan
    GpmaControl* control;
    u32 ops, settle;  // number, and how many of them settle the batch before
    u32 abort;        // it was aborted
    u32 stagedFrom;   // the first that stages
    u32 keys;         // twice ops
    u32 dirs, idBits, labelBits;
    u32 height;       // of the tree: the root's level
    u32 stamp;
    u32 force;        // the array is to be written anew
    u32 again;        // located anew: numbers are right already
    u32 scratchSize;
    u32 entries;       // of fill, and of the array that is written anew
    u32 from, to;      // of fill: which of them are in scratch
    u32 whole;         // of spans: 1 all leaves, 2 and degrees
    u32 wide;          // keys would have more than 64 bits: first neighbours are sorted, then rows
    u32 nbrBits;       // of a kind, for the neighbour's label
    u32 nbrUsed;       // of these, those that labels have
    u32 first;         // of fill: the vertex of the first in scratch
    const u32* label;  // by vertex
};
LAYOUT_gpma

// sideAt is where the vertex and direction of a row are in span and degree.
FN u32 sideAt(u64 row, u32 dirs) { return (u32)(row >> 32) * dirs + (dirs > 1 ? (u32)(row >> 31 & 1) : 0); }

// entryOf returns the entry that a sorted operation is about.
FN Op entryOf(const Gpma& p, u32 i, u64& row, u32& nbr) {
    u32 v = p.sortedVal[i];
    Op o = p.op[v / 2];
    row = v & 1 ? rowOf(o.to, p.dirs - 1, o.back) : rowOf(o.from, 0, o.kind & ~kOut);
    nbr = v & 1 ? o.from : o.to;
    return o;
}

// same tells whether two sorted operations, beside each other, are about one entry.
FN bool same(const Gpma& p, u32 i, u32 j) {
    if (p.sortedKey[i] != p.sortedKey[j]) return false;
    u64 row;
    u32 one, other;
    entryOf(p, i, row, one);
    entryOf(p, j, row, other);
    return one == other;
}

// change returns by how much an operation changes the number of entries.
FN u32 change(u32 info) { return (info & kEnters ? 1u : 0u) - (info & kGoes ? 1u : 0u); }

// window returns the leaves of window i of a level: from a up to b.
FN void window(u32 level, u32 i, u32 leaves, u32& a, u32& b) {
    u64 end = (u64)(i + 1) << level;
    a = i << level;
    b = end < leaves ? (u32)end : leaves;
}

// within tells whether n entries fill that many leaves within the bounds of a level.
FN bool within(const Gpma& p, u32 level, u32 leaves, u32 n) {
    u64 have = (u64)n * 100 * p.height, slots = (u64)leaves * kLeaf;
    return have <= (92 * p.height - 8 * level) * slots && have >= (8 * p.height + 34 * level) * slots &&
        n >= leaves * kMinLeaf;
}

// markOf returns the mark of a window.
FN u32* markOf(const Gpma& p, u32 level, u32 i) {
    u32 from = 0;
    for (u32 h = 0; h < level; h++) from += (p.a.leaves >> h) + 1;
    return p.mark + from + i;
}

// blockScan returns the sum of x of the threads before; all threads get the total. sums has room for one per warp.
FN u32 blockScan(u32* sums, u32 x, u32& total) {
    u32 lane = laneId(), in = x;
    for (u32 d = 1; d < kWarp; d *= 2) {
        u32 y = shuffle(in, lane >= d ? lane - d : lane);
        if (lane >= d) in += y;
    }
    if (lane == kWarp - 1) sums[warpInBlock()] = in;
    blockSync();
    u32 before = in - x;
    total = 0;
    for (u32 w = 0; w < kThreads / kWarp; w++) {
        if (w < warpInBlock()) before += sums[w];
        total += sums[w];
    }
    blockSync();
    return before;
}
