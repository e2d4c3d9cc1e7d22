// The search of one warp (GAMMA Algorithm 1): a depth-first extension of a partial match, level by level.
#pragma once
#include "count.cuh"
#include "flat.cuh"
#include "mail.cuh"
#include "setops.cuh"

enum Outcome : u32 { kDone = 0, kFull = 1 };

// choices returns the number of vertices that a leaf can be mapped to, for each lane that wants it, whose vertex at a
// position is w. The candidates are counted by all lanes, and their number is kept in the memo. The vertices of the
// match among them are subtracted for each match.
FN u32 choices(const Search& p, const State& s, const Program& q, const Leaf& l, u32 position, u32 w, bool wanted,
    Work& work) {
    const Step& st = q.step[l.step];
    const Back& b = q.back[st.back];
    u32 v = wanted ? b.from == position ? w : s.m[b.from] : 0, n = 0;
    u32 column = p.memo.column[l.column];
    if (wanted && p.memo.offer != nullptr) n = recall(p.memo, column, v);
    if (u32 todo = vote(wanted && n == 0); todo != 0) {
        bool common = b.from != position;  // all lanes have the same vertex: one lane asks
        u32 leader = lowestBit(todo);
        bool asks = common ? laneId() == leader : wanted && n == 0;
        u32 c = offers(p.graph, s.net, st, b, v, asks, work.steps) + 1;
        if (p.memo.offer != nullptr && asks) note(p.memo, column, v, c);
        if (common) c = shuffle(c, leader);
        if (n == 0) n = c;
    }
    if (wanted) {
        n--;
        Range r = n > 0 && st.conflicts != 0 ? reach(p.graph, v, b) : Range{0, 0};
        for (u32 k = st.conflicts; r.begin < r.end && k != 0; k &= k - 1) {
            u32 taken = lowestBit(k) == position ? w : s.m[lowestBit(k)];
            if (passes(p.graph, st, taken)) n -= joins(listsOf(p.graph, v), s.net, v, b, r, taken);
        }
    }
    warpSync();
    return wanted ? n : 0;
}

// leaves returns the number of ways to map the leaves, for each active lane, whose vertex at a position is w. Groups of
// leaves are independent, so their numbers multiply; the leaves of a group choose different vertices from one set. Two
// leaves that may meet have as many ways as pairs of a vertex for either, but for those that are the same twice.
FN u128 leaves(const Search& p, const State& s, const Program& q, u32 position, u32 w, bool active, Work& work) {
    u128 total = active ? 1 : 0;
    u32 before = 0;  // of the group before, if it is paired with this one
    for (u32 i = 0; i < q.groups; i++) {
        const Leaf& l = q.leaf[i];
        u32 n = choices(p, s, q, l, position, w, total != 0, work);
        if (paired(q, i)) {
            auto parent = [&](const Leaf& of) {
                u32 from = q.back[q.step[of.step].back].from;
                return from == position ? w : s.m[from];
            };
            const Leaf& other = q.leaf[i - 1];
            u32 asks = vote(total != 0 && n != 0);
            u32 both = meetings(p.graph, p.memo, q, l, other, parent(l), parent(other), asks, false, work.steps,
                [&](u32 at) { return at == position ? w : s.m[at]; });
            total = times(total, (u64)before * n - both);
        } else if (!paired(q, i + 1)) {
            total = timesWays(total, n, l.size);
        } else if (n == 0) {
            total = 0;
        }
        before = n;
    }
    return total;
}

// finish marks the warp as idle.
FN void finish(State& s) {
    lockWarp(&s.lock);
    if (laneId() == 0) post(&s.live, kIdle);
    unlockWarp(&s.lock);
}

// wanted returns the mode of a program. One kernel has only programs for rows, the other all others.
template <bool kOfRows>
FN u32 wanted(const Program& q) {
    return kOfRows ? kRows : q.mode;
}

// start begins a task: it maps the first steps and opens the next level. takeTasks has tested the vertices.
template <bool kOfRows>
FN Outcome start(const Search& p, State& s, const Program& q, Work& work) {
    if (work.turns >= p.queue.slice) return kFull;  // the task before filled the row buffer
    if (laneId() == 0) {
        if (q.anchor == kNone) {
            s.m[0] = s.net;
        } else {
            Net n = p.queue.net[s.net];
            s.m[0] = n.from;
            s.m[1] = n.to;
            s.edge[kAnchorAt] = n.edge;
        }
        s.floor = q.start;
        post(&s.depth, q.start);
    }
    warpSync();
    work.steps++;
    if (wanted<kOfRows>(q) == kCount && q.start == q.leaves) {
        work.found = plus(work.found, leaves(p, s, q, kNone, 0, laneId() == 0, work));
        return kDone;
    }
    if (q.start == q.steps) {
        if (wanted<kOfRows>(q) == kCount)
            work.found = plus(work.found, laneId() == 0 ? 1 + q.images : 0);
        else
            emit(p, s, q, q.steps - 1, 1, s.m[q.start - 1], 0, kNone, work);
        return kDone;
    }
    if (openLevel(p.graph, s, q, q.start) && laneId() == 0) {
        fenceBlock();
        post(&s.live, kRunning);
    }
    warpSync();
    return kDone;
}

// descend maps step d to the vertex (or edge) in a slot of back edge streamed, and opens the next level.
FN void descend(const Graph& g, State& s, const Program& q, u32 d, u32 slot, u32 streamed) {
    const Step& st = q.step[d];
    if (laneId() == 0 && st.vertex != kNone) s.m[st.position] = nbrAt(streamedOf(g, s, q, st, streamed), slot);
    for (u32 k = st.back + laneId(); q.keep != 0 && k < st.back + st.own; k += kWarp)
        s.edge[k] = imageOf(g, s, q, st, k, slot, streamed);
    warpSync();
    openLevel(g, s, q, d + 1);
}

// extend continues the search in s until it is done, or until the warp has made its turns of this launch. When the row
// buffer is full, the warp has made its turns.
template <bool kOfRows>
FN Outcome extend(const Search& p, State& s, const Program& q, RowBuffers* rows, Work& work) {
    while (true) {
        if (++work.turns > p.queue.slice || (!kOfRows && stops(p.queue, work.turns))) return kFull;
        if (p.queue.mailing != 0 && work.turns >= work.next) {
            work.next = work.turns + kLookEvery;
            share(p, s, work.look, work.turns);
        }
        if (wanted<kOfRows>(q) == kAny && peekWarp(&p.output.stop[s.request]) != 0) {
            finish(s);
            return kDone;
        }
        lockWarp(&s.lock);
        u32 d = s.depth;
        Frame f = s.frame[d];
        while (f.mask == 0 && f.next >= f.end && d > s.floor) f = s.frame[--d];
        bool read = f.mask == 0, done = read && f.next >= f.end;
        const Step& st = q.step[d];
        bool ofEdge = st.vertex == kNone;
        u32 chunk = read ? f.next & ~(kWarp - 1) : ofEdge ? f.best : f.next - kWarp;
        warpSync();
        if (laneId() == 0) {
            post(&s.depth, d);
            if (done) {
                post(&s.live, kIdle);
            } else if (!read) {
                s.frame[d].mask = f.mask & (f.mask - 1);
            } else if (ofEdge) {
                const Back& b = q.back[st.back];
                s.frame[d].best = chunk;
                s.frame[d].next =
                    nextAdmitted(alongOf(p.graph, s, b), s.net, b, chunk + kWarp, f.end, s.m[b.to]);
            } else {
                s.frame[d].next = chunk + kWarp;
            }
        }
        unlockWarp(&s.lock);
        if (done) return kDone;
        if (!read) {
            descend(p.graph, s, q, d, chunk + lowestBit(f.mask), f.best);
            continue;
        }
        u32 slot = chunk + laneId();
        u32 mask = candidates(p.graph, s, q, d, f.next, f.end, f.best, slot, work.steps);
        if (mask == 0) continue;
        bool mine = mask >> laneId() & 1;
        u32 w = mine ? nbrAt(streamedOf(p.graph, s, q, st, f.best), slot) : 0;
        if (wanted<kOfRows>(q) == kCount && d + 1 == q.leaves) {
            // Without leaves, q.leaves is q.steps and each candidate is a match.
            u128 n = q.groups > 0 ? leaves(p, s, q, ofEdge ? kNone : st.position, w, mine, work) : mine;
            work.found = plus(work.found, times(n, 1 + q.images));
        } else if (kOfRows && d + 2 == q.steps && q.flat != 0 && p.output.stride <= kFlatStride) {
            u32 skip = s.skip;
            mask = extendTwo(p, s, q, rows->flat, rows->out, d, mask, slot, f.best, work, skip);
            if (skip != 0) lockWarp(&s.lock);
            if (laneId() == 0) {
                s.skip = skip;
                if (skip != 0)
                    s.frame[d].next = f.next;  // this chunk again
                else if (mask != 0)
                    post(&s.frame[d].mask, mask);
            }
            if (skip != 0) unlockWarp(&s.lock);
            warpSync();
        } else if (d + 1 < q.steps) {
            if (laneId() == 0) post(&s.frame[d].mask, mask);
            warpSync();
        } else if (kOfRows && p.output.stride <= kFlatStride) {
            emitRows(p, s, q, rows->flat, rows->out, d, mask, w, slot, f.best, work);
        } else {
            emit(p, s, q, d, mask, w, slot, f.best, work);
        }
    }
}
