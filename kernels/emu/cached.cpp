// The kernels of a cache, compiled for the emulator. They are the same code as those without, so they are compiled
// apart.
#define MOTIFD_EMULATE
#include "../wbmcached.cu"
#include "../wbmrowscached.cu"
