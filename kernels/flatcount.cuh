// Counts, 32 tasks of one program at a time: most tasks have few candidates, and a warp that does one of them waits, for each list, as long as one that does
// 32. So every lane looks up the list of a partial match of its own; the lists are walked as one (as in flat.cuh), and what can be mapped fills the lanes of the
// next level. A warp goes down when they are full or the list is at its end (depth first over blocks of partial matches, as in EGSM section 5.2).
//
// What turns out to be much work is left: tasks whose first list is longer than flatLong, and what comes after the last place in the tasks' list from which the
// warp came back before it had made flatTurns turns, of 32 places each. In a second round pieces of these are blocks by themselves, that have more turns; what
// is left then is for the search that can be stolen from.
#pragma once
#include "count.cuh"
#include "emit.cuh"
#include "setops.cuh"

constexpr u32 kFlatLevels = 4;  // of blocks that are kept, the tasks' included

// Level is a block of partial matches of so many vertices, a lane each: the vertex mapped last, the lane of the level above that has the others, and the
// list of what may come next: where its slots and its places in the list of all lanes begin. of has the back edge that leads to the list, too.
struct Level {
    u32 w[kWarp], of[kWarp], begin[kWarp], start[kWarp];
    u32 at, total;  // of the list of all lanes: places that are done, and all
};

struct Flats {
    Level level[kFlatLevels];  // of tasks, w is the second vertex; begin and start are group and end of Task, until their list is made
    u32 from[kWarp];           // the first
    u32 net[kWarp];
    u32 piece[kWarp];          // of a task's first list
};

// placed returns the vertex at a place of the match that a lane of a level has.
FN u32 placed(const Flats& f, const Program& q, u32 l, u32 lane, u32 place) {
    for (; l > 0; l--) {
        if (place == q.start + l - 1) return f.level[l].w[lane];
        lane = f.level[l].of[lane] % kWarp;
    }
    return place == 0 ? f.from[lane] : f.level[0].w[lane];
}

// netOf returns the net edge that it was found from.
FN u32 netOf(const Flats& f, u32 l, u32 lane) {
    for (; l > 0; l--) lane = f.level[l].of[lane] % kWarp;
    return f.net[lane];
}

// offered has the memo know what the vertices that a level maps offer to leaves, and returns the lanes that leaves have something in.
FN u32 offered(const Params& p, const Program& q, const Flats& f, u32 l, u32 n, Work& work) {
    u32 lane = laneId();
    bool ok = lane < n;
    for (u32 i = 0; i < q.groups; i++) {
        const Leaf& leaf = q.leaf[i];
        const Step& st = q.step[leaf.step];
        const Back& b = q.back[st.back];
        if (l == 0 ? b.from >= q.start : b.from != q.start + l - 1) continue;
        u32 v = ok ? placed(f, q, l, lane, b.from) : 0, c = 0;
        u32* cell = p.memo + (u64)p.column[leaf.column] * p.vertices + v;
        if (ok) c = peek(cell);
        bool asks = ok && c == 0;
        if (vote(asks) != 0) {
            u32 x = offers(p, kNone, st, b, v, asks, work.steps) + 1;
            if (asks) post(cell, c = x);
        }
        ok = ok && c - 1 >= leaf.size;
    }
    return vote(ok);
}

// leavesOf multiplies the numbers of ways to map the leaves of a lane's match, as leaves does.
FN u128 leavesOf(const Params& p, const Program& q, const Flats& f, u32 l) {
    u32 lane = laneId();
    u128 total = 1;
    for (u32 i = 0; total != 0 && i < q.groups; i++) {
        const Leaf& leaf = q.leaf[i];
        const Step& st = q.step[leaf.step];
        const Back& b = q.back[st.back];
        u32 v = placed(f, q, l, lane, b.from), n = peek(p.memo + (u64)p.column[leaf.column] * p.vertices + v) - 1;
        for (u32 k = st.clash; k != 0; k &= k - 1) {
            u32 taken = placed(f, q, l, lane, lowestBit(k));
            if (!candidate(p.g, st, taken)) continue;
            if (loose(b)) {
                n -= joins(p, kNone, b, reach(p.g, v, b), taken);
            } else {
                u32 e = entryTo(p.g, v, b, taken);
                n -= e != kNone && visible(p, kNone, e, b.rule);
            }
        }
        if (n < leaf.size) total = 0;
        for (u32 k = 0; total != 0 && k < leaf.size; k++) total = times(total, n - k);
    }
    return total;
}

// listAll prepares the list of a level, from lanes that are alive. Of tasks, so many pieces each, it leaves out long ones, which it returns; at other levels it
// returns kNone, and there is no list, where one is so long that their sum might not be a number of 32 bits.
FN u32 listAll(const Params& p, const Program& q, Flats& f, u32 l, u32 alive, u32 pieces) {
    u32 lane = laneId(), size = 0, best = 0, begin = 0;
    Level& v = f.level[l];
    const Step& st = q.step[q.start + l];
    if (alive >> lane & 1) {
        for (u32 k = 0; k < st.backs; k++) { // the choice of openLevel: parts that are left are of the list that it streams
            const Back& b = q.back[st.back + k];
            Range r = rangeOf(p.g, placed(f, q, l, lane, b.from), b.dir, b.label, b.near);
            if (k > 0 && capped(r.end - r.begin) >= capped(size)) continue;
            size = r.end - r.begin;
            begin = r.begin;
            best = st.back + k;
        }
        if (l == 0) {
            u32 end = begin + size;
            if (v.start[lane] != 0) {
                begin = v.begin[lane] > begin ? v.begin[lane] : begin;
                end = v.start[lane] < end ? v.start[lane] : end;
            }
            size = end - begin;
            if (pieces > 1) {
                u32 from = shareOf(size, f.piece[lane], pieces);
                size = shareOf(size, f.piece[lane] + 1, pieces) - from;
                begin += from;
            }
        }
    }
    if (l > 0 && vote(size > kHub) != 0) return kNone;
    u32 left = vote(l == 0 && size > p.flatLong), total;
    if (left >> lane & 1) size = 0;
    v.start[lane] = sumBefore(size, total);
    v.begin[lane] = begin;
    v.of[lane] = v.of[lane] % kWarp | best * kWarp;
    if (lane == 0) {
        v.at = 0;
        v.total = total;
    }
    warpSync();
    return left;
}

// isCandidate tells whether the step of a level's list can be mapped to w, in the match that a lane has; back edge best led there, by an entry.
FN bool isCandidate(const Params& p, const Program& q, const Flats& f, u32 l, u32 lane, u32 best, u32 entry, u32 w) {
    const Step& st = q.step[q.start + l];
    if (!candidate(p.g, st, w)) return false;
    u32 net = kNone;  // rows' rule alone asks for it
    if (q.back[best].rule == kByOrder) net = netOf(f, l, lane);
    if (!visible(p, net, entry, q.back[best].rule)) return false;
    for (u32 k = st.clash; k != 0; k &= k - 1)
        if (placed(f, q, l, lane, lowestBit(k)) == w) return false;
    for (u32 k = st.back; k < st.back + st.backs; k++) {
        if (k == best) continue;
        const Back& b = q.back[k];
        u32 e = entryTo(p.g, placed(f, q, l, lane, b.from), b, w);
        if (e == kNone || !visible(p, net, e, b.rule)) return false;
    }
    return true;
}

// fill puts what comes next in a level's list into the next level, as far as there are lanes, and returns how many it has. Without leaves, matches that are
// whole are counted instead. It returns kNone when the turns are over.
FN u32 fill(const Params& p, const Program& q, Flats& f, u32 l, Work& work, u32& turns) {
    u32 lane = laneId(), n = 0, each = 1 + q.images;
    Level &v = f.level[l], &next = f.level[l + 1 < kFlatLevels ? l + 1 : l];
    bool last = q.start + l + 1 == q.leaves && q.groups == 0;
    u32 at = v.at, total = v.total;
    while (at < total && n < kWarp) {
        if (turns++ == p.flatTurns) return kNone;
        u32 t = at + lane, of = 0, w = 0;
        for (u32 k = kWarp / 2; k > 0; k /= 2)
            if (v.start[of + k] <= t) of += k;
        u32 slot = v.begin[of] + t - v.start[of];
        bool ok = t < total && slot % kLeaf < p.g.count[slot / kLeaf];
        work.steps += popcount(vote(ok));
        if (ok) {
            w = p.g.nbr[slot];
            ok = isCandidate(p, q, f, l, of, v.of[of] / kWarp, p.g.ent[slot], w);
        }
        u32 hits = vote(ok);
        at += kWarp;
        if (last) {
            if (ok) work.found = plus(work.found, each);
            continue;
        }
        u32 beyond = hits;  // those that find no lane are looked at again
        for (u32 k = n; k < kWarp && beyond != 0; k++) beyond &= beyond - 1;
        if (beyond != 0) {
            at = at - kWarp + lowestBit(beyond);
            hits &= ~beyond;
        }
        if (hits >> lane & 1) {
            u32 to = n + popcount(hits & lanesBelow());
            next.w[to] = w;
            next.of[to] = of;
        }
        n += popcount(hits);
    }
    warpSync();
    if (lane == 0) v.at = at;
    warpSync();
    return n;
}

// Rest is which of the tasks of a block are left, and, of a lane's, which slots of its first list; none: all.
struct Rest {
    u32 lanes, begin, end;
};

// countFlat counts what the n tasks of a program that are a block's first level, so many pieces each, lead to.
FN Rest countFlat(const Params& p, const Program& q, Flats& f, u32 n, u32 pieces, Work& work) {
    u32 lane = laneId(), levels = q.leaves - q.start, l = 0, turns = 0, sureAt = 0;
    u32 alive = offered(p, q, f, 0, n, work);
    if (levels == 0) {
        if (alive >> lane & 1) work.found = plus(work.found, times(leavesOf(p, q, f, 0), 1 + q.images));
        warpSync();
        return Rest{0, 0, 0};
    }
    u32 left = listAll(p, q, f, 0, alive, pieces);
    u128 sure = work.found;
    while (true) {
        if (f.level[l].at >= f.level[l].total) {
            if (l == 0) return Rest{left, 0, 0};
            l--;
        } else {
            n = fill(p, q, f, l, work, turns);
            if (n == kNone) break;
            if (n == 0) continue;
            alive = offered(p, q, f, ++l, n, work);
            if (q.start + l < q.leaves) {
                if (listAll(p, q, f, l, alive, pieces) == kNone) break;
                continue;
            }
            if (alive >> lane & 1) work.found = plus(work.found, times(leavesOf(p, q, f, l), 1 + q.images));
            warpSync();
            l--;
        }
        if (l == 0) {
            sure = work.found;
            sureAt = f.level[0].at;
        }
    }
    work.found = sure;
    const Level& v = f.level[0];
    u32 start = v.start[lane], end = lane + 1 < kWarp ? v.start[lane + 1] : v.total, from = start > sureAt ? start : sureAt;
    u32 open = vote(from < end);
    Rest r = {left | open, 0, 0};
    if (open >> lane & 1) {
        r.begin = v.begin[lane] + (from - start);
        r.end = v.begin[lane] + (end - start);
    }
    warpSync();
    return r;
}
