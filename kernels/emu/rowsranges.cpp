// The kernel for rows of graphs with ranges, compiled for the emulator. It tests negations, so it is compiled apart.
#define MOTIFD_EMULATE
#include "../wbmrowsranges.cu"
