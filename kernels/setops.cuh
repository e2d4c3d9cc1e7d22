// Gen_candidates of GAMMA's Algorithm 1, 32 slots at a time. The warp reads the shortest of the neighbour ranges (it is
// streamed). Each lane searches the other ranges for its own candidate. A ballot collects the results (DESIGN A7).
#pragma once
#include "holds.cuh"

FN bool loose(const Back& b) { return b.label == kAnyLabel || b.dir == kEither || among(b.label); }

// nextAdmitted returns the first slot in [at, end) that joins w along a back edge and is admitted, or end.
FN u32 nextAdmitted(const Lists& l, u32 net, const Back& b, u32 at, u32 end, u32 w) {
    while ((at = nextImage(l, at, end, b.label, w)) < end && !admitsEdge(l.g, net, b, entAt(l, at))) at++;
    return at;
}

// openFrame makes a level the deepest one of the stack.
FN void openFrame(State& s, u32 d, Frame f) {
    if (laneId() == 0) {
        s.frame[d] = f;
        fenceBlock();
        post(&s.depth, d);
    }
    warpSync();
}

// openEdge is openLevel for an edge step. It must not write the range of its back edge, which belongs to a vertex step
// and may be read by other warps that steal.
FN bool openEdge(const Graph& g, State& s, const Step& st, const Back& b, u32 d) {
    Range r = reach(g, s.m[b.from], b);
    Lists l = listsOf(g, s.m[b.from]);
    u32 w = s.m[b.to], first = nextAdmitted(l, s.net, b, r.begin, r.end, w);
    if (first == r.end) return false;
    bool only = nextAdmitted(l, s.net, b, first + 1, r.end, w) == r.end;
    openFrame(s, d, Frame{first, only ? first + 1 : r.end, 0, st.back});
    return true;
}

// kLongest is the length from which lists are not compared any more: the first of them is streamed. The tests have
// shorter and longer lists.
#if defined(MOTIFD_EMULATE)
constexpr u32 kLongest = 30;
#else
constexpr u32 kLongest = (1u << 26) - 1;
#endif

FN u32 capped(u32 size) { return size < kLongest ? size : kLongest; }

// openLevel prepares a level: each lane looks up one range. It returns whether there is a slot to read.
FN bool openLevel(const Graph& g, State& s, const Program& q, u32 d) {
    const Step& st = q.step[d];
    if (st.vertex == kNone) return openEdge(g, s, st, q.back[st.back], d);
    u32 key = kNone;
    for (u32 k = laneId(); k < st.backs; k += kWarp) {
        const Back& b = q.back[st.back + k];
        Range r = reach(g, s.m[b.from], b);
        s.range[st.back + k] = r;
        u32 n = r.end - r.begin;
        if (n != 0 && st.own != 0 && k >= st.own) continue;  // is not streamed
        n = capped(n) << 6 | k;
        key = n < key ? n : key;
    }
    key = warpMin(key);
    warpSync();
    if (key >> 6 == 0) return false;
    u32 best = st.back + (key & 63);
    openFrame(s, d, Frame{s.range[best].begin, s.range[best].end, 0, best});
    return true;
}

// alongOf returns the Lists of a back edge.
FN Lists alongOf(const Graph& g, const State& s, const Back& b) { return listsOf(g, s.m[b.from]); }

// streamedOf returns the Lists of the slots that a step reads, along back edge streamed unless it is an edge step.
FN Lists streamedOf(const Graph& g, const State& s, const Program& q, const Step& st, u32 streamed) {
    return alongOf(g, s, q.back[st.vertex == kNone ? st.back : streamed]);
}

// joined reports whether w, found in a slot of back edge best, whose Lists are l, is joined along all back edges of a
// step.
FN bool joined(const Lists& l, const State& s, const Program& q, const Step& st, u32 best, u32 slot, u32 w) {
    const Back& b = q.back[best];
    if (!admitsSlot(l, s.net, b, slot)) return false;
    // If several slots lead to w, the first one is used, unless the step chooses pairs of vertex and edge.
    if (st.own == 0 && nextAdmitted(l, s.net, b, s.range[best].begin, slot, w) < slot) return false;
    for (u32 k = st.back; k < st.back + st.backs; k++) {
        if (k == best) continue;
        if (!mayJoin(l.g, s.m[q.back[k].from], w)) return false;
        const Range& r = s.range[k];
        Lists other = alongOf(l.g, s, q.back[k]);
        if (k < st.back + st.own) {
            u32 e = find(other, r, w, q.back[k]);
            if (e == kNone || !admitsEdge(l.g, s.net, q.back[k], e)) return false;
        } else if (nextAdmitted(other, s.net, q.back[k], r.begin, r.end, w) == r.end) {
            return false;
        }
    }
    return true;
}

// imageOf returns the image of a step's own back edge when the step is mapped to the vertex in a slot of back edge
// streamed.
FN u32 imageOf(const Graph& g, const State& s, const Program& q, const Step& st, u32 k, u32 slot, u32 streamed) {
    bool chosen = k == streamed || st.vertex == kNone || loose(q.back[k]);
    Lists l = streamedOf(g, s, q, st, streamed);
    return (chosen ? entAt(l, slot) : find(alongOf(g, s, q.back[k]), s.range[k], nbrAt(l, slot), q.back[k])) & ~kStaged;
}

// candidates returns a ballot of the 32 slots up to the next multiple of 32: those that hold candidates of step d. slot
// is the slot of the lane. It adds the slots that it reads to the steps.
FN u32 candidates(const Graph& g, const State& s, const Program& q, u32 d, u32 from, u32 end, u32 best, u32 slot,
    u64& steps) {
    const Step& st = q.step[d];
    Lists l = streamedOf(g, s, q, st, best);
    bool ok = slot >= from && slot < end && holdsEntry(l, slot);
    steps += popcount(vote(ok));
    if (ok) {
        u32 w = nbrAt(l, slot);
        if (st.vertex == kNone) {
            const Back& b = q.back[st.back];
            ok = w == s.m[b.to] && admitsSlot(l, s.net, b, slot) && admitsImage(l, s, st, b, slot);
        } else {
            ok = admits(g, st, w, [&](u32 position) { return s.m[position]; }) && joined(l, s, q, st, best, slot, w);
        }
        ok = ok && holds(g, q, d, [&](u32 k) {
            bool here = k >= st.back && k < st.back + st.own;
            return here ? imageOf(g, s, q, st, k, slot, best) : s.edge[k];
        }, [&](u32 position) {
            return position == st.position && st.vertex != kNone ? w : s.m[position];
        });
    }
    warpSync();
    return vote(ok);
}

// kHub is the maximum number of slots of a vertex that is counted together with others: the sum of 32 such numbers fits
// 32 bits. The tests have vertices below and above it.
#if defined(MOTIFD_EMULATE)
constexpr u32 kHub = 40;
#else
constexpr u32 kHub = (1u << 27) - 1;
#endif

// listed counts, for each lane, the slots that pass a test, in the first slots of its range. The warp reads the ranges
// of all lanes as one list, so that no lane waits for a longer range. l is the Lists of the lane's range. test gets the
// lane whose range has a slot, its Lists, the slot, and whether there is an entry; all lanes call it.
template <class Test>
FN u32 listed(const Lists& l, Range r, u32 size, u64& steps, Test test) {
    u32 lane = laneId(), n = 0, total, start = sumBefore(size, total), sum = start + size;
    for (u32 t = lane; t - lane < total; t += kWarp) {
        u32 of = 0, here = t - lane;
        for (u32 k = kWarp / 2; k > 0; k /= 2)
            if (shuffle(start, of + k) <= t) of += k;
        u32 slot = shuffle(r.begin, of) + t - shuffle(start, of);
        Lists its = {l.g, kRanges ? shuffle(l.base, of) : 0};
        bool ok = t < total && holdsEntry(its, slot);
        steps += popcount(vote(ok));
        u32 hits = vote(test(of, its, slot, ok));
        // This lane's vertex has the positions from start to sum, of the 32 from here on.
        u32 from = start > here ? start - here : 0, to = sum > here ? sum - here : 0;
        n += popcount(hits & (to < kWarp ? (1u << to) - 1 : kAll) & (from < kWarp ? kAll << from : 0));
    }
    return n;
}

// counted is listed for all slots of the ranges.
template <class Test>
FN u32 counted(const Lists& l, Range r, u64& steps, Test test) {
    u32 todo = vote(r.begin < r.end), n = 0;
    bool alone = vote(r.end - r.begin > kHub) != 0;
    while (todo != 0) {
        u32 now = alone ? todo & -todo : todo;
        n += listed(l, r, now >> laneId() & 1 ? r.end - r.begin : 0, steps, test);
        todo &= ~now;
    }
    return n;
}

// offers returns, for the vertex v of each lane that asks, the number of candidates of a leaf's step, without regard to
// the vertices that are mapped already. Along a loose back edge it counts pairs of vertex and edge.
FN u32 offers(const Graph& g, u32 net, const Step& st, const Back& b, u32 v, bool asks, u64& steps) {
    Range r = asks ? reach(g, v, b) : Range{0, 0};
    return counted(listsOf(g, asks ? v : 0), r, steps, [&](u32, const Lists& l, u32 slot, bool ok) {
        return ok && passes(g, st, nbrAt(l, slot)) && admitsSlot(l, net, b, slot);
    });
}

// kLong is about the number of slots that meetings reads for a block of matches, if the others of its matches can be
// done later. The warp gives no work to others meanwhile. With 512 the end of a search was shorter, with 2,048 its
// middle (docs/notebook/2026-11-gpu.md, The end of a search). The tests have shorter and longer lists.
#if defined(MOTIFD_EMULATE)
constexpr u32 kLong = 40;
#else
constexpr u32 kLong = 1024;
#endif

// within returns the first lanes of a set whose sizes are together at most kLong; one lane at least.
FN u32 within(u32 set, u32 size) {
    u32 own = size < kLong ? size : kLong, total, before = sumBefore(set >> laneId() & 1 ? own : 0, total);
    u32 over = vote((set & (set - 1)) >> laneId() & 1 && before + own > kLong);
    return over != 0 ? set & ((over & -over) - 1) : set;
}

// joinedTo returns whether a leaf that is joined to u can be mapped to w.
FN bool joinedTo(const Graph& g, const Step& st, const Back& b, u32 u, u32 w) {
    if (!passes(g, st, w)) return false;
    u32 e = entryTo(g, u, b, w);
    return e != kNone && admitsEdge(g, kNone, b, e);
}

// meetings returns, for each lane in asks, how many vertices both of two leaves can be mapped to. The leaves are joined
// to u and v, along back edges that are not loose. image returns the vertex at a position of the lane's match. The
// numbers for u and v are kept in the memo, and the vertices of the match are subtracted for each match. If fewer is
// true and the lists of all lanes are long, it does the first lanes only and takes the others out of asks.
template <class Image>
FN u32 meetings(const Graph& g, const Memo& memo, const Program& q, const Leaf& a, const Leaf& b, u32 u, u32 v,
    u32& asks, bool fewer, u64& steps, Image image) {
    const Step &first = q.step[a.step], &second = q.step[b.step];
    const Back &ofFirst = q.back[first.back], &ofSecond = q.back[second.back];
    bool mine = asks >> laneId() & 1;
    u32 n = 0;  // 1 plus the number
    Both kept = {nullptr, 0};
    if (mine && memo.both != nullptr) {
        kept = bothOf(memo, a.pair - 1, u, v);
        n = recallBoth(kept);
    }
    if (u32 todo = vote(mine && n == 0); todo != 0) {
        bool counts = mine && n == 0;
        Range r = counts ? reach(g, u, ofFirst) : Range{0, 0}, s = counts ? reach(g, v, ofSecond) : Range{0, 0};
        bool swapped = s.end - s.begin < r.end - r.begin;
        if (swapped) r = s;
        if (fewer) {
            u32 now = within(todo, r.end - r.begin);
            asks &= ~(todo & ~now);
            counts = now >> laneId() & 1;
            if (!counts) r = Range{0, 0};
        }
        Lists shorter = listsOf(g, !counts ? 0 : swapped ? v : u);
        u32 x = counted(shorter, r, steps, [&](u32 of, const Lists& l, u32 slot, bool ok) {
            bool other = shuffle(swapped, of) != 0;
            u32 from = shuffle(swapped ? u : v, of);
            if (!ok) return false;
            u32 w = nbrAt(l, slot);
            return passes(g, other ? second : first, w) && admitsSlot(l, kNone, other ? ofSecond : ofFirst, slot) &&
                   joinedTo(g, other ? first : second, other ? ofFirst : ofSecond, from, w);
        }) + 1;
        if (counts) n = x;
        if (counts && memo.both != nullptr) noteBoth(kept, n);
    }
    if (n == 0) return 0;
    n--;
    for (u32 k = first.conflicts | second.conflicts; n > 0 && k != 0; k &= k - 1) {
        u32 taken = image(lowestBit(k));
        n -= joinedTo(g, first, ofFirst, u, taken) && joinedTo(g, second, ofSecond, v, taken);
    }
    return n;
}

// joins returns how many of the candidates in a range of vertex v are w.
FN u32 joins(const Lists& l, u32 net, u32 v, const Back& b, Range r, u32 w) {
    if (!mayJoin(l.g, v, w)) return 0;
    if (!loose(b)) {
        u32 e = find(l, r, w, b);
        return e != kNone && admitsEdge(l.g, net, b, e);
    }
    u32 n = 0;
    for (u32 at = r.begin; (at = nextAdmitted(l, net, b, at, r.end, w)) < r.end; at++) n++;
    return n;
}
