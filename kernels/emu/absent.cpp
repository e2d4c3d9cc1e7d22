// The kernel with negations, compiled for the emulator. It is the same code as those without, so it is compiled apart.
#define MOTIFD_EMULATE
#include "../wbmrowsabsent.cu"
