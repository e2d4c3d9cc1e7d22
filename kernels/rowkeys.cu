// rowkeys makes a key of some columns of each row.
#include "rows.cuh"

KERNEL(rowkeys, RowKeys, kRowThreads) { makeKeys(p); }
