// A stable radix sort of pairs, least significant digit first, 8 bits a pass (Merrill and Grimshaw 2011). A pass counts
// the digits of every block's part, scans the counts, and scatters. Ranks are computed in warps, from ballots, so that
// equal keys keep their order.
#pragma once
#include "warp.cuh"

// A digit of 8 bits has 256 values, one for each thread of a block. Not tuned otherwise.
constexpr u32 kSortThreads = 256, kSortWarps = kSortThreads / kWarp;
constexpr u32 kSortItems = 16;  // of a thread: the keys of a tile take 32 KiB of shared memory
constexpr u32 kSortTile = kSortThreads * kSortItems;
constexpr u32 kDigits = 256;    // as many as a block has threads

struct Sort {
    const u64* keys;
    const u32* values;
    u64* keysOut;
    u32* valuesOut;
    u32* counts;      // by digit and block; then, by digit, totals
    u32 n, shift;     // of the pass
    u32 bits, tiles;  // bits: of this pass or, in a single block, of all; tiles: of a block's part
};
LAYOUT_sort

struct SortBlock {
    u32 count[kSortWarps][kDigits];  // by warp and digit: how many of the tile; then, how many in warps before
    u32 start[kDigits];              // by digit: how many in the tile are lower
    u32 base[kDigits];               // by digit: where the next of it goes
    u32 sum[kSortWarps];
    union {
        u64 key[kSortTile];
        u32 value[kSortTile];
    };
};

// digitOf returns the digit that a pass looks at, of up to 8 bits.
FN u32 digitOf(u64 key, u32 shift, u32 bits) { return (u32)(key >> shift) & ((1u << bits) - 1); }

// itemOf returns the index of a thread's item in the tile. The items of a warp are adjacent.
FN u32 itemOf(u32 i) { return (warpInBlock() * kSortItems + i) * kWarp + laneId(); }

// scanBlock returns the sum of x of the threads before.
FN u32 scanBlock(SortBlock& s, u32 x) {
    u32 sum = x;
    for (u32 d = 1; d < kWarp; d *= 2) {
        u32 other = shuffle(sum, laneId() - d);
        if (laneId() >= d) sum += other;
    }
    if (laneId() == kWarp - 1) s.sum[warpInBlock()] = sum;
    blockSync();
    u32 before = sum - x;
    for (u32 w = 0; w < warpInBlock(); w++) before += s.sum[w];
    blockSync();
    return before;
}

// peers returns which lanes have the same digit.
FN u32 peers(u32 digit) {
    u32 same = kAll;
    for (u32 b = 0; b < 8; b++) {
        u32 set = vote(digit >> b & 1);
        same &= digit >> b & 1 ? set : ~set;
    }
    return same;
}

// rankTile finds the rank of every item in the tile in order of its digits, and returns the number of items with digit
// threadInBlock().
FN u32 rankTile(SortBlock& s, const u32 (&digit)[kSortItems], u32 (&rank)[kSortItems]) {
    u32* count = s.count[warpInBlock()];
    for (u32 d = laneId(); d < kDigits; d += kWarp) count[d] = 0;
    warpSync();
#pragma unroll
    for (u32 i = 0; i < kSortItems; i++) {
        u32 same = peers(digit[i]), before = count[digit[i]];
        warpSync();
        rank[i] = before + popcount(same & lanesBelow());
        if ((same & lanesBelow()) == 0) count[digit[i]] = before + popcount(same);
        warpSync();
    }
    blockSync();
    u32 d = threadInBlock(), total = 0;
    for (u32 w = 0; w < kSortWarps; w++) {
        u32 n = s.count[w][d];
        s.count[w][d] = total;
        total += n;
    }
    s.start[d] = scanBlock(s, total);
    blockSync();
#pragma unroll
    for (u32 i = 0; i < kSortItems; i++) rank[i] += s.start[digit[i]] + count[digit[i]];
    return total;
}

// partOf returns the items that a block counts and scatters.
FN void partOf(const Sort& p, u32& begin, u32& end) {
    u64 from = (u64)blockOf() * p.tiles * kSortTile, to = from + (u64)p.tiles * kSortTile;
    begin = from < p.n ? (u32)from : p.n;
    end = to < p.n ? (u32)to : p.n;
}

// countDigits counts the digits of the block's part.
FN void countDigits(const Sort& p, u32 (&count)[kDigits]) {
    u32 begin, end, t = threadInBlock();
    partOf(p, begin, end);
    count[t] = 0;
    blockSync();
#pragma unroll 4
    for (u32 i = begin + t; i < end; i += kSortThreads) add(&count[digitOf(p.keys[i], p.shift, p.bits)], 1);
    blockSync();
    p.counts[t * gridBlocks() + blockOf()] = count[t];
}

// scanDigit replaces the counts of a digit by the sums over the blocks before, and writes the total after the counts. A
// warp calls it; parts is the number of blocks that counted.
FN void scanDigit(u32* counts, u32 digit, u32 parts) {
    u32 sum = 0;
    for (u32 at = 0; at < parts; at += kWarp) {
        u32 i = at + laneId(), n = i < parts ? counts[digit * parts + i] : 0, x = n;
        for (u32 d = 1; d < kWarp; d *= 2) {
            u32 other = shuffle(x, laneId() - d);
            if (laneId() >= d) x += other;
        }
        if (i < parts) counts[digit * parts + i] = sum + x - n;
        sum += shuffle(x, kWarp - 1);
    }
    if (laneId() == 0) counts[kDigits * parts + digit] = sum;
}

// scatter moves the block's part to its positions after the pass, tile by tile, through shared memory, so that equal
// digits are written to adjacent addresses.
FN void scatter(const Sort& p, SortBlock& s) {
    u32 begin, end, t = threadInBlock();
    partOf(p, begin, end);
    u32 lower = scanBlock(s, p.counts[kDigits * gridBlocks() + t]);
    s.base[t] = lower + p.counts[t * gridBlocks() + blockOf()];
    u32 digit[kSortItems], rank[kSortItems], to[kSortItems];
    for (u32 tile = begin; tile < end; tile += kSortTile) {
        u32 n = end - tile < kSortTile ? end - tile : kSortTile;
        u64 key[kSortItems];
        u32 value[kSortItems];
#pragma unroll
        for (u32 i = 0; i < kSortItems; i++) {
            bool real = itemOf(i) < n;  // padding sorts last and is not written
            key[i] = real ? p.keys[tile + itemOf(i)] : 0;
            value[i] = real ? p.values[tile + itemOf(i)] : 0;
            digit[i] = real ? digitOf(key[i], p.shift, p.bits) : kDigits - 1;
        }
        u32 total = rankTile(s, digit, rank);
#pragma unroll
        for (u32 i = 0; i < kSortItems; i++) s.key[rank[i]] = key[i];
        blockSync();
#pragma unroll
        for (u32 i = 0; i < kSortItems; i++) {
            u32 at = i * kSortThreads + t;
            if (at >= n) continue;
            u64 k = s.key[at];
            u32 d = digitOf(k, p.shift, p.bits);
            to[i] = s.base[d] + at - s.start[d];
            p.keysOut[to[i]] = k;
        }
        blockSync();
#pragma unroll
        for (u32 i = 0; i < kSortItems; i++) s.value[rank[i]] = value[i];
        blockSync();
#pragma unroll
        for (u32 i = 0; i < kSortItems; i++) {
            u32 at = i * kSortThreads + t;
            if (at < n) p.valuesOut[to[i]] = s.value[at];
        }
        s.base[t] += total;
        blockSync();
    }
}

// sortTile does all passes of a sort of one tile.
FN void sortTile(const Sort& p, SortBlock& s) {
    u64 key[kSortItems];
    u32 value[kSortItems], digit[kSortItems], rank[kSortItems];
#pragma unroll
    for (u32 i = 0; i < kSortItems; i++) {
        bool real = itemOf(i) < p.n;
        key[i] = real ? p.keys[itemOf(i)] : 0;
        value[i] = real ? p.values[itemOf(i)] : 0;
    }
    for (u32 shift = 0; shift < p.bits; shift += 8) {
        u32 bits = p.bits - shift < 8 ? p.bits - shift : 8;
#pragma unroll
        for (u32 i = 0; i < kSortItems; i++) digit[i] = itemOf(i) < p.n ? digitOf(key[i], shift, bits) : kDigits - 1;
        rankTile(s, digit, rank);
#pragma unroll
        for (u32 i = 0; i < kSortItems; i++) s.key[rank[i]] = key[i];
        blockSync();
#pragma unroll
        for (u32 i = 0; i < kSortItems; i++) key[i] = s.key[itemOf(i)];
        blockSync();
#pragma unroll
        for (u32 i = 0; i < kSortItems; i++) s.value[rank[i]] = value[i];
        blockSync();
#pragma unroll
        for (u32 i = 0; i < kSortItems; i++) value[i] = s.value[itemOf(i)];
        blockSync();
    }
#pragma unroll
    for (u32 i = 0; i < kSortItems; i++) {
        if (itemOf(i) >= p.n) continue;
        p.keysOut[itemOf(i)] = key[i];
        p.valuesOut[itemOf(i)] = value[i];
    }
}
