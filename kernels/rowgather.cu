// rowgather writes rows in order.
#include "rows.cuh"

KERNEL(rowgather, RowGather, kRowThreads) { gather(p); }
