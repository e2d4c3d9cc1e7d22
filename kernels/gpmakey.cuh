// Keys that sort in the order of entries, with as few bits as the ids and labels need.
#pragma once
#include "gpma.cuh"

FN u64 rowKeyOf(const Gpma& p, u32 v, u32 dir, u32 kind) {
    return ((p.dirs > 1 ? (u64)v << 1 | dir : v) << p.labelBits | kind >> p.nbrBits) << p.nbrUsed |
        nbrPart(kind, p.nbrBits);
}

FN u64 keyOf(const Gpma& p, u32 v, u32 dir, u32 kind, u32 nbr) { return rowKeyOf(p, v, dir, kind) << p.idBits | nbr; }
