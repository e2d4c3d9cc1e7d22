// Entries in order are laid out in leaves, evenly by the slots that they take: one each, and one for each row in a
// leaf.
#pragma once
#include "gpma.cuh"

// Entries are n entries in order, those with the indexes in of, or with the indexes from 0 on if that is null.
struct Entries {
    const u64* row;
    const u32* nbr;
    const u32* ent;
    const u32* of;
    u32 n;
};

FN u32 indexOf(const Entries& e, u32 i) { return e.of != nullptr ? e.of[i] : i; }

// takes returns the slots that an entry takes, if it is not the first of a leaf.
FN u32 takes(const Entries& e, u32 i) {
    return i == 0 || e.row[indexOf(e, i)] != e.row[indexOf(e, i - 1)] ? 2 : 1;
}

// slotsOf returns the slots that entries take in one leaf. A block calls it.
FN u32 slotsOf(u32* sums, const Entries& e) {
    u32 n = 0, total;
    for (u32 i = threadInBlock(); i < e.n; i += kThreads) n += takes(e, i);
    blockScan(sums, n, total);
    return total;
}

// layOut writes entries, which take a number of slots, to the leaves [a, b). Each gets the entries that begin in its
// share of these slots: no more than the share, a slot for the end of the last one, and one for the row that its first
// one has from the leaf before. A share of two slots is enough for an entry. firsts has room for a number by leaf. The
// fences of leaves up to keep stay. A block calls it.
FN void layOut(const Slots& to, const Entries& e, u32* sums, u32* firsts, u32 slots, u32 a, u32 b, u32 keep) {
    u32 leaves = b - a;
    if (threadInBlock() == 0) firsts[0] = 0;
    for (u32 t = 0, carry = 0; t < e.n; t += kThreads) {
        u32 i = t + threadInBlock(), size = i < e.n ? takes(e, i) : 0, total;
        u32 at = carry + blockScan(sums, size, total);
        u32 leaf = (u32)((u64)at * leaves / slots), next = (u32)((u64)(at + size) * leaves / slots);
        if (next != leaf && next < leaves) firsts[next] = i + 1;
        carry += total;
    }
    blockSync();
    for (u32 leaf = a + warpInBlock(); leaf < b; leaf += kThreads / kWarp) {
        u32 from = firsts[leaf - a], end = leaf + 1 < b ? firsts[leaf + 1 - a] : e.n;
        u64 runs = 0;
        for (u32 k = 0; k < 2; k++) {
            u32 i = from + laneId() + k * kWarp;
            runs |= (u64)vote(i < end && (i == from || takes(e, i) > 1)) << (k * kWarp);
        }
        for (u32 k = 0; k < 2; k++) {
            u32 x = laneId() + k * kWarp;
            if (x >= end - from) continue;
            u32 i = indexOf(e, from + x);
            to.nbr[slotAt(leaf, x)] = e.nbr[i];
            to.ent[slotAt(leaf, x)] = e.ent[i];
            if (runs >> x & 1) putRow(to, leaf, runs, x, e.row[i]);
            if (x == 0 && leaf > keep) {
                to.fenceRow[leaf] = e.row[i];
                to.fenceNbr[leaf] = e.nbr[i];
            }
        }
        if (laneId() == 0) {
            to.count[leaf] = to.will[leaf] = end - from;
            to.used[leaf] = end - from + popcount(runs);
            to.runs[leaf] = runs;
        }
    }
    blockSync();
}

// pieces returns the number of pieces of the entries in scratch. Each is laid out in leaves of its own.
FN u32 pieces(const Gpma& p) { return (p.to - p.from + kPiece - 1) / kPiece; }

// pieceOf returns a piece of the entries in scratch.
FN Entries pieceOf(const Gpma& p, u32 k) {
    u32 n = p.to - p.from, begin = shareOf(n, k, pieces(p)), end = shareOf(n, k + 1, pieces(p));
    if (p.sorted) return Entries{p.scratchRow, p.scratchNbr, p.scratchEnt, p.sortedVal + begin, end - begin};
    return Entries{p.scratchRow + begin, p.scratchNbr + begin, p.scratchEnt + begin, nullptr, end - begin};
}
