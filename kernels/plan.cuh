// Plans as data: a kernel is compiled once and reads the matching orders (GAMMA Algorithm 1) from these structures. The
// host writes them (matcher/cuda/program.go).
#pragma once
#include "device.cuh"

// Sets of positions are masks of 32 bits, sets of back edges of 64.
constexpr u32 kMaxVertices = 32, kMaxBacks = 64;
constexpr u32 kMaxSteps = kMaxBacks + 1;  // every step except the first maps at least one edge
// index of the anchor's image in State.edge; an order with an anchor has fewer back edges
constexpr u32 kAnchorAt = kMaxBacks - 1;
constexpr u32 kBlockerAt = kMaxBacks;  // in an Instr behind kAbsent: the edge that may block the match

enum Mode : u32 { kRows = 0, kCount = 1, kAny = 2 };

// Rule says which staged edges a back edge may map to. A row is found from the update that completes it (DESIGN A2):
// kByOrder. A count does not name the update, so a match is counted from the first of its pattern edges that the batch
// changed: pattern edges before the anchor map to unchanged edges (kUnchanged), those after it to any edge (kAnyEdge).
// The number of candidates of a leaf then does not depend on the update, and can be kept in the memo.
enum Rule : u32 { kByOrder = 0, kUnchanged = 1, kAnyEdge = 2, kInView = 3 };

// kWhere tells that a kernel tests conditions, and knows sets of labels and pairs of leaves. The kernels that do are
// others than those that do not, so that patterns without these do not pay for them: registers are few.
#if defined(MOTIFD_WHERE)
constexpr bool kWhere = true;
#else
constexpr bool kWhere = false;
#endif

// kDenies tells that a kernel tests negations of one edge, beside conditions.
#if defined(MOTIFD_ABSENT)
constexpr bool kDenies = true;
#else
constexpr bool kDenies = false;
#endif

// A back edge is loose when it may have several images between two given vertices: one for each label of several (which
// is how parallel edges differ on the device), or each direction.
constexpr u32 kAnyLabel = 0xffffffffu;  // a label, also of a vertex
constexpr u32 kAmong = 1u << 31;        // a label from here on: a set, from Where.labels[label - kAmong] on
constexpr u32 kEither = 2;              // a direction

struct Back {
    u32 from, to;  // positions of its ends; from is mapped earlier
    u32 label, dir, edge, rule;
    u32 nbrLabel;  // label of the vertex at to
    u32 test, tests;  // conditions on the edge alone: the first of Where.interval, and their number
};

// Step maps a pattern vertex, or one pattern edge (an edge step). The vertex must be joined along all of its back
// edges. The first of these, own, are mapped together with the vertex. The others are mapped by edge steps after it:
// loose back edges, and those whose image must differ from that of a parallel edge. If a vertex has a single back edge
// and it is loose, the back edge is its own, and the step chooses pairs of vertex and edge.
//
// A vertex's position is the number of vertices that are mapped before it.
struct Step {
    u32 vertex;     // pattern vertex; kNone: an edge step
    u32 position;   // vertices mapped before
    u64 mask;       // candidate bit, in word
    u64 apart;      // of an edge step: back edges, or the anchor, whose images must differ from its own
    u32 word;       // of the candidate bits of a vertex
    u32 conflicts;  // positions whose vertices may coincide with this one's
    u32 above;      // positions whose vertices must have lower ids: symmetry
    u32 below;      // positions whose vertices must have higher ids
    u32 back, backs, own;  // first and number of its back edges, and how many of them are its own
    // of an edge step: back edges whose images must come before and after its own, or kNone: symmetry
    u32 after, before;
};

// Leaf is a group of alike leaves of a count: their number (size), the step of one of them, and their memo column. If
// pair is not 0, it may be mapped to the same vertex as the group before; then both have one leaf, and a kernel with
// kWhere is needed. pair-1 is the number of the pair (Memo.pair).
struct Leaf {
    u32 step, size, column, pair;
};

// Slice is items of an array: the first, and their number.
struct Slice {
    u32 first, number;
};

// Program is a matching order. Automorphisms of the pattern give each match further rows (GAMMA section V-B, coalesced
// search; DESIGN A6): images.
struct Program {
    u32 mode;
    u32 steps, start;   // number of steps, and the first that is not mapped by the task: 1 or 2
    u32 leaves;         // first of the steps that are counted as leaves; steps when there are none
    u32 groups;         // of leaves
    u32 anchor;         // pattern edge, or kNone
    u32 vertices, edges;
    u32 keep;           // 1: the images of edges are wanted
    u32 images, image;  // number of further rows of each match, and their first index in Programs.image
    u32 flat;           // rows: 1: flat.cuh does the last two steps together; counts: levels of flatcount.cuh, or 0
    Step step[kMaxSteps];
    Back back[kMaxBacks];  // at kAnchorAt: of the anchor, what is asked of it alone
    Leaf leaf[kMaxSteps];
    Slice check[kMaxSteps];  // by step: of Where.instr, the conditions of which it maps the last element
};
LAYOUT_plan

// paired reports whether a program has a group of leaves with a number, and it may meet the one before.
FN bool paired(const Program& q, u32 i) { return kWhere && i < q.groups && q.leaf[i].pair != 0; }

// among reports whether the label of a back edge is a set of labels.
FN bool among(u32 label) { return kWhere && label >= kAmong && label != kAnyLabel; }
