// The kernels with conditions, compiled for the emulator. They are the same code as those without, so they are compiled
// apart.
#define MOTIFD_EMULATE
#include "../spacejoin.cu"
#include "../wbmflatwhere.cu"
#include "../wbmrowswhere.cu"
#include "../wbmwhere.cu"
