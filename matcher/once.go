package matcher

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher/condition"
)

// Once has a query emit at most one positive per key within a time, and no negatives (DESIGN S27).
type Once struct {
	// Per are the elements that make the key: vertices and edges, but no paths.
	Per []condition.Ref `json:"per"`
	// For is the time, in milliseconds of event time: a positive is dropped if one of its key was emitted at most so
	// long before.
	For int64 `json:"for"`
	// MaxKeys bounds the keys that are remembered. Beyond it the oldest are forgotten: of these another positive may be
	// emitted early, and none is lost.
	MaxKeys uint64 `json:"max_keys"`
}

// DefaultOnceKeys is MaxKeys where nothing is said: about 100 MB at most.
const DefaultOnceKeys = 1_000_000

// OnceKey is a hash of the elements that make a key, by identity: nobody chooses two keys of one hash.
type OnceKey [16]byte

// OnceTime is a time that may not be known.
type OnceTime struct {
	Known bool
	TS    int64
}

// OnceEntry is an item of a query's memory: when a positive of a key was emitted, or its clock.
type OnceEntry struct {
	Clock bool // it is the query's event time; Key is zero
	Key   OnceKey
	TS    int64
}

// OnceChange is one change by a batch of the remembered keys, for the checkpoint: an entry is set or, where After is
// not known, forgotten.
type OnceChange struct {
	Query         string
	Clock         bool
	Key           OnceKey
	Before, After OnceTime
}

// SetOnce gives the query the option, with keys by the names of vertices and edges.
func (q *Query) SetOnce(per []string, span int64, maxKeys uint64) error {
	o := &Once{For: span, MaxKeys: cmp.Or(maxKeys, DefaultOnceKeys)}
	for _, name := range per {
		at := slices.IndexFunc(q.Vertices, func(v QueryVertex) bool { return v.Name == name })
		edge := slices.IndexFunc(q.Edges, func(e QueryEdge) bool { return e.Name == name })
		switch {
		case at >= 0:
			o.Per = append(o.Per, condition.Ref{Index: at})
		case edge >= 0:
			o.Per = append(o.Per, condition.Ref{Edge: true, Index: edge})
		default:
			if q.Groups != nil {
				return q.bad("once.per names %s, which is no key of the last WITH", shown(name))
			}
			return q.bad("once.per names %s, which is no vertex or edge of the pattern", shown(name))
		}
	}
	q.Once = o
	return nil
}

// checkOnce checks the option, and what it is combined with.
func (q *Query) checkOnce() error {
	o := q.Once
	if o == nil {
		return nil
	}
	switch {
	case len(o.Per) == 0:
		return q.bad("once.per is empty; it names the vertices and edges that make a key, as in per: [m]")
	case o.For <= 0:
		return q.bad("once.for is %d ms; it is a duration of 1 ms at least", o.For)
	case o.MaxKeys == 0:
		return q.bad("once.max_keys is 0; it is 1 at least")
	case q.Emit != EmitDeltas:
		return q.bad("once goes with emit: deltas; counts and exists have no match that a key could be read of")
	case q.ExactTotal:
		return q.bad("once does not go with exact_total: how many positives it would leave is not known without them")
	}
	if err := q.checkElements(o.Per); err != nil {
		return q.bad("once.per: %v", err)
	}
	for i, r := range o.Per {
		if slices.Contains(o.Per[:i], r) {
			return q.bad("once.per names %q twice", q.ElementName(r))
		}
		if r.Edge && q.Edges[r.Index].Hops != nil {
			return q.bad("once.per names the path %q; a key is made of vertices and edges", q.ElementName(r))
		}
	}
	return nil
}

func sameOnce(a, b *Once) bool {
	return a == b || a != nil && b != nil && a.For == b.For && a.MaxKeys == b.MaxKeys && slices.Equal(a.Per, b.Per)
}

// onceMemory is the engine's memory of a query with Query.Once. Its times never exceed its clock.
type onceMemory struct {
	clock OnceTime
	last  map[OnceKey]int64 // when a positive of the key was emitted
	old   onceHeap          // the same
}

func newOnceMemory(entries []OnceEntry) *onceMemory {
	m := &onceMemory{last: make(map[OnceKey]int64, len(entries))}
	for _, e := range entries {
		if e.Clock {
			m.clock = OnceTime{true, e.TS}
			continue
		}
		m.last[e.Key] = e.TS
		m.old = append(m.old, onceAt{e.TS, e.Key})
	}
	heap.Init(&m.old)
	return m
}

// at returns the clock after a batch whose greatest ts is given: event time never falls.
func (m *onceMemory) at(greatest OnceTime) OnceTime {
	if greatest.Known && (!m.clock.Known || m.clock.TS < greatest.TS) {
		return greatest
	}
	return m.clock
}

// seen reports whether a positive of the key was emitted within the span before the clock.
func (m *onceMemory) seen(key OnceKey, clock OnceTime, span int64) bool {
	t, ok := m.last[key]
	return ok && uint64(clock.TS)-uint64(t) <= uint64(span)
}

// advance takes a batch over: its clock, and the keys that it noted. It forgets keys that are older than the option
// says, and the oldest beyond its maximum, and reports all that changes.
func (m *onceMemory) advance(q *Query, clock OnceTime, noted []OnceKey, report func(OnceChange)) {
	if clock != m.clock {
		report(OnceChange{Query: q.Name, Clock: true, Before: m.clock, After: clock})
		m.clock = clock
	}
	forget := func() {
		x := heap.Pop(&m.old).(onceAt)
		delete(m.last, x.key)
		report(OnceChange{Query: q.Name, Key: x.key, Before: OnceTime{true, x.ts}})
	}
	for len(m.old) > 0 && uint64(clock.TS)-uint64(m.old[0].ts) > uint64(q.Once.For) {
		forget()
	}
	for _, key := range noted {
		m.last[key] = clock.TS
		heap.Push(&m.old, onceAt{clock.TS, key})
		report(OnceChange{Query: q.Name, Key: key, After: clock})
	}
	for uint64(len(m.old)) > q.Once.MaxKeys {
		forget()
	}
}

// clear forgets all.
func (m *onceMemory) clear(q *Query, report func(OnceChange)) {
	if m.clock.Known {
		report(OnceChange{Query: q.Name, Clock: true, Before: m.clock})
	}
	for len(m.old) > 0 {
		x := heap.Pop(&m.old).(onceAt)
		report(OnceChange{Query: q.Name, Key: x.key, Before: OnceTime{true, x.ts}})
	}
	m.clock, m.last = OnceTime{}, nil
}

// onceAt is a key with its time. The oldest is the first, of one time the one with the lowest key.
type onceAt struct {
	ts  int64
	key OnceKey
}

type onceHeap []onceAt

func (h onceHeap) Len() int { return len(h) }
func (h onceHeap) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].ts, h[j].ts), slices.Compare(h[i].key[:], h[j].key[:])) < 0
}
func (h onceHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *onceHeap) Push(x any)   { *h = append(*h, x.(onceAt)) }
func (h *onceHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

// greatestTime returns the greatest ts of updates.
func greatestTime(updates []dyngraph.Update) (t OnceTime) {
	for i := range updates {
		if a := &updates[i].Attr; a.HasTS && (!t.Known || t.TS < a.TS) {
			t = OnceTime{true, a.TS}
		}
	}
	return t
}

// greatestIn returns the greatest ts in a graph: event time when a query is registered.
func greatestIn(view dyngraph.View) (t OnceTime) {
	for e := range view.EdgesSeq() {
		if a := view.Attr(e); a.HasTS && (!t.Known || t.TS < a.TS) {
			t = OnceTime{true, a.TS}
		}
	}
	return t
}

// onceStep has the notes of a step about one query.
type onceStep struct {
	began bool
	clock OnceTime
	noted []OnceKey // in the order of their records
	has   map[OnceKey]bool
}

// putOnce emits the rows of an event whose key had no positive within the time, as far as the query's cap wants them.
// The sample comes first. What the cap leaves out is not remembered.
func (s *stepper) putOnce(w *work, ev *Event, order uint32) error {
	q := w.state.Query
	if w.sum.Truncated { // nothing more of the batch is looked at
		return nil
	}
	if !w.once.began {
		w.once = onceStep{began: true, clock: w.memory.at(greatestTime(s.b.Updates)), has: map[OnceKey]bool{}}
	}
	w.budget.sampled(ev.Rows.Len())
	kept, cut := s.e.kept[:0], false
	for i := range ev.Rows.Len() {
		row := ev.Rows.Row(i)
		if q.Sample > 1 {
			in, err := s.e.opt.Sampled(ev.Pattern(), ev.View, row)
			if err != nil {
				return fmt.Errorf("the id of a match of query %q: %w", q.Name, err)
			}
			if !in {
				continue
			}
		}
		key, err := s.e.opt.OnceKey(ev.Pattern(), ev.View, row)
		if err != nil {
			return fmt.Errorf("the key of a match of query %q: %w", q.Name, err)
		}
		if w.once.has[key] || w.memory.seen(key, w.once.clock, q.Once.For) {
			w.sum.Once++
			continue
		}
		if cut = q.MaxMatches > 0 && w.taken == q.MaxMatches; cut {
			break
		}
		w.taken++
		if w.once.clock.Known { // without event time nothing is within a time
			w.once.has[key] = true
			w.once.noted = append(w.once.noted, key)
		}
		kept = append(kept, row...)
	}
	s.e.kept = kept
	ev.Rows.Data = kept
	if ev.Rows.Len() > 0 {
		if err := s.put(w, ev); err != nil {
			return err
		}
	}
	return s.truncated(w, ev, order, cut)
}

// onceChange notes a change for the checkpoint.
func (s *stepper) onceChange(c OnceChange) { s.sum.Once = append(s.sum.Once, c) }

// settleOnce takes over what the batch noted, and event time, of all queries with the option.
func (s *stepper) settleOnce() {
	if len(s.e.once) == 0 {
		return
	}
	greatest := greatestTime(s.b.Updates)
	noted := map[*registered][]OnceKey{}
	for i := range s.work {
		w := &s.work[i]
		if noted[w.registered] = w.once.noted; w.suspended != nil && w.memory != nil {
			w.memory.clear(w.state.Query, s.onceChange)
		}
	}
	for _, r := range s.e.once {
		if r.memory != nil && r.memory.last != nil && !r.state.Suspended {
			r.memory.advance(r.state.Query, r.memory.at(greatest), noted[r], s.onceChange)
		}
	}
}
