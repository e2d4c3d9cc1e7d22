// spacejoinranges is spacejoin in a graph with ranges.
#define MOTIFD_WHERE
#define MOTIFD_RANGES
#include "space.cuh"

KERNEL(spacejoinranges, Space, 256) { join(p); }
