// Plans as data: a kernel is compiled once and reads the matching orders (GAMMA Algorithm 1) from these. The host
// writes them (matcher/cuda/program.go).
#pragma once
#include "device.cuh"

// Sets of positions are masks of 32 bits, sets of back edges of 64.
constexpr u32 kMaxVertices = 32, kMaxBacks = 64;
constexpr u32 kMaxSteps = kMaxBacks + 1;  // every step but the first maps an edge, too, or nothing else
// the anchor's position among the images of back edges: with an anchor they are fewer
constexpr u32 kAnchorAt = kMaxBacks - 1;

enum Mode : u32 { kRows = 0, kCount = 1, kAny = 2 };

// Rule says which staged edges a back edge may map to. Rows are found from the update that completes them (DESIGN
// A2): kByOrder. Counts need no cause, so the pattern's edges are ranked instead, and a match is counted from the
// first of its edges that the batch changed: edges before the anchor are unchanged ones, those after it any of the
// graph. Then what a vertex offers does not depend on the update.
enum Rule : u32 { kByOrder = 0, kUnchanged = 1, kAnyEdge = 2, kInView = 3 };

// A back edge is loose when it may have several images between two given vertices: one for each label, or each
// direction.
constexpr u32 kAnyLabel = 0xffffffffu;  // a label, also of a vertex
constexpr u32 kEither = 2;              // a direction

struct Back {
    u32 from, to;  // positions of the vertex mapped earlier and of the other
    u32 label, dir, edge, rule;
    u32 nbrLabel;  // label of the other
};

// Step maps a pattern vertex, which must have an image along each of its back edges. The first of these, own, get
// theirs along with the vertex. Each of the others gets it in a step of its own, an edge step, after the vertex's:
// loose ones, and those whose images have to differ from that of a parallel edge. A single back edge that is loose is
// the vertex's own: then the step chooses pairs of vertex and edge.
//
// A vertex's position is the number of vertices that are mapped before it.
struct Step {
    u32 vertex;     // pattern vertex; kNone: an edge step
    u32 position;   // vertices mapped before
    u64 mask;       // of the candidate bits' word
    u64 apart;      // of an edge step: back edges, or the anchor, whose images must be others
    u32 word;
    u32 conflicts;  // positions whose vertices may coincide with this one's
    u32 above;      // positions whose vertices must have lower ids: symmetry
    u32 below;      // positions whose vertices must have higher ids
    u32 back, backs, own;  // first and number of its back edges, and how many of them are its own
    // of an edge step: back edges whose images must come before and after its own, or kNone: symmetry
    u32 after, before;
};

// Leaf is a group of alike leaves, which a count multiplies: how many, the step of one of them, and the column of the
// memo.
struct Leaf {
    u32 step, size, column, unused;
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
    u32 images, image;  // how many rows there are beside each match's own, and where in Programs.image they are told
    u32 flat;           // 1: flat.cuh makes the last two steps at once; of a count, flatcount.cuh counts
    Step step[kMaxSteps];
    Back back[kMaxBacks];
    Leaf leaf[kMaxSteps];
};
LAYOUT_plan
