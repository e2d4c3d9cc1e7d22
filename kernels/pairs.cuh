// The pairs of vertices that edges join, as a Bloom filter of two bits a pair, both in one word, so that a test reads
// one word (blocked: Putze, Sanders and Singler 2007; DESIGN A29). A pair that is not in the filter has no edge. One
// that is in it may have none: two pairs may have the same bits, and an edge that goes leaves its bits.
#pragma once
#include "device.cuh"

// Pair is where a pair of vertices is in a filter: in which word, and which bits.
struct Pair {
    u32 word, bits;
};

// pairOf returns the Pair of two vertices in any order, in a filter of mask+1 words, a power of two. Word and bits come
// from two hashes: from one of 32 bits, a word of a large filter would have few combinations of bits.
FN Pair pairOf(u32 u, u32 v, u32 mask) {
    u32 a = u < v ? u : v, b = u < v ? v : u;
    u32 h = a * 0x9e3779b1u + b, k = b * 0x27d4eb2fu + a;
    h = (h ^ h >> 15) * 0x85ebca77u;
    k = (k ^ k >> 15) * 0x165667b1u;
    h = (h ^ h >> 13) * 0xc2b2ae3du;
    k = (k ^ k >> 13) * 0x9e3779b1u;
    h ^= h >> 16;
    return Pair{h & mask, 1u << (k >> 27) | 1u << (k >> 22 & 31)};
}

// addPair adds a pair to a filter, and reports whether it was not in it.
FN bool addPair(u32* pairs, u32 mask, u32 u, u32 v) {
    Pair p = pairOf(u, v, mask);
    bool fresh = (peek(&pairs[p.word]) & p.bits) != p.bits;
    if (fresh) setBits(&pairs[p.word], p.bits);
    return fresh;
}
