// tasks writes the tasks of a search. The tasks of a run have the same program and group, and adjacent net edges.
#include "state.cuh"

struct Run {
    u32 first;  // number of its first task
    u32 net;    // where its net edges are
    u32 program, group;
};

struct Runs {
    const Run* run;  // ascending; the first begins with task 0
    const u32* net;
    Task* task;
    u32 runs, tasks;
};
LAYOUT_tasks

KERNEL(tasks, Runs, 256) {
    for (u32 i = blockOf() * blockThreads() + threadInBlock(); i < p.tasks; i += gridBlocks() * blockThreads()) {
        u32 lo = 0, hi = p.runs - 1;
        while (lo < hi) {
            u32 mid = (lo + hi + 1) / 2;
            if (p.run[mid].first <= i)
                lo = mid;
            else
                hi = mid - 1;
        }
        Run r = p.run[lo];
        p.task[i] = Task{r.program, p.net[r.net + (i - r.first)], r.group};
    }
}
