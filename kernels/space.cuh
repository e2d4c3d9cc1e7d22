// The candidate space of a search of a whole graph: by vertex, a bit for each position of the matching order that the
// vertex is a candidate of. Semi-joins take bits away, from the last back edge of the order to the first one (EGSM
// section 4.1, third filter; DESIGN A27). A search that takes its candidates from the space meets fewer dead ends, and
// none where the pattern is a tree whose vertices have different labels.
#pragma once
#include "admission.cuh"
#include "search.cuh"

struct Space {
    Graph graph;
    const Program* program;
    u64* space;    // by vertex
    u32 vertices;  // all ids are below it
    u32 back;      // of a semi-join: the back edge
};
LAYOUT_space
