// Plans as data: a kernel is compiled once and reads the matching orders (GAMMA Algorithm 1) from these. The host writes
// them; matcher/cuda/program.go has the same layout.
#pragma once
#include "device.cuh"

constexpr u32 kMaxSteps = 32, kMaxBacks = 64;

enum Mode : u32 { kRows = 0, kCount = 1, kAny = 2 };

// Rule says which staged edges a back edge may map to. Rows are found from the update that completes them (DESIGN A2): kByOrder.
// Counts need no cause, so the pattern's edges are ranked instead, and a match is counted from the first of its edges that the
// batch changed: edges before the anchor are unchanged ones, those after it any of the graph. Then what a vertex offers does not
// depend on the update.
enum Rule : u32 { kByOrder = 0, kUnchanged = 1, kAnyEdge = 2, kInView = 3 };

struct Back {
    u32 step, label, dir, edge;
    u32 rule, unused;
};

struct Step {
    u32 vertex;     // pattern vertex
    u32 word, unused;
    u64 mask;       // of the candidate bits' word
    u32 clash;      // steps whose vertices may coincide with this one's
    u32 above;      // steps whose vertices must have lower ids: symmetry
    u32 below;      // steps whose vertices must have higher ids
    u32 back, backs;  // first and number of its back edges
};

// Leaf is a group of alike leaves, which a count multiplies: how many, the step of one of them, and the column of the memo.
struct Leaf {
    u32 step, size, column, unused;
};

struct Program {
    u32 mode;
    u32 steps, start;   // number of steps, and the first that is not mapped by the task: 1 or 2
    u32 leaves;         // first of the steps that are counted as leaves; steps when there are none
    u32 groups;         // of leaves
    u32 anchor;         // pattern edge, or kNone
    u32 vertices, edges;
    Step step[kMaxSteps];
    Back back[kMaxBacks];
    Leaf leaf[kMaxSteps];
};
