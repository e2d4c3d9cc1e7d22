package groups

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
)

// windowState is the kept state of a hub of a window: its members and its pivots by ts, and the window of the last
// pivot that was counted.
type windowState struct {
	members, pivots timeList
	last            *cursor // of the new graph; nil for none
}

// cursor is the tally of a view's members at the places [lo, hi). Both ends move forward only.
type cursor struct {
	tally
	lo, hi int64
	which  int            // 0 for the old view
	others map[uint32]int // members by their other end
}

// newWindow collects the members and pivots of a hub in a view.
func (b *batch) newWindow(hub uint32, which dyngraph.Which) (*windowState, error) {
	collect := func(role *spoke) (timeList, error) {
		s := b.views[which]
		var all []entry
		err := s.eachEdge(role, hub, func(e, other uint32) error {
			ts := s.view.Value(dyngraph.EdgeIndex(e), property.TS)
			if !ts.IsNull() {
				all = append(all, entry{ts: ts.Whole(), edge: e, other: other})
			}
			return checkNear(ts)
		})
		return newTimeList(all), err
	}
	w := &windowState{}
	var err error
	if w.members, err = collect(&b.x.shape.member); err == nil {
		w.pivots, err = collect(b.x.shape.pivot)
	}
	return w, err
}

// windowBatch counts the pivots of one hub that a batch concerns.
type windowBatch struct {
	*batch
	hub     uint32
	w       *windowState
	changes [2]memberChanges // by view
	sweep   [2]*cursor
	paired  map[int64]bool // places of both versions of pivots that the batch replaces
}

// window changes the state of a hub by the changed edges, and notes the groups that begin or end.
func (b *batch) window(hub uint32, changes []hubChange, o *outcome) error {
	kept, err := b.x.shape.state(hub, func(kept *hubState) (err error) {
		kept.window, err = b.newWindow(hub, dyngraph.Old)
		return err
	})
	if err != nil {
		return err
	}
	wb := &windowBatch{batch: b, hub: hub, w: kept.window}
	if err := wb.stage(changes); err != nil {
		return err
	}
	if err := wb.replaced(o); err != nil {
		return err
	}
	return wb.eachPivot(func(place int64) (int64, error) { return wb.pivot(place, o) })
}

// stage enters the changed edges into their lists.
func (b *windowBatch) stage(changes []hubChange) error {
	var members, pivots [2][]entry // by view
	for _, c := range changes {
		n, which, of := &b.delta.Net[c.order], dyngraph.New, &pivots
		if n.Sign == dyngraph.Deleted {
			which = dyngraph.Old
		}
		s := b.views[which]
		if !s.bindSpoke(c.role, n.Edge) {
			continue
		}
		ts := s.view.Value(n.Edge, property.TS)
		if err := checkNear(ts); err != nil {
			return err
		}
		if ts.IsNull() {
			continue
		}
		if c.role == &b.x.shape.member {
			of = &members
			b.changes[which].add(ts.Whole(), c.order)
		}
		e := entry{ts: ts.Whole(), edge: uint32(n.Edge), other: s.vertices[c.role.other]}
		of[which] = append(of[which], e)
	}
	for which := range b.changes {
		b.changes[which].end()
	}
	w := b.w
	w.pivots.stage(pivots[dyngraph.New], pivots[dyngraph.Old])
	if !w.members.stage(members[dyngraph.New], members[dyngraph.Old]) {
		w.last = nil
	}
	for _, place := range w.members.changed {
		e, last := w.members.at(place), w.last
		if e.state == inOld && last != nil && last.lo <= place && place < last.hi {
			last.take(b.views[dyngraph.Old], b.batch, b.hub, e, -1)
		}
	}
	return nil
}

// checkNear refuses a ts beyond farTime.
func checkNear(ts property.Value) error {
	if ts.Whole() < -farTime || ts.Whole() > farTime {
		return errFar
	}
	return nil
}

// take adds an entry to the tally, or takes it off.
func (c *cursor) take(s *search, b *batch, hub uint32, e *entry, sign int) {
	if len(c.sums) > 0 && b.sums {
		s.clear()
		h := b.x.shape
		s.edges[h.member.edge], s.vertices[h.member.hub], s.vertices[h.member.other] = e.edge, hub, e.other
		c.add(s, int64(sign))
	} else {
		c.rows += uint64(sign)
	}
	if b.distinct {
		n := c.others[e.other] + sign
		switch {
		case n == 0:
			delete(c.others, e.other)
			c.distinct--
			return
		case n == 1 && sign > 0:
			c.distinct++
		}
		c.others[e.other] = n
	}
}

// shift adds, with saturation.
func shift(ts, by int64) int64 {
	switch sum := ts + by; {
	case by > 0 && sum < ts:
		return math.MaxInt64
	case by < 0 && sum > ts:
		return math.MinInt64
	default:
		return sum
	}
}

// bounds returns the ts of the members in a pivot's window; -least and -most are within int64 or the least one.
func (h *shape) bounds(pivot int64) (from, to int64) {
	return shift(pivot, h.least), shift(pivot, h.most)
}

// pivotsOf returns the ts of the pivots whose windows have a member.
func (h *shape) pivotsOf(member int64) (from, to int64) {
	less := func(ts, by int64) int64 {
		if by == math.MinInt64 {
			return math.MaxInt64
		}
		return shift(ts, -by)
	}
	from, to = less(member, h.most), less(member, h.least)
	if h.most == math.MaxInt64 {
		from = math.MinInt64
	}
	return from, to
}

// eachPivot calls f for the places of the pivots that the batch concerns, ascending. f returns the place at which to go
// on.
func (b *windowBatch) eachPivot(f func(place int64) (int64, error)) error {
	type span struct{ from, to int64 } // places
	var spans []span
	l := &b.w.pivots
	for _, place := range b.w.pivots.changed {
		spans = append(spans, span{place, place + 1})
	}
	for which := range b.changes {
		for _, c := range b.changes[which].all {
			from, to := b.x.shape.pivotsOf(c.ts)
			end := l.end()
			if to != math.MaxInt64 {
				end = l.from(to + 1)
			}
			spans = append(spans, span{l.from(from), end})
		}
	}
	slices.SortFunc(spans, func(x, y span) int { return cmp.Compare(x.from, y.from) })
	next := int64(math.MinInt64)
	for _, s := range spans {
		for next = max(next, s.from); next < s.to; {
			if l.at(next).state == gone || b.paired[next] {
				next++
				continue
			}
			to, err := f(next)
			if err != nil {
				return err
			}
			next = to
		}
	}
	return nil
}

// pivot counts the group of a pivot in both views, unless one decides alone, and returns the next place.
func (b *windowBatch) pivot(place int64, o *outcome) (int64, error) {
	p := b.w.pivots.at(place)
	keys := b.keysOf(p)
	var groups [2]group
	h := b.x.shape
	// If more members never make the condition false: after deletions alone, one that still holds has held before;
	// after insertions alone, one that held still holds.
	deletes, inserts := b.within(0, p.ts), b.within(1, p.ts)
	first := 1
	if h.monotone && inserts {
		first = 0
	}
	for _, which := range []int{first, 1 - first} {
		if !p.state.in(which) {
			continue
		}
		c, err := b.seek(which, p.ts)
		if err != nil {
			return 0, err
		}
		groups[which] = c.group(b.x, b.views[which].view, keys)
		b.listed(&groups[which], &b.w.members, c.lo, c.hi, dyngraph.Which(which))
		if !h.monotone || p.state != inBoth || which != first || !groups[which].holds {
			continue
		}
		if which == 1 && !inserts {
			return b.skip(place), nil
		}
		if which == 0 && !deletes {
			return place + 1, nil
		}
	}
	for which := range groups {
		if p.state.in(which) {
			b.noteMembers(&groups[which], which, p.ts)
		}
	}
	return place + 1, b.compare(o, keys, &groups[0], &groups[1])
}

// within reports whether a pivot's window has a changed member that a view has.
func (b *windowBatch) within(which int, pivot int64) bool {
	from, to := b.changes[which].between(b.x.shape.bounds(pivot))
	return from < to
}

// noteMembers notes the changed members of a pivot's window in a view.
func (b *windowBatch) noteMembers(g *group, which int, pivot int64) {
	changes := &b.changes[which]
	if from, to := changes.between(b.x.shape.bounds(pivot)); from < to {
		orders := changes.orders(from, to)
		g.note(orders.least)
		g.note(orders.most)
	}
}

// replaced counts the pivots that the batch replaces: both versions are of one group.
func (b *windowBatch) replaced(o *outcome) error {
	versions := make(map[uint32][2]int64) // by edge: places plus 1, by view
	for _, place := range b.w.pivots.changed {
		e := b.w.pivots.at(place)
		v := versions[e.edge]
		v[e.state-inOld] = place + 1
		versions[e.edge] = v
	}
	for _, v := range versions {
		if v[0] == 0 || v[1] == 0 {
			continue
		}
		if b.paired == nil {
			b.paired = make(map[int64]bool)
		}
		var groups [2]group
		keys := b.keysOf(b.w.pivots.at(v[0] - 1))
		for which, place := range v {
			b.paired[place-1] = true
			p := b.w.pivots.at(place - 1)
			lo, hi := b.places(p.ts)
			c := b.newCursor(which, lo)
			if err := b.move(c, lo, hi); err != nil {
				return err
			}
			groups[which] = c.group(b.x, b.views[which].view, keys)
			b.listed(&groups[which], &b.w.members, lo, hi, dyngraph.Which(which))
			b.noteMembers(&groups[which], which, p.ts)
		}
		if err := b.compare(o, keys, &groups[0], &groups[1]); err != nil {
			return err
		}
	}
	return nil
}

// skip returns the next place behind a pivot that has enough members in the new view. Later pivots have enough, too, as
// long as their windows begin before all members that are left.
func (b *windowBatch) skip(place int64) int64 {
	l := &b.w.members
	front := l.first
	for front < l.end() && !l.at(front).state.in(1) {
		front++
	}
	if front == l.end() {
		return place + 1
	}
	_, to := b.x.shape.pivotsOf(l.at(front).ts)
	if to == math.MaxInt64 {
		return b.beforeChanged(place, b.w.pivots.end())
	}
	return b.beforeChanged(place, b.w.pivots.from(to+1))
}

// beforeChanged returns the place to, or an earlier one behind place: that of the first pivot in between that the batch
// changes, or whose window has a member that it inserts.
func (b *windowBatch) beforeChanged(place, to int64) int64 {
	pivots := &b.w.pivots
	first := func(c memberChange) int64 {
		from, _ := b.x.shape.pivotsOf(c.ts)
		return pivots.from(from)
	}
	inserted := b.changes[dyngraph.New].all
	if i := sort.Search(len(inserted), func(i int) bool { return first(inserted[i]) > place }); i < len(inserted) {
		to = min(to, first(inserted[i]))
	}
	if i, _ := slices.BinarySearch(pivots.changed, place+1); i < len(pivots.changed) {
		to = min(to, pivots.changed[i])
	}
	return max(place+1, to)
}

func (b *windowBatch) keysOf(p *entry) []uint32 {
	var keys []uint32
	for _, v := range b.x.stage.Vertices {
		if v == b.x.shape.member.hub {
			keys = append(keys, b.hub)
		} else {
			keys = append(keys, p.other)
		}
	}
	return append(keys, p.edge)
}

// seek returns a cursor of a view at the window of a pivot: the cursor of the last pivot counted if that one lies
// before, or else one that sweeps over the pivots of the batch.
func (b *windowBatch) seek(which int, pivot int64) (*cursor, error) {
	l := &b.w.members
	lo, hi := b.places(pivot)
	c := b.sweep[which]
	if last := b.w.last; which == 1 && last != nil && last.lo <= lo && last.hi <= hi && hi-last.hi <= hi-lo {
		c = last
	} else if c == nil || c.lo > lo || c.hi > hi || lo >= c.hi {
		c = b.newCursor(which, lo)
		if b.sweep[which] = c; which == 1 && hi == l.end() {
			b.w.last = c
		}
	}
	return c, b.move(c, lo, hi)
}

// places returns the places of the members in a pivot's window.
func (b *windowBatch) places(pivot int64) (lo, hi int64) {
	l := &b.w.members
	from, to := b.x.shape.bounds(pivot)
	lo, hi = l.from(from), l.end()
	if to != math.MaxInt64 {
		hi = l.from(to + 1)
	}
	return lo, max(lo, hi)
}

func (b *windowBatch) newCursor(which int, at int64) *cursor {
	return &cursor{tally: newTally(b.x), lo: at, hi: at, which: which, others: map[uint32]int{}}
}

// move moves a cursor on.
func (b *windowBatch) move(c *cursor, lo, hi int64) error {
	l, s := &b.w.members, b.views[c.which]
	for c.lo = max(c.lo, l.first); c.hi < hi; c.hi++ {
		if err := s.work.Step(); err != nil {
			b.w.last = nil
			return err
		}
		if e := l.at(c.hi); e.state.in(c.which) {
			c.take(s, b.batch, b.hub, e, 1)
		}
	}
	for ; c.lo < lo; c.lo++ {
		if e := l.at(c.lo); e.state.in(c.which) {
			c.take(s, b.batch, b.hub, e, -1)
		}
	}
	return nil
}

// settle makes the staged batch final.
func (w *windowState) settle() {
	w.members.settle()
	w.pivots.settle()
	if w.members.compact() {
		w.last = nil
	}
	w.pivots.compact()
}
