// A small emulator of warps, so that the kernels run where there is no GPU. It is test scaffolding. Every thread of a
// grid is a fiber; a fiber runs until it meets its warp or block, or touches an atomic; who runs next is drawn from a
// seeded generator. A missing synchronisation therefore shows, and a diverged one ends the program with a message.
#pragma once
#include <cstring>
#include <initializer_list>

namespace emu {
enum Meeting { kSync, kBallot, kShuffle, kShuffleXor };
u32 thread();
u32 block();
u32 threads();
u32 blocks();
// meet waits until all lanes of the warp are here and returns what each of them brought.
const u32* meet(Meeting kind, u32 value);
void meetBlock();
void yield();
// maybeYield yields one time in n.
void maybeYield(u32 n);
void* shared(unsigned long bytes);
typedef void (*Entry)(const void* params);
struct Kernel {
    Kernel(const char* name, unsigned long params, Entry entry);
};
}  // namespace emu

#define FN static inline
#define __device__
#define KERNEL(name, Params, ...)                                                 \
    static void name(const Params p);                                             \
    static emu::Kernel name##Kernel(#name, sizeof(Params),                        \
                                    [](const void* p) { name(*(const Params*)p); }); \
    static void name(const Params p)
#define SHARED(T, name) T& name = *static_cast<T*>(emu::shared(sizeof(T)))

FN u32 threadInBlock() { return emu::thread(); }
FN u32 blockOf() { return emu::block(); }
FN u32 blockThreads() { return emu::threads(); }
FN u32 gridBlocks() { return emu::blocks(); }
FN void blockSync() { emu::meetBlock(); }
FN void warpSync() { emu::meet(emu::kSync, 0); }
FN u32 vote(bool x) {
    const u32* all = emu::meet(emu::kBallot, x);
    u32 b = 0;
    for (u32 i = 0; i < kWarp; i++) b |= all[i] << i;
    return b;
}
FN u32 shuffle(u32 x, u32 lane) { return emu::meet(emu::kShuffle, x)[lane % kWarp]; }
FN u32 shuffleXor(u32 x, u32 mask) { return emu::meet(emu::kShuffleXor, x)[(emu::thread() ^ mask) % kWarp]; }
FN u32 popcount(u32 x) { return __builtin_popcount(x); }
FN u32 popcount(u64 x) { return __builtin_popcountll(x); }
FN u32 lowestBit(u32 x) { return __builtin_ctz(x); }

// To ThreadSanitizer, a compareSwap takes a lock, an exchange gives it back, what is posted goes with what was
// written before, and additions and what is agreed on order nothing.
template <class T>
FN T addTo(T* a, T x) {
    emu::maybeYield(4);
    return __atomic_fetch_add(a, x, __ATOMIC_RELAXED);
}
FN u32 add(u32* a, u32 x) { return addTo(a, x); }
FN u64 add(u64* a, u64 x) { return addTo(a, x); }
FN void setBits(u32* a, u32 x) {
    emu::maybeYield(4);
    __atomic_fetch_or(a, x, __ATOMIC_RELAXED);
}
FN u32 exchange(u32* a, u32 x) {
    emu::maybeYield(4);
    return __atomic_exchange_n(a, x, __ATOMIC_RELEASE);
}
FN u32 compareSwap(u32* a, u32 was, u32 x) {
    emu::maybeYield(4);
    __atomic_compare_exchange_n(a, &was, x, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
    return was;
}
FN void fenceBlock() {}
FN void fence() {}
FN void pause(u32) { emu::yield(); }
template <class T>
FN T peek(const T* a) {
    emu::maybeYield(8);
    return __atomic_load_n(a, __ATOMIC_ACQUIRE);
}
template <class T>
FN void postTo(T* a, T x) {
    __atomic_store_n(a, x, __ATOMIC_RELEASE);
    emu::maybeYield(8);
}
FN void post(u32* a, u32 x) { postTo(a, x); }
FN void post(u64* a, u64 x) { postTo(a, x); }
FN void agree(u32* a, u32 x) { __atomic_store_n(a, x, __ATOMIC_RELAXED); }
