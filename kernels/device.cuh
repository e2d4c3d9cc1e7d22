// The little of CUDA that the kernels use, so that clang compiles them without NVIDIA's headers, nvcc with them, and a
// host compiler under the emulator (emu/emu.h).
#pragma once

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
typedef unsigned __int128 u128;
typedef __int128 i128;

#include "layouts.cuh"

constexpr u32 kWarp = 32;  // lanes, on every device so far
constexpr u32 kAll = 0xffffffffu;
LAYOUT_device

#if defined(MOTIFD_EMULATE)
#include "emu/emu.h"
#else

#if defined(__NVCC__)
#include <cuda_runtime.h>
#else
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ inline __attribute__((always_inline))
#endif

// KERNEL declares a kernel with the threads of a block and, where that is to bound registers, the blocks a
// multiprocessor holds at least.
#define KERNEL(name, Params, ...) extern "C" __global__ void __launch_bounds__(__VA_ARGS__) name(const Params p)
#define FN __device__ __forceinline__
// SHARED declares one object in the block's shared memory.
#define SHARED(T, name)                                 \
    __shared__ __attribute__((aligned(16))) u8 name##Mem[sizeof(T)]; \
    T& name = *reinterpret_cast<T*>(name##Mem)

#if defined(__NVCC__)
FN u32 threadInBlock() { return threadIdx.x; }
FN u32 blockOf() { return blockIdx.x; }
FN u32 blockThreads() { return blockDim.x; }
FN u32 gridBlocks() { return gridDim.x; }
FN void blockSync() { __syncthreads(); }
FN void warpSync() { __syncwarp(); }
FN u32 vote(bool x) { return __ballot_sync(kAll, x); }
FN u32 shuffle(u32 x, u32 lane) { return __shfl_sync(kAll, x, lane); }
FN u32 shuffleXor(u32 x, u32 mask) { return __shfl_xor_sync(kAll, x, mask); }
FN u32 popcount(u32 x) { return __popc(x); }
FN u32 popcount(u64 x) { return __popcll(x); }
FN u32 lowestBit(u32 x) { return __ffs(x) - 1; }
FN u32 add(u32* a, u32 x) { return atomicAdd(a, x); }
FN u64 add(u64* a, u64 x) { return atomicAdd(a, x); }
FN void setBits(u32* a, u32 x) { atomicOr(a, x); }
FN u32 exchange(u32* a, u32 x) { return atomicExch(a, x); }
FN u32 compareSwap(u32* a, u32 was, u32 x) { return atomicCAS(a, was, x); }
FN void fenceBlock() { __threadfence_block(); }
FN void fence() { __threadfence(); }
FN void pause(u32 ns) { __nanosleep(ns); }
#else
FN u32 threadInBlock() { return __nvvm_read_ptx_sreg_tid_x(); }
FN u32 blockOf() { return __nvvm_read_ptx_sreg_ctaid_x(); }
FN u32 blockThreads() { return __nvvm_read_ptx_sreg_ntid_x(); }
FN u32 gridBlocks() { return __nvvm_read_ptx_sreg_nctaid_x(); }
FN void blockSync() { __nvvm_bar_sync(0); }
FN void warpSync() { __nvvm_bar_warp_sync(kAll); }
FN u32 vote(bool x) { return __nvvm_vote_ballot_sync(kAll, x); }
FN u32 shuffle(u32 x, u32 lane) { return __nvvm_shfl_sync_idx_i32(kAll, x, lane, 31); }
FN u32 shuffleXor(u32 x, u32 mask) { return __nvvm_shfl_sync_bfly_i32(kAll, x, mask, 31); }
FN u32 popcount(u32 x) { return __builtin_popcount(x); }
FN u32 popcount(u64 x) { return __builtin_popcountll(x); }
FN u32 lowestBit(u32 x) { return __builtin_ctz(x); }
FN u32 add(u32* a, u32 x) { return __nvvm_atom_add_gen_i((int*)a, x); }
FN u64 add(u64* a, u64 x) { return __nvvm_atom_add_gen_ll((long long*)a, x); }
FN void setBits(u32* a, u32 x) { __nvvm_atom_or_gen_i((int*)a, x); }
FN u32 exchange(u32* a, u32 x) { return __nvvm_atom_xchg_gen_i((int*)a, x); }
FN u32 compareSwap(u32* a, u32 was, u32 x) { return __nvvm_atom_cas_gen_i((int*)a, was, x); }
FN void fenceBlock() { __nvvm_membar_cta(); }
FN void fence() { __nvvm_membar_gl(); }
FN void pause(u32 ns) { asm volatile("nanosleep.u32 %0;" ::"r"(ns)); }
#endif

// peek reads what other warps write, past the compiler and the first-level cache.
FN u32 peek(const u32* a) { return *(const volatile u32*)a; }
FN u64 peek(const u64* a) { return *(const volatile u64*)a; }
FN void post(u32* a, u32 x) { *(volatile u32*)a = x; }
FN void post(u64* a, u64 x) { *(volatile u64*)a = x; }
// agree writes what others may write at the same time: the same.
FN void agree(u32* a, u32 x) { *a = x; }
#endif
