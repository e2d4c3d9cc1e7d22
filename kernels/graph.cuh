// The device's copy of the graph: the slots of the packed memory array with their gaps (GAMMA section V-C; GPMA), of
// every vertex and direction where its entries are, and what a search asks of vertices and edges.
#pragma once
#include "device.cuh"

constexpr u32 kLeaf = 64;             // slots a leaf; entries lie at its left
constexpr u32 kStaged = 1u << 31;     // in an entry: the batch inserts or deletes the edge
constexpr u32 kDeleted = 1u << 31;    // in an order: it deletes it
constexpr u32 kNone = 0xffffffffu;

// Span says where the entries of a vertex in one direction are: slots begin to end, and the first and last of the
// labels, which ascend. An empty one is all zeros.
struct Span {
    u32 begin, end, first, last;
};

// Range is N(v, direction, label): the entries in the slots from begin to end, ascending by neighbour.
struct Range {
    u32 begin, end;
};

struct Graph {
    const u64* row;     // by slot: vertex, direction, label
    const u32* nbr;     // by slot
    const u32* ent;     // by slot: edge, and kStaged
    const u32* count;   // by leaf: entries
    const u64* fenceRow;  // by leaf: not above its entries, and above those of the leaf before: row
    const u32* fenceNbr;  // and neighbour
    const Span* span;   // by vertex and direction
    const u32* order;   // by edge, right for staged ones: order plus 1, and kDeleted
    const u64* bits;    // by vertex: candidate bits, words each
    u32 words;
    u32 dirs;           // 1 in an undirected graph
};

constexpr u64 kDirection = 1u << 31;  // of a row

FN u64 rowOf(u32 v, u32 dir, u32 label) { return (u64)v << 32 | dir * kDirection | label; }
FN u32 labelOfRow(u64 row) { return (u32)row & 0x7fffffffu; }
FN u32 dirOfRow(u64 row) { return (u32)row >> 31; }

// sideOf tells entries of a vertex and direction from others.
FN u64 sideOf(u64 row) { return row >> 31; }

// leafEnd returns the end of the entries of a leaf that lie before slot end.
FN u32 leafEnd(const Graph& g, u32 leaf, u32 end) {
    u32 e = leaf * kLeaf + g.count[leaf];
    return e < end ? e : end;
}
