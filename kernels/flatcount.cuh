// Counts in blocks of 32 partial matches. Most tasks have few candidates, and a warp waits as long for the list of one
// task as for the lists of 32. So a warp searches 32 tasks of one program at a time: each lane looks up the list of its
// own partial match, the lists are read as one (as in flat.cuh), and their candidates fill the lanes of the next level.
// The warp descends when these lanes are full or the list ends: depth first over blocks of partial matches, as in EGSM
// section 5.2. Parts of a block can be given to other warps (flatmail.cuh).
#pragma once
#include "flatmail.cuh"
#include "setops.cuh"

// vertexAt returns the vertex at a position of the partial match in a lane of a level.
FN u32 vertexAt(const Flats& f, const Program& q, u32 l, u32 lane, u32 position) {
    for (; l > 0; l--) {
        if (position == q.start + l - 1) return f.level[l].w[lane];
        lane = f.level[l].of[lane] % kWarp;
    }
    return position == 0 ? f.from[lane] : f.level[0].w[lane];
}

// netOf returns the net edge from which the partial match was found.
FN u32 netOf(const Flats& f, u32 l, u32 lane) {
    for (; l > 0; l--) lane = f.level[l].of[lane] % kWarp;
    return f.net[lane];
}

// offersOf returns 1 plus the number of candidates that the vertex of each active lane has for a leaf, from the memo or
// counted. Blocks of another device come with vertices that are not in the memo.
FN u32 offersOf(const Graph& g, const Memo& memo, const Program& q, const Leaf& leaf, u32 v, bool active, u64& steps) {
    const Step& st = q.step[leaf.step];
    u32 column = memo.column[leaf.column], n = active ? recall(memo, column, v) : 0;
    bool asks = active && n == 0;
    if (vote(asks) != 0) {
        u32 x = offers(g, kNone, st, q.back[st.back], v, asks, steps) + 1;
        if (asks) note(memo, column, v, n = x);
    }
    return n;
}

// offered stores in the memo the numbers of candidates that the vertices of a level have for leaves, and returns the
// lanes that have enough for all leaves.
FN u32 offered(const Graph& g, const Memo& memo, const Program& q, const Flats& f, u32 l, u32 n, Work& work) {
    u32 lane = laneId();
    bool ok = lane < n;
    for (u32 i = 0; i < q.groups; i++) {
        const Leaf& leaf = q.leaf[i];
        u32 from = q.back[q.step[leaf.step].back].from;
        if (l == 0 ? from >= q.start : from != q.start + l - 1) continue;
        u32 v = ok ? vertexAt(f, q, l, lane, from) : 0, c = offersOf(g, memo, q, leaf, v, ok, work.steps);
        ok = ok && c - 1 >= leaf.size;
    }
    return vote(ok);
}

// choicesOf returns the number of vertices that a leaf of the match of each active lane can be mapped to.
FN u32 choicesOf(const Graph& g, const Memo& memo, const Program& q, const Flats& f, u32 l, const Leaf& leaf,
    bool active, u64& steps) {
    u32 lane = laneId();
    const Step& st = q.step[leaf.step];
    const Back& b = q.back[st.back];
    u32 v = active ? vertexAt(f, q, l, lane, b.from) : 0, n = offersOf(g, memo, q, leaf, v, active, steps) - 1;
    if (!active) return 0;
    for (u32 k = st.conflicts; k != 0; k &= k - 1) {
        u32 taken = vertexAt(f, q, l, lane, lowestBit(k));
        if (!passes(g, st, taken)) continue;
        if (loose(b)) {
            n -= joins(listsOf(g, v), kNone, v, b, reach(g, v, b), taken);
        } else {
            u32 e = entryTo(g, v, b, taken);
            n -= e != kNone && admitsEdge(g, kNone, b, e);
        }
    }
    return n;
}

// leavesOf returns the number of ways to map the leaves of the match of each lane in alive, as leaves does. If that
// takes long, it does the first of these lanes only, at least one, and takes the others out of alive.
FN u128 leavesOf(const Graph& g, const Memo& memo, const Program& q, const Flats& f, u32 l, u32& alive, Work& work) {
    u32 lane = laneId();
    u128 total = alive >> lane & 1;
    u32 before = 0;  // of the group before, if it is paired with this one
    for (u32 i = 0; i < q.groups; i++) {
        const Leaf& leaf = q.leaf[i];
        u32 n = choicesOf(g, memo, q, f, l, leaf, total != 0, work.steps);
        if (paired(q, i)) {
            u32 asks = vote(total != 0 && n != 0), done = asks;
            auto parent = [&](const Leaf& of) {
                return asks >> lane & 1 ? vertexAt(f, q, l, lane, q.back[q.step[of.step].back].from) : 0;
            };
            const Leaf& other = q.leaf[i - 1];
            u32 both = meetings(g, memo, q, leaf, other, parent(leaf), parent(other), done, true, work.steps,
                [&](u32 position) { return vertexAt(f, q, l, lane, position); });
            total = times(total, (u64)before * n - both);
            if (u32 later = asks & ~done; later != 0) alive &= (later & -later) - 1;
            if (!(alive >> lane & 1)) total = 0;
        } else if (!paired(q, i + 1)) {
            total = timesWays(total, n, leaf.size);
        } else if (n == 0) {
            total = 0;
        }
        before = n;
    }
    return total;
}

// cut shortens a level of n lanes that has a hub, because lists of hubs are not read together with others. It keeps the
// lanes before the first hub, or the hub alone. The list above is set back, so that it gives the other lanes again. It
// returns the lanes that stay.
FN u32 cut(Flats& f, u32 l, u32 n, u32 alive, u32 hubs) {
    u32 first = lowestBit(hubs), below = (1u << first) - 1, stay = (alive & below) != 0 ? below : 1u << first,
        next = (alive & below) != 0 ? first : first + 1;
    if (laneId() == 0 && next < n) f.level[l - 1].at = f.level[l].start[next];
    warpSync();
    return alive & stay;
}

// listAll makes the list of a level of n lanes from the lanes in alive. At the first level it leaves out hubs and
// returns their lanes.
FN u32 listAll(const Graph& g, const Program& q, Flats& f, u32 l, u32 n, u32 alive) {
    u32 lane = laneId(), size = 0, best = 0, begin = 0, total;
    Level& v = f.level[l];
    const Step& st = q.step[q.start + l];
    if (alive >> lane & 1) {
        for (u32 k = 0; k < st.backs; k++) {
            const Back& b = q.back[st.back + k];
            Range r = rangeOf(g, vertexAt(f, q, l, lane, b.from), b.dir, b.label, b.nbrLabel);
            if (k > 0 && r.end - r.begin >= size) continue;
            size = r.end - r.begin;
            begin = r.begin;
            best = st.back + k;
        }
    }
    u32 hubs = vote(size > kHub);
    if (hubs != 0) {
        u32 stay = l > 0 ? cut(f, l, n, alive, hubs) : ~hubs;
        if (!(stay >> lane & 1)) size = 0;
    }
    v.start[lane] = sumBefore(size, total);
    v.begin[lane] = begin;
    v.of[lane] = v.of[lane] % kWarp | best * kWarp;
    if (lane == 0) {
        v.at = 0;
        v.total = total;
    }
    warpSync();
    return hubs;
}

// isCandidate reports whether the step of a level's list can be mapped to w in the match of a lane. w is the neighbour
// in an entry of back edge best.
FN bool isCandidate(const Graph& g, const Program& q, const Flats& f, u32 l, u32 lane, u32 best, u32 entry, u32 w) {
    const Step& st = q.step[q.start + l];
    u32 net = kNone;  // only the rule kByOrder reads it
    if (q.back[best].rule == kByOrder) net = netOf(f, l, lane);
    auto image = [&](u32 position) { return vertexAt(f, q, l, lane, position); };
    if (!admitsAlong(g, net, st, q.back[best], w, entry, image)) return false;
    for (u32 k = st.back; k < st.back + st.backs; k++) {
        if (k == best) continue;
        const Back& b = q.back[k];
        u32 e = entryTo(g, vertexAt(f, q, l, lane, b.from), b, w);
        if (e == kNone || !admitsEdge(g, net, b, e)) return false;
    }
    return true;
}

// fill moves candidates from the list of a level to the lanes of the next level, until these are full, and returns
// their number. If the next step is the last and there are no leaves, it counts the candidates instead. It ends early
// when the warp has made its turns of the launch. least is for give.
FN u32 fill(const Search& p, const Program& q, Flats& f, u32 l, u32 least, Work& work) {
    u32 lane = laneId(), n = 0, each = 1 + q.images;
    bool last = q.start + l + 1 == q.leaves && q.groups == 0;
    Level &v = f.level[l], &next = f.level[last ? l : l + 1];
    u32 at = v.at, total = v.total;
    while (at < total && n < kWarp && work.turns < p.queue.slice) {
        if (p.queue.mailing != 0) {
            give(p.queue, f, l, at, least, work.look);
            total = v.total;
        }
        if (stops(p.queue, ++work.turns)) work.turns = p.queue.slice;
        u32 t = at + lane, of = 0, w = 0;
        for (u32 k = kWarp / 2; k > 0; k /= 2)
            if (v.start[of + k] <= t) of += k;
        u32 slot = v.begin[of] + t - v.start[of];
        bool ok = t < total;
        Lists lists = {p.graph, 0};
        if (kRanges && ok) lists.base = listsOf(p.graph, vertexAt(f, q, l, of, q.back[v.of[of] / kWarp].from)).base;
        ok = ok && holdsEntry(lists, slot);
        work.steps += popcount(vote(ok));
        if (ok) {
            w = nbrAt(lists, slot);
            ok = isCandidate(p.graph, q, f, l, of, v.of[of] / kWarp, entAt(lists, slot), w);
        }
        u32 hits = vote(ok);
        at += kWarp;
        if (last) {
            if (ok) work.found = plus(work.found, each);
            continue;
        }
        u32 beyond = hits;  // candidates without a free lane are read again later
        for (u32 k = n; k < kWarp && beyond != 0; k++) beyond &= beyond - 1;
        if (beyond != 0) {
            at = at - kWarp + lowestBit(beyond);
            hits &= ~beyond;
        }
        if (hits >> lane & 1) {
            u32 to = n + popcount(hits & lanesBelow());
            next.w[to] = w;
            next.of[to] = of;
            next.start[to] = t;  // until it has a list
        }
        n += popcount(hits);
    }
    warpSync();
    if (lane == 0) v.at = at;
    warpSync();
    return n;
}

// countFrom counts the matches that extend the levels down to l. It returns the current level when the warp has made
// its turns of the launch, or kNone when the count is complete.
FN u32 countFrom(const Search& p, const Program& q, Flats& f, u32 l, Work& work) {
    u32 least = kWarp;
    while (true) {
        if (f.level[l].at >= f.level[l].total) {
            if (l == 0) return kNone;
            l--;
            continue;
        }
        if (work.turns >= p.queue.slice) return l;
        u32 n = fill(p, q, f, l, least, work);
        if (n == 0) continue;
        u32 alive = offered(p.graph, p.memo, q, f, ++l, n, work);
        if (q.start + l < q.leaves) {
            listAll(p.graph, q, f, l, n, alive);
            continue;
        }
        u32 now = alive;
        u128 ways = leavesOf(p.graph, p.memo, q, f, l, now, work);
        work.found = plus(work.found, times(ways, 1 + q.images));
        warpSync();
        l--;
        u32 later = alive & ~now;
        if (later != 0 && laneId() == 0) f.level[l].at = f.level[l + 1].start[lowestBit(later)];
        warpSync();
        least = later != 0 ? 1 : kWarp;
    }
}

// openTasks prepares n tasks of a program as the first level, and returns the lanes of tasks that cannot be counted in
// blocks.
FN u32 openTasks(const Search& p, const Program& q, Flats& f, u32 n, Work& work) {
    f.level[0].of[laneId()] = 0;
    work.steps += n;
    u32 alive = offered(p.graph, p.memo, q, f, 0, n, work);
    if (q.leaves > q.start) return listAll(p.graph, q, f, 0, n, alive);
    for (u32 now = alive; alive != 0; now = alive &= ~now)
        work.found = plus(work.found, times(leavesOf(p.graph, p.memo, q, f, 0, now, work), 1 + q.images));
    if (laneId() == 0) f.level[0].at = f.level[0].total = 0;
    warpSync();
    return 0;
}
