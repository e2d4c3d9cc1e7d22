// gpmamerge merges the operations into the leaves that stay within their limits, a warp for each leaf. The others are
// left to climb. Every lane has two slots in registers, and computes how far their entries move. They are put together
// in shared memory, where the warp counts the rows.
#include "gpma.cuh"

// Merged is a leaf as it will be, in shared memory.
struct Merged {
    u64 row[kLeaf];
    u32 nbr[kLeaf], ent[kLeaf];
};

struct Merging {
    Merged leaf[kThreads / kWarp];
};

// climbs leaves a leaf to climb, with its operations and the number of slots that it would use.
FN void climbs(const Gpma& p, u32 leaf, u32 begin, u32 end, u32 used) {
    if (laneId() == 0) {
        p.pending[add(&p.control->pending, 1)] = leaf;
        p.range[leaf] = OpRange{begin, end};
        p.a.used[leaf] = used | kClimbs;
    }
    warpSync();
}

// rowsAtMost returns an upper bound of the number of runs that a leaf would have: those that it has, and one for each
// run of operations that insert entries of a row that it has not.
FN u32 rowsAtMost(const Gpma& p, u32 leaf, u32 begin, u32 end) {
    u32 n = p.a.count[leaf];
    u64 runs = p.a.runs[leaf];
    u32 rows = popcount(runs);
    for (u32 t = begin; t < end; t += kWarp) {
        u32 i = t + laneId(), info = i < end ? p.info[i] : 0, at = info & kPosition;
        bool begins = false;
        if (info & kEnters) {
            u64 row, last;
            u32 nbr;
            entryOf(p, i, row, nbr);
            begins = (at == 0 || rowIn(p.a, leaf, runs, at - 1) != row) &&
                (at == n || rowIn(p.a, leaf, runs, at) != row);
            if (begins && i > begin && (p.info[i - 1] & kEnters)) {
                entryOf(p, i - 1, last, nbr);
                begins = last != row;
            }
        }
        rows += popcount(vote(begins));
    }
    return rows;
}

// mergeLeaf merges the operations of one leaf, from begin on.
FN void mergeLeaf(const Gpma& p, Merged& m, u32 leaf, u32 begin) {
    u32 lane = laneId(), i = begin + lane;
    u32 end = begin + popcount(vote(i < p.keys && p.at[i] == leaf));
    if (end == begin + kWarp) {
        u32 hi = p.keys;
        while (end < hi) {
            u32 mid = (end + hi) / 2;
            if (p.at[mid] == leaf)
                end = mid + 1;
            else
                hi = mid;
        }
    }
    u32 n = p.a.count[leaf], will = p.a.will[leaf];
    if (will >= kMaxLeaf || (will < kMinLeaf && p.a.leaves > 1)) {  // and it has a row
        u32 rows = rowsAtMost(p, leaf, begin, end);
        climbs(p, leaf, begin, end, will + (rows < will ? rows : will));
        return;
    }
    u32 least = kNone, from = begin;  // entries before position least stay where they are
    for (; from < end; from += kWarp) {
        i = from + lane;
        u32 info = i < end ? p.info[i] : 0, some = vote(info >= kEnters);
        least = shuffle(info & kPosition, some != 0 ? lowestBit(some) : 0);
        if (some != 0) break;
    }
    if (from >= end) return;
    u32 position[2], to[2];
    u64 first = slotAt(leaf, 0), row[2], runs = p.a.runs[leaf];
    u32 nbr[2], ent[2];
    bool stays[2];
    for (u32 k = 0; k < 2; k++) {
        position[k] = to[k] = lane + k * kWarp;
        stays[k] = position[k] < n;
        if (stays[k]) {
            row[k] = rowIn(p.a, leaf, runs, position[k]);
            nbr[k] = p.a.nbr[first + position[k]];
            ent[k] = p.a.ent[first + position[k]];
        }
    }
    u32 sum = 0;
    for (; from < end; from += kWarp) {
        i = from + lane;
        u32 info = i < end ? p.info[i] : 0, at = info & kPosition;
        u32 enters = vote((info & kEnters) != 0), goes = vote((info & kGoes) != 0);
        if (info & kEnters) {
            u32 x = at + sum + popcount(enters & lanesBelow()) - popcount(goes & lanesBelow());
            m.ent[x] = entryOf(p, i, m.row[x], m.nbr[x]).ent;
        }
        for (u32 todo = enters | goes; todo != 0; todo &= todo - 1) {
            u32 k = lowestBit(todo), x = shuffle(at, k);
            for (u32 j = 0; j < 2; j++) {
                if (enters >> k & 1) {
                    to[j] += x <= position[j];
                } else {
                    to[j] -= x < position[j];
                    if (x == position[j]) stays[j] = false;
                }
            }
        }
        sum += popcount(enters) - popcount(goes);
    }
    for (u32 k = 0; k < 2; k++) {
        if (!stays[k]) continue;
        m.row[to[k]] = row[k];
        m.nbr[to[k]] = nbr[k];
        m.ent[to[k]] = ent[k];
    }
    warpSync();
    runs = 0;
    for (u32 k = 0; k < 2; k++) {
        u32 x = position[k];
        runs |= (u64)vote(x < will && (x == 0 || m.row[x - 1] != m.row[x])) << (k * kWarp);
    }
    u32 used = will + popcount(runs);
    if (used > kMaxLeaf) {
        climbs(p, leaf, begin, end, used);
        return;
    }
    for (u32 k = 0; k < 2; k++) {
        u32 x = position[k];
        if (x >= will) continue;
        if (x >= least) {
            p.a.nbr[first + x] = m.nbr[x];
            p.a.ent[first + x] = m.ent[x];
        }
        if (runs >> x & 1) putRow(p.a, leaf, runs, x, m.row[x]);
    }
    if (lane == 0) {
        p.a.count[leaf] = will;
        p.a.used[leaf] = used;
        p.a.runs[leaf] = runs;
    }
    warpSync();
}

KERNEL(gpmamerge, Gpma, kThreads) {
    SHARED(Merging, s);
    u32 n = p.control->entries;
    u32 warp = blockOf() * warpsInBlock() + warpInBlock(), warps = gridBlocks() * warpsInBlock();
    if (p.force || n < p.least || n > p.most) {
        if (warp == 0 && laneId() == 0) p.control->rebuild = 1;
        return;
    }
    u32 each = (p.keys + warps - 1) / warps;
    if (each > kWarp) each = kWarp;
    for (u32 from = warp * each; from < p.keys; from += warps * each) {
        u32 i = from + laneId();
        bool in = laneId() < each && i < p.keys;
        u32 leaf = in ? p.at[i] : kNone;
        if (in && p.info[i] & kGoes) {  // a vertex without entries has no span
            u64 row;
            u32 nbr;
            entryOf(p, i, row, nbr);
            u32 side = sideAt(row, p.dirs);
            if (p.degree[side] == 0) {
                Span& s = p.span[side];
                agree(&s.begin, 0), agree(&s.end, 0), agree(&s.first, 0), agree(&s.last, 0);
            }
        }
        u32 heads = vote(in && (i == 0 || p.at[i - 1] != leaf));
        for (; heads != 0; heads &= heads - 1)
            mergeLeaf(p, s.leaf[warpInBlock()], shuffle(leaf, lowestBit(heads)), from + lowestBit(heads));
    }
}
