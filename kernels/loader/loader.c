// libcuda.a: the driver's functions, found when the program starts, so that one program runs with and without a
// driver and says what is missing. headers.sh makes forward.h from cuda.h: FORWARD(index, function) for every
// function but cuInit.
#include <dlfcn.h>
#include <stddef.h>

enum { kNoDevice = 100, kNotSupported = 801 };

#define FORWARD(i, name) #name,
static const char *const names[] = {
#include "forward.h"
};
#undef FORWARD

enum { kFunctions = sizeof names / sizeof names[0] };

static int noDriver(void) { return kNoDevice; }
static int tooOld(void) { return kNotSupported; }

// motifdForward holds where each function is; the functions below jump there.
__attribute__((visibility("hidden"))) void *motifdForward[kFunctions] = {[0 ... kFunctions - 1] = (void *)noDriver};

#if defined(__x86_64__)
#define FORWARD(i, name) \
    __asm__(".text\n.globl " #name "\n.type " #name ",@function\n" #name ": jmp *motifdForward+8*" #i \
            "(%rip)\n.size " #name ",.-" #name "\n");
#elif defined(__aarch64__)
#define FORWARD(i, name)                                                                                  \
    __asm__(".text\n.globl " #name "\n.type " #name ",%function\n" #name ": adrp x16, motifdForward+8*" #i \
            "\nldr x16, [x16, #:lo12:motifdForward+8*" #i "]\nbr x16\n.size " #name ",.-" #name "\n");
#else
#error "no forwarding to the CUDA driver for this processor"
#endif
#include "forward.h"

static int initialised = kNoDevice;
static const char *missing;

// cuInit finds the driver and initialises it. It always succeeds: gorgonia.org/cu calls it before main and would end
// the program. What came of it is motifdDriver's to tell.
int cuInit(unsigned flags) {
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);
    if (lib == NULL) {
        missing = dlerror();
        return 0;
    }
    int (*init)(unsigned) = (int (*)(unsigned))dlsym(lib, "cuInit");
    if (init == NULL) {
        missing = "libcuda.so.1 has no cuInit";
        return 0;
    }
    for (int i = 0; i < kFunctions; i++) {
        void *f = dlsym(lib, names[i]);
        motifdForward[i] = f != NULL ? f : (void *)tooOld;
    }
    initialised = init(flags);
    return 0;
}

// motifdDriver returns what the driver's cuInit returned. When there is none it says why.
int motifdDriver(const char **why) {
    *why = missing;
    return initialised;
}
