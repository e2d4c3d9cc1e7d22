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

// join is a semi-join along one back edge: a candidate of its earlier position stays one if it has a neighbour that is
// a candidate of the later position. Conditions on the edge, and what the batch has staged, are not looked at: too many
// candidates stay, none too few. A warp takes 32 vertices at a time; its lanes find their lists, then all read each
// list together, until one of them sees a candidate.
FN void join(const Space& p) {
    const Back b = p.program->back[p.back];
    u32 warp = blockOf() * warpsInBlock() + warpInBlock(), step = gridBlocks() * warpsInBlock() * kWarp;
    for (u32 base = warp * kWarp; base < p.vertices; base += step) {
        u32 v = base + laneId();
        bool is = v < p.vertices && p.space[v] >> b.from & 1;
        Range mine = is ? reach(p.graph, v, b) : Range{0, 0};
        bool stays = false;
        for (u32 left = vote(mine.begin < mine.end); left != 0; left &= left - 1) {
            u32 lane = lowestBit(left), end = shuffle(mine.end, lane);
            Lists l = listsOf(p.graph, base + lane);
            bool found = false;
            for (u32 at = shuffle(mine.begin, lane); at < end && !found; at += kWarp) {
                u32 slot = at + laneId();
                bool hit = slot < end && holdsEntry(l, slot) && p.space[nbrAt(l, slot)] >> b.to & 1;
                found = vote(hit) != 0;
            }
            if (laneId() == lane) stays = found;
        }
        // Other warps read this word, but only its bit of the later position.
        if (is && !stays) p.space[v] &= ~((u64)1 << b.from);
    }
}
