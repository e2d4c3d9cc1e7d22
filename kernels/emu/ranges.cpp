// The kernels for graphs with ranges, but that for rows, compiled for the emulator, apart from those without.
#define MOTIFD_EMULATE
#include "../spacejoinranges.cu"
#include "../wbmflatranges.cu"
#include "../wbmranges.cu"
