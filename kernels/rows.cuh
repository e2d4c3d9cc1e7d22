// Sorting of rows: find the bits in which columns differ, make keys of these bits, sort, and gather the rows. A row is
// its group, then vertices and edges in pattern order. Groups are numbered in the order of the output.
#pragma once
#include "warp.cuh"

constexpr u32 kRowThreads = 256;  // not tuned
constexpr u32 kMaxStride = 128;  // words of a row: group, 32 vertices and 64 edges take 97
constexpr u32 kMaxFields = 32;   // of a key of 64 bits, with two bits each on average; others go to the next key

struct RowBits {
    const u32* rows;
    u32* bits;  // by column: the bits in which some row differs from the first; zero before the kernel
    u32 n, stride;
};

// differing computes bits. Each thread reads words of one column.
FN void differing(const RowBits& p, u32 (&bits)[kMaxStride]) {
    u32 threads = gridBlocks() * blockThreads(), step = threads - threads % p.stride;
    u32 t = blockOf() * blockThreads() + threadInBlock(), column = t % p.stride;
    if (threadInBlock() < kMaxStride) bits[threadInBlock()] = 0;
    blockSync();
    u32 found = 0;
    if (t < step) {
        u32 first = p.rows[column];
#pragma unroll 4
        for (u64 i = t; i < (u64)p.n * p.stride; i += step) found |= p.rows[i] ^ first;
        if (found != 0) setBits(&bits[column], found);
    }
    blockSync();
    if (threadInBlock() < p.stride && bits[threadInBlock()] != 0)
        setBits(&p.bits[threadInBlock()], bits[threadInBlock()]);
}

struct RowKeys {
    const u32* rows;
    const u32* order;  // row numbers; null: 0, 1, ...
    u64* keys;
    u32* values;       // the rows
    u32 n, stride;
    u32 fields, unused;
    u32 field[kMaxFields];  // column and, from bit 8 on, the number of its low bits; the least significant first
};

FN void makeKeys(const RowKeys& p) {
    u32 step = gridBlocks() * blockThreads();
    for (u32 i = blockOf() * blockThreads() + threadInBlock(); i < p.n; i += step) {
        u32 row = p.order != nullptr ? p.order[i] : i, shift = 0;
        const u32* words = p.rows + (u64)row * p.stride;
        u64 key = 0;
        for (u32 k = 0; k < p.fields; k++) {
            u32 bits = p.field[k] >> 8;
            key |= (words[p.field[k] & 255] & (((u64)1 << bits) - 1)) << shift;
            shift += bits;
        }
        p.keys[i] = key;
        p.values[i] = row;
    }
}

struct RowBounds {
    const u64* keys;  // sorted, the group in the bits from shift on
    u32* first;       // by group: its first row; unchanged for groups without rows
    u32 n, shift;
    u32 group, mask;  // bits of the group that are equal in all rows, and bits that are in the key
};

FN void findBounds(const RowBounds& p) {
    u32 step = gridBlocks() * blockThreads();
    for (u32 i = blockOf() * blockThreads() + threadInBlock(); i < p.n; i += step) {
        u32 group = (u32)(p.keys[i] >> p.shift) & p.mask;
        if (i == 0 || ((u32)(p.keys[i - 1] >> p.shift) & p.mask) != group) p.first[p.group | group] = i;
    }
}

// Destination is where gather writes the rows of a group.
struct Destination {
    u64 word;
    u32 first, width;
};

struct RowGather {
    const u32* rows;
    const u32* order;
    u32* out;
    const Destination* destination;  // by group; null: all rows have one width
    u32 n, stride;
    u32 width, unused;
};
LAYOUT_rows

// gather writes the rows in order and without their groups. A warp writes 32 rows, to adjacent addresses.
FN void gather(const RowGather& p) {
    u32 warps = gridBlocks() * warpsInBlock(), lane = laneId();
    for (u64 from = (u64)(blockOf() * warpsInBlock() + warpInBlock()) * kWarp; from < p.n; from += (u64)warps * kWarp) {
        u32 m = p.n - from < kWarp ? p.n - (u32)from : kWarp;
        u32 mine = lane < m ? p.order[from + lane] : 0;
        if (p.destination == nullptr) {
            u32* out = p.out + from * p.width;
            u32 r = lane / p.width, c = lane % p.width;
            for (u32 i = 0; i < p.width; i++) {
                u32 row = shuffle(mine, r);
                if (r < m) out[i * kWarp + lane] = p.rows[(u64)row * p.stride + 1 + c];
                c += kWarp;
                while (c >= p.width) c -= p.width, r++;
            }
            continue;
        }
        for (u32 r = 0; r < m; r++) {
            const u32* row = p.rows + (u64)shuffle(mine, r) * p.stride;
            Destination g = p.destination[row[0]];
            u32* out = p.out + g.word + (from + r - g.first) * g.width;
            for (u32 c = lane; c < g.width; c += kWarp) out[c] = row[1 + c];
        }
        warpSync();
    }
}
