// spacemark begins a space: the candidates of each position are those that pass the filter.
#include "space.cuh"

KERNEL(spacemark, Space, 256) {
    for (u32 v = blockOf() * blockThreads() + threadInBlock(); v < p.vertices; v += gridBlocks() * blockThreads()) {
        u64 of = 0;
        for (u32 i = 0; i < p.program->steps; i++) {
            const Step& st = p.program->step[i];
            if (st.vertex != kNone && passes(p.graph, st, v)) of |= (u64)1 << st.position;
        }
        p.space[v] = of;
    }
}
