// spacejoin is a semi-join of a space along one back edge.
#define MOTIFD_WHERE
#include "space.cuh"

KERNEL(spacejoin, Space, 256) { join(p); }
