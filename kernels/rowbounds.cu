// rowbounds finds where groups begin.
#include "rows.cuh"

KERNEL(rowbounds, RowBounds, kRowThreads) { findBounds(p); }
