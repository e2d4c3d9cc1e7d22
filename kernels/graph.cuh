// The device's copy of the graph: the slots of the packed memory array with their gaps (GAMMA section V-C; GPMA), of
// every vertex and direction where its entries are, and what a search asks of vertices and edges.
#pragma once
#include "device.cuh"

constexpr u32 kLeaf = 64;             // slots a leaf: two turns of a warp; entries lie at its left
constexpr u32 kStaged = 1u << 31;     // in an entry: the batch inserts or deletes the edge
constexpr u32 kDeleted = 1u << 31;    // in an order: it deletes it
constexpr u32 kNone = 0xffffffffu;

// Entries are ordered by vertex, direction, label of the edge, label of the neighbour, and neighbour: N(v, direction,
// label) is contiguous (GSI section IV), and in it the neighbours of each label are. A kind is both labels as one
// number.

// Span says where the entries of a vertex in one direction are: slots begin to end, and the first and last of the
// kinds, which ascend. An empty one is all zeros.
struct Span {
    u32 begin, end, first, last;
};

// Range is entries in the slots from begin to end: of one kind, ascending by neighbour, or of all kinds of an edge's
// label.
struct Range {
    u32 begin, end;
};

// Sees is which of the staged edges a search sees: those that a view has, or what was there just before the update that
// it searches from, an insertion or a deletion.
enum Sees : u32 { kView = 0, kInserted = 1, kRemoved = 2 };

// Graph is the device's graph, and what a search sees of it.
struct Graph {
    const u64* row;     // by slot: vertex, direction, kind
    const u32* nbr;     // by slot
    const u32* ent;     // by slot: edge, and kStaged
    const u32* count;   // by leaf: entries
    const u64* fenceRow;  // by leaf: not above its entries, and above those of the leaf before: row
    const u32* fenceNbr;  // and neighbour
    const Span* span;   // by vertex and direction
    const u32* order;   // by edge, right for staged ones: order plus 1, and kDeleted
    const u64* bits;    // by vertex: candidate bits, words each
    const u32* label;   // by vertex
    u32 words;
    u32 dirs;           // 1 in an undirected graph
    u32 nbrBits;       // of a kind, for the neighbour's label
    u32 sees;           // Sees
    u32 old, unused;    // old 1: of kView, the graph before the batch
};
LAYOUT_graph

constexpr u64 kDirection = 1u << 31;  // of a row

FN u64 rowOf(u32 v, u32 dir, u32 kind) { return (u64)v << 32 | dir * kDirection | kind; }
FN u32 kindOfRow(u64 row) { return (u32)row & 0x7fffffffu; }
FN u32 dirOfRow(u64 row) { return (u32)row >> 31; }

// nbrPart returns what of a neighbour's label is in a kind: all of it, unless there are more labels than bits. Then
// some share a kind.
FN u32 nbrPart(u32 label, u32 nbrBits) { return label & ((1u << nbrBits) - 1); }

FN u32 kindOf(u32 label, u32 nbrLabel, u32 nbrBits) { return label << nbrBits | nbrPart(nbrLabel, nbrBits); }

// edgeLabel returns the label of the edge of an entry of a row.
FN u32 edgeLabel(const Graph& g, u64 row) { return kindOfRow(row) >> g.nbrBits; }

// rowTo returns the row, like another one but for the kind of neighbour, that has vertex w.
FN u64 rowTo(const Graph& g, u64 row, u32 w) {
    return row >> g.nbrBits << g.nbrBits | nbrPart(g.label[w], g.nbrBits);
}

// sideOf tells entries of a vertex and direction from others.
FN u64 sideOf(u64 row) { return row >> 31; }

// below tells whether an entry comes before another one.
FN bool below(u64 row, u32 nbr, u64 otherRow, u32 otherNbr) {
    return row < otherRow || (row == otherRow && nbr < otherNbr);
}

// leafEnd returns the end of the entries of a leaf that lie before slot end.
FN u32 leafEnd(const Graph& g, u32 leaf, u32 end) {
    u32 e = leaf * kLeaf + g.count[leaf];
    return e < end ? e : end;
}
