// The packed memory array, which the device updates itself (GAMMA section V-C; GPMA). Entries are sorted by row and
// neighbour, in leaves of kLeaf slots, at the beginning of each leaf. An operation of a batch says what an entry is
// afterwards (not how it changes), so that a batch may be applied to a part of the array twice. An update has these
// stages: locate the leaf of each operation; merge the operations into the leaves, a warp for each leaf; for leaves
// that would be too full or too empty, climb to the smallest window of leaves whose density is within its limits;
// spread the entries of each window evenly, a block for each.
//
// A leaf also has, at its end, the row of each run of entries with one row (DESIGN A26). The slots of a leaf in use are
// those of its entries and of these rows; limits of density are of slots in use.
//
// Every leaf has a fence: the entries of the leaf before are below it, and those of the leaf are not. Fences change
// only when a window is spread. They are adjacent in memory, so a search for a leaf reads little. The fence of leaf 0
// is the lowest possible.
#pragma once
#include "graph.cuh"
#include "warp.cuh"

// Sizes are what fits the 48 KiB of shared memory that a block may have on every device; not tuned otherwise.
constexpr u32 kThreads = 256;             // threads of a block of each kernel here
// 0.08 and 0.92 of the slots (GAMMA section V-C): the least number of entries, and the most slots in use
constexpr u32 kMinLeaf = 5, kMaxLeaf = 59;
constexpr u32 kTop = 1024;                // fences in shared memory during locate: 12 KiB
constexpr u32 kInShared = 2048;           // maximum entries that it spreads in shared memory: 32 KiB
constexpr u32 kTile = 2048;               // elements of a block in a scan: 8 for each thread
constexpr u32 kPiece = 2048;              // maximum entries that a block lays out in a new array
constexpr u32 kFullness = 63;             // percent of the slots of a new array that are in use

constexpr u32 kOut = 1u << 31;  // in a kind: the operation removes the edge; of a staged one, the batch deletes it

// kStays, in back: a staged operation for one version of an edge that the batch replaces. The edge is there before and
// afterwards. Such an operation from a vertex to itself is one for a version of a revised vertex: it has the place of a
// net edge, and removes an entry that no array has.
constexpr u32 kStays = 1u << 31;

// Op says what the entries of an edge are after the batch: ent is their value, unless the operation removes them. If
// ent has kStaged, the operation stages a batch. kind (with kOut) is the kind of the entry at from, back that of the
// entry at to. They are stored, because ids of vertices are used again with other labels.
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

// GpmaControl has values that the kernels of an update pass to each other and to the host.
struct GpmaControl {
    u32 entries;   // number of entries after the batch; kept between updates
    u32 pending;   // number of leaves that climb
    u32 segments;  // number of windows to spread
    u32 rebuild;   // 1: the array must be rewritten, and holds only a part of the batch until then
    u32 scratch;   // number of entries of scratch in use
    u32 leaves;    // for weigh: number of leaves that the entries in scratch are to have
    u32 added;     // pairs that updates have added to their filter; kept between updates
    u32 unused;
};

constexpr u32 kClimbs = 1u << 31;  // in used, see Slots: the leaf climbs, and its operations are not merged

// Slots are the columns of the array: nbr and ent by slot, the others by leaf. count is the number of entries of a leaf
// before the batch, will the number after it, used the number of slots in use after it: at most, of leaves that climb.
// runs marks the positions at which runs begin.
struct Slots {
    u32* nbr;
    u32* ent;
    u32* count;
    u32* will;
    u32* used;
    u64* runs;
    u64* fenceRow;
    u32* fenceNbr;
    u32 leaves, unused;
};

// Gpma has the parameters of all kernels of an update.
struct Gpma {
    Slots a;         // the array
    Slots b;         // the new array, when it is rewritten
    Span* span;      // by vertex and direction
    u32* degree;     // by vertex and direction: entries
    u32* order;      // by edge: see Graph
    NetEdge* net;    // of the staged batch
    Op* op;          // operations that end the batch before, then those of this update
    const Op* before;  // operations that staged the batch before
    Op* staged;      // operations that stage this batch
    u64* key;        // two for each operation, unsorted
    u32* val;
    const u64* sortedKey;
    const u32* sortedVal;  // operation and end
    u32* at;         // by sorted operation: leaf
    u32* info;       // by sorted operation: position in the leaf, and kEnters or kGoes
    u32* sum;        // by sorted operation: change of the number of entries by those before it in the same part
    OpRange* range;  // by leaf: its operations; valid for leaves that climb, and when the array is rewritten
    u32* base;       // by leaf: entries after the batch in the leaves before it in the same part
    u32* pending;    // leaves
    Segment* segment;
    u32* mark;       // by window: the stamp of the last batch that spread it
    u64* scratchRow;
    u32* scratchNbr;
    u32* scratchEnt;
    u32* tile;       // sums of parts of a scan
    GpmaControl* control;
    u32 ops, settle;  // number of operations, and of those that end the batch before
    u32 abort;        // 1: the batch before was aborted
    u32 stagedFrom;   // the first operation that stages
    u32 keys;         // twice ops
    u32 dirs, idBits, labelBits;
    u32 height;       // level of the root of the tree of windows
    u32 stamp;
    u32 force;        // 1: rewrite the array
    u32 again;        // 1: locate is repeated; the numbers of entries are already correct
    u32 scratchSize;
    u32 least, most;   // entries of the array, beyond which it is rewritten
    u32 from, to;      // for fill and gather: the range of entries in scratch
    u32 whole;         // for spans: 1: all leaves; 2: and degrees
    u32 wide;          // 1: keys of more than 64 bits: sort by neighbour, then by row
    u32 nbrBits;       // bits of a kind for the neighbour's label
    u32 nbrUsed;       // how many of these the labels use
    u32 first;         // for kinds: the vertex of the first entry in scratch
    u32 leaf;          // for fill: the first leaf to write
    u32 sorted;        // for weigh and fill: 1: the entries in scratch are in the order of sortedVal
    u32 top;           // a block spreads windows of up to 1 << top leaves
    u32 shift;         // of a vertex, to its range
    const u32* label;  // by vertex
    const u32* rangeAt;  // Graph.base
    u32* pairs;          // Graph.pairs
    u32 pairMask, unused;
};
LAYOUT_gpma

// sideAt returns the index of the vertex and direction of a row in span and degree.
FN u32 sideAt(u64 row, u32 dirs) { return (u32)(row >> 32) * dirs + (dirs > 1 ? (u32)(row >> 31 & 1) : 0); }

// entryOf returns the entry of a sorted operation.
FN Op entryOf(const Gpma& p, u32 i, u64& row, u32& nbr) {
    u32 v = p.sortedVal[i];
    Op o = p.op[v / 2];
    row = v & 1 ? rowOf(o.to, p.dirs - 1, o.back & ~kStays) : rowOf(o.from, 0, o.kind & ~kOut);
    nbr = v & 1 ? o.from : o.to;
    return o;
}

// same reports whether two adjacent sorted operations have the same entry.
FN bool same(const Gpma& p, u32 i, u32 j) {
    if (p.sortedKey[i] != p.sortedKey[j]) return false;
    u64 row;
    u32 one, other;
    entryOf(p, i, row, one);
    entryOf(p, j, row, other);
    return one == other;
}

// change returns the change of the number of entries by an operation: 1, 0 or -1.
FN u32 change(u32 info) { return (info & kEnters ? 1u : 0u) - (info & kGoes ? 1u : 0u); }

// window returns the leaves [a, b) of window i of a level.
FN void window(u32 level, u32 i, u32 leaves, u32& a, u32& b) {
    u64 end = (u64)(i + 1) << level;
    a = i << level;
    b = end < leaves ? (u32)end : leaves;
}

// slotAt returns where the slot at a position of a leaf is in the columns of all slots.
FN u64 slotAt(u32 leaf, u32 position) { return (u64)leaf * kLeaf + position; }

// rowIn returns the row of the entry at a position of a leaf with these runs.
FN u64 rowIn(const Slots& a, u32 leaf, u64 runs, u32 position) {
    u64 slot = slotAt(leaf, rowSlot(position, runs));
    return (u64)a.ent[slot] << 32 | a.nbr[slot];
}

// putRow writes the row of the run that begins at a position of a leaf with these runs.
FN void putRow(const Slots& a, u32 leaf, u64 runs, u32 position, u64 row) {
    u64 slot = slotAt(leaf, rowSlot(position, runs));
    a.nbr[slot] = (u32)row;
    a.ent[slot] = (u32)(row >> 32);
}

// within reports whether the density of a number of leaves with n entries, in used slots, is within the limits of a
// level.
FN bool within(const Gpma& p, u32 level, u32 leaves, u32 n, u32 used) {
    u64 have = (u64)used * 100 * p.height, slots = (u64)leaves * kLeaf;
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
