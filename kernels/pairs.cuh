// The pairs of vertices that edges join, as a Bloom filter of two bits a pair, both in one word, so that a test reads
// one word (blocked: Putze, Sanders and Singler 2007; DESIGN A29). A pair that is not in the filter has no edge. One
// that is in it may have none: two pairs may have the same bits, and an edge that goes leaves its bits.
#pragma once
#include "device.cuh"

// Pair is where a pair of vertices is in a filter: in which word, and which bits.
struct Pair {
    u32 word, bits;
};

// pairOf returns the Pair of two vertices in any order, in a filter of mask+1 words, a power of two.
FN Pair pairOf(u32 u, u32 v, u32 mask) {
    u32 h = (u < v ? u : v) * 0x9e3779b1u + (u < v ? v : u);
    h = (h ^ h >> 15) * 0x85ebca77u;
    h = (h ^ h >> 13) * 0xc2b2ae3du;
    h ^= h >> 16;
    u32 b = h * 0x27d4eb2fu;
    return Pair{h & mask, 1u << (b >> 27) | 1u << (b >> 22 & 31)};
}

// addPair adds a pair to a filter.
FN void addPair(u32* pairs, u32 mask, u32 u, u32 v) {
    Pair p = pairOf(u, v, mask);
    if ((peek(&pairs[p.word]) & p.bits) != p.bits) setBits(&pairs[p.word], p.bits);
}
