// All kernels, compiled for the emulator.
#define MOTIFD_EMULATE
#include "../patch.cu"
#include "../spans.cu"
#include "../wbm.cu"
