// The device's copy of the graph: the slots of the packed memory array with their gaps (GAMMA section V-C; GPMA), the
// span of each vertex and direction in it, and the data of vertices and edges that a search reads.
#pragma once
#include "device.cuh"
#include "pairs.cuh"

constexpr u32 kLeaf = 64;             // slots of a leaf; its entries are at its beginning, its rows at its end
constexpr u32 kStaged = 1u << 31;     // in an entry: the batch inserts or deletes the edge
constexpr u32 kDeleted = 1u << 31;    // in an order: the batch deletes the edge
constexpr u32 kReplaced = 1u << 30;   // in an order: the batch replaces the edge; the order is that of the new version
constexpr u32 kNone = 0xffffffffu;

// kRanges tells that a kernel searches arrays of more slots than 32 bits have numbers for (DESIGN A28). Such a kernel
// is another than those that do not, so that graphs with fewer slots do not pay for them: registers are few.
#if defined(MOTIFD_RANGES)
constexpr bool kRanges = true;
#else
constexpr bool kRanges = false;
#endif

// Entries are ordered by vertex, direction, label of the edge, label of the neighbour, and neighbour: N(v, direction,
// label) is contiguous (GSI section IV), and so are its neighbours with one label. A kind is both labels as one number.

// Span is where the entries of a vertex in one direction are: slots [begin, end), and their first and last kind (kinds
// ascend). An empty span is all zeros. Slots here, and in all that a search keeps, are those of the vertex's Lists.
struct Span {
    u32 begin, end, first, last;
};

// Range is the entries in slots [begin, end): of one kind, ascending by neighbour, or of all kinds with one label of
// the edge.
struct Range {
    u32 begin, end;
};

// Sees says which staged edges a search sees: those of a view, or those that existed just before the update that it
// searches from, which is an insertion or a deletion.
enum Sees : u32 { kView = 0, kInserted = 1, kRemoved = 2 };

// Interval is an interval of values of some bits of a truth word, those of mask from bit shift on: lo to lo+more.
struct Interval {
    u64 mask, lo, more;
    u32 word, shift;
};

// Operation is what an Instr does. A stack holds whole numbers, and null; truths are 0 (false), 1 (true) and null
// (unknown). All but the first four take values off it: a, which was pushed before b.
enum Operation : u32 {
    kEdgeValue = 0,    // pushes the value of the image of back edge at (or kAnchorAt) in a column
    kVertexValue = 1,  // pushes that of the vertex at position at
    kNumber = 2,       // pushes left
    kNull = 3,         // pushes null
    kSum = 4,          // a * left + b * right; null if a or b is, or where that does not fit 64 bits
    kProduct = 5,      // a * b, likewise
    kCompare = 6,      // whether a * left + b * right is below, at or above 0: bits 0 to 2 of at; null if a or b is
    kIsNull = 7,       // whether b is null; a stays
    kAnd = 8,          // of three truth values
    kOr = 9,
    kNear = 10,        // whether a and b are at most left apart; null if a or b is
    kHolds = 11,       // ends a condition: it must have left 1
    // Not of a stack, and behind all conditions of a step: the match is blocked by an edge (holds.cuh) for which the
    // next more instructions hold. It leads from the vertex at position at to that at position column, or to any one if
    // that is kNone. left is its label and, in the upper half, its direction; right the label of the vertex that may be
    // any.
    kAbsent = 12
};

// Instr is an instruction of a condition on values of several elements.
struct Instr {
    i64 left, right;
    u32 op, at, column, more;
};

// Labels is a range of labels of edges, from first to last, and how many ranges of the same set follow it, ascending.
struct Labels {
    u32 first, last, more;
};

// Where is what the conditions on edges, and those on several elements, read: by edge, stride words. First come its
// truth words; from presence on, a bit for each column that tells whether the edge has a value there; from values on,
// the values. Those of a vertex are behind its candidate bits.
struct Where {
    const u64* words;
    const Interval* interval;
    const Instr* instr;
    const Labels* labels;  // of sets of labels
    u32 stride, presence, values;
    u32 vertexPresence, vertexValues, unused;
};

// Graph is the device's graph, and which part of it a search sees.
struct Graph {
    const u32* nbr;     // by slot; of a row: direction and kind
    const u32* ent;     // by slot: edge, and kStaged; of a row: the vertex
    const u32* count;   // by leaf: entries
    const u64* runs;    // by leaf: the positions at which runs of entries of one row begin
    // The fence of a leaf is (row, neighbour): above the entries of the leaf before, and not above its own.
    const u64* fenceRow;
    const u32* fenceNbr;
    const Span* span;   // by vertex and direction
    const u32* order;   // by edge, valid for staged edges: order plus 1, and kDeleted or kReplaced
    const u64* bits;    // by vertex: words words, of candidate bits and values
    const u32* label;   // by vertex
    const u32* base;    // by range of vertices: the leaf at which its slots begin; null: one range, from leaf 0 on
    const u32* pairs;   // filter of the pairs that edges join
    u32 words;
    u32 dirs;           // 1 in an undirected graph
    u32 nbrBits;       // of a kind, for the neighbour's label
    u32 sees;           // Sees
    u32 old;            // 1: with kView, the graph before the batch
    u32 shift;          // of a vertex, to its range
    u32 pairMask;       // of pairs
    u32 unused;
    Where where;
};
LAYOUT_graph

// mayJoin reports whether an edge may join two vertices. Reading a list to find that none does takes longer.
FN bool mayJoin(const Graph& g, u32 u, u32 v) {
    Pair p = pairOf(u, v, g.pairMask);
    return (g.pairs[p.word] & p.bits) == p.bits;
}

constexpr u64 kDirection = 1u << 31;  // of a row

FN u64 rowOf(u32 v, u32 dir, u32 kind) { return (u64)v << 32 | dir * kDirection | kind; }
FN u32 kindOfRow(u64 row) { return (u32)row & 0x7fffffffu; }
FN u32 dirOfRow(u64 row) { return (u32)row >> 31; }

// nbrPart returns the part of a neighbour's label that is in a kind: the low nbrBits bits. If there are more labels,
// some share a kind.
FN u32 nbrPart(u32 label, u32 nbrBits) { return label & ((1u << nbrBits) - 1); }

FN u32 kindOf(u32 label, u32 nbrLabel, u32 nbrBits) { return label << nbrBits | nbrPart(nbrLabel, nbrBits); }

// edgeLabel returns the label of the edge of an entry of a row.
FN u32 edgeLabel(const Graph& g, u64 row) { return kindOfRow(row) >> g.nbrBits; }

// rowTo returns a row with the part of the neighbour's label replaced by that of vertex w.
FN u64 rowTo(const Graph& g, u64 row, u32 w) {
    return row >> g.nbrBits << g.nbrBits | nbrPart(g.label[w], g.nbrBits);
}

// rowSlot returns the slot that has the row of the entry in a slot, in a leaf with these runs (DESIGN A26).
FN u32 rowSlot(u32 slot, u64 runs) {
    return (slot | (kLeaf - 1)) + 1 - popcount(runs & (~(u64)0 >> (kLeaf - 1 - slot % kLeaf)));
}

// Lists reads the slots of the vertices of one range. Slots and leaves of it are numbered from leaf base on.
struct Lists {
    const Graph& g;
    u32 base;
};

// listsOf returns the Lists of a vertex.
FN Lists listsOf(const Graph& g, u32 v) { return Lists{g, kRanges ? g.base[v >> g.shift] : 0}; }

// placeOf returns where a slot is in the columns of all slots.
FN u64 placeOf(const Lists& l, u32 slot) { return kRanges ? (u64)l.base * kLeaf + slot : slot; }

FN u32 nbrAt(const Lists& l, u32 slot) { return l.g.nbr[placeOf(l, slot)]; }

FN u32 entAt(const Lists& l, u32 slot) { return l.g.ent[placeOf(l, slot)]; }

FN u32 countAt(const Lists& l, u32 leaf) { return l.g.count[l.base + leaf]; }

FN u64 runsAt(const Lists& l, u32 leaf) { return l.g.runs[l.base + leaf]; }

// holdsEntry reports whether a slot has an entry.
FN bool holdsEntry(const Lists& l, u32 slot) { return slot % kLeaf < countAt(l, slot / kLeaf); }

// rowAt returns the row of an entry without the vertex, which a search knows.
FN u64 rowAt(const Lists& l, u32 slot) { return nbrAt(l, rowSlot(slot, runsAt(l, slot / kLeaf))); }

// sideOf returns the vertex and direction of a row as one number.
FN u64 sideOf(u64 row) { return row >> 31; }

// below reports whether an entry comes before another one.
FN bool below(u64 row, u32 nbr, u64 otherRow, u32 otherNbr) {
    return row < otherRow || (row == otherRow && nbr < otherNbr);
}

// leafEnd returns the end of the entries of a leaf, at most end.
FN u32 leafEnd(const Lists& l, u32 leaf, u32 end) {
    u32 e = leaf * kLeaf + countAt(l, leaf);
    return e < end ? e : end;
}
