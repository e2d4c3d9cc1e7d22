// Exact counts in 128 bits. A larger count is the largest number (matcher.Count).
#pragma once
#include "state.cuh"

constexpr u128 kMost = ~(u128)0;

FN u128 plus(u128 a, u128 b) {
    u128 c = a + b;
    return c < a ? kMost : c;
}

FN u128 times(u128 a, u64 b) {
    if (b == 0) return 0;
    u128 low = (u128)(u64)a * b, high = (u128)(u64)(a >> 64) * b;
    if (a == kMost || high >> 64 != 0) return kMost;
    u128 c = low + (high << 64);
    return c < low ? kMost : c;
}

// timesWays returns a number times that of the ways to choose size things of n, one after the other.
FN u128 timesWays(u128 total, u32 n, u32 size) {
    if (n < size) return 0;
    for (u32 k = 0; total != 0 && k < size; k++) total = times(total, n - k);
    return total;
}

// warpTotal returns the sum over the lanes.
FN u128 warpTotal(u128 n) {
    for (u32 d = kWarp / 2; d > 0; d /= 2) {
        u128 other = 0;
        for (u32 i = 0; i < 4; i++) other |= (u128)shuffleXor((u32)(n >> 32 * i), d) << 32 * i;
        n = plus(n, other);
    }
    return n;
}

// deliver adds the count of a warp to the tally of its request.
FN void deliver(Tally& t, u128 n, u64 steps) {
    n = warpTotal(n);
    if (laneId() != 0) return;
    if (steps != 0) add(&t.steps, steps);
    if (n == 0) return;
    u64 low = (u64)n, high = (u64)(n >> 64);
    u64 was = add(&t.low, low);
    u64 carry = was + low < was;
    if (high + carry < high) exchange(&t.over, 1);
    high += carry;
    if (high == 0) return;
    was = add(&t.high, high);
    if (was + high < was) exchange(&t.over, 1);
}
