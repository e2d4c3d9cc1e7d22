// Warps: the unit that does one task (GAMMA section IV-C, warp-centric assignment).
#pragma once
#include "device.cuh"

FN u32 laneId() { return threadInBlock() & (kWarp - 1); }
FN u32 warpInBlock() { return threadInBlock() / kWarp; }
FN u32 warpsInBlock() { return blockThreads() / kWarp; }
FN u32 lanesBelow() { return (1u << laneId()) - 1; }

FN u32 warpMin(u32 x) {
    for (u32 d = kWarp / 2; d > 0; d /= 2) {
        u32 y = shuffleXor(x, d);
        x = y < x ? y : x;
    }
    return x;
}

FN u32 warpSum(u32 x) {
    for (u32 d = kWarp / 2; d > 0; d /= 2) x += shuffleXor(x, d);
    return x;
}

// sumBefore returns the sum of x of the lanes before; all lanes get the total.
FN u32 sumBefore(u32 x, u32& total) {
    u32 sum = x;
    for (u32 k = 1; k < kWarp; k *= 2) {
        u32 other = shuffle(sum, laneId() - k);
        if (laneId() >= k) sum += other;
    }
    total = shuffle(sum, kWarp - 1);
    return sum - x;
}

// shareOf returns the first item of part i, if n items are divided evenly into k parts.
FN u32 shareOf(u32 n, u32 i, u32 k) { return (u32)((u64)n * i / k); }

// broadcast returns the value of lane 0 in every lane.
FN u32 broadcast(u32 x) { return shuffle(x, 0); }

// peekWarp reads a word that other warps write, once for all lanes. After a fence by every lane, their earlier writes
// are visible too. Shuffles and votes do not order memory accesses, not even among the lanes of one warp: hence the
// barrier.
FN u32 peekWarp(const u32* a) {
    u32 saw = broadcast(laneId() == 0 ? peek(a) : 0);
    warpSync();
    return saw;
}

// swapWarp does one compareSwap for the warp and returns in every lane whether it succeeded. It orders memory like
// peekWarp.
FN bool swapWarp(u32* a, u32 was, u32 x) {
    bool made = broadcast(laneId() == 0 ? compareSwap(a, was, x) == was : 0) != 0;
    warpSync();
    return made;
}

// warpCopy copies words. No other warp may write the source or the destination meanwhile.
FN void warpCopy(u32* dst, const u32* src, u32 words) {
    for (u32 i = laneId(); i < words; i += kWarp) dst[i] = src[i];
    warpSync();
}

// A lock is a word in shared memory that a warp holds. Lane 0 acts for its warp.
FN void lockWarp(u32* lock) {
    if (laneId() == 0) {
        while (compareSwap(lock, 0, 1) != 0) pause(20);
        fenceBlock();
    }
    warpSync();
}

FN bool tryLockWarp(u32* lock) {
    bool got = swapWarp(lock, 0, 1);
    fenceBlock();
    return got;
}

FN void unlockWarp(u32* lock) {
    warpSync();
    if (laneId() == 0) {
        fenceBlock();
        exchange(lock, 0);
    }
    warpSync();
}
