package cpu

import (
	"runtime"
	"slices"

	"motifd/matcher"
	"motifd/matcher/cpu/internal/backtrack"
	"motifd/matcher/cpu/internal/work"
	"motifd/matcher/internal/rowsort"
)

// worker searches chunks of anchors and parts of groups.
type worker struct {
	s *rowSearch
	// se is the searcher of the request at hand: plain, or that of its kept space.
	se, plain *searcher
	kept      map[*keptWay]*searcher

	st  rowsort.Sorter
	out rowsort.Writer
	// ready are groups that are complete but not queued, and their size in bytes.
	ready []*group
	bytes int
	spare *group // one that is not in use
	// at is the group that is searched, and starts are those of its starts that are not begun.
	at     *group
	starts []start
}

func newWorker(s *rowSearch) *worker {
	w := &worker{s: s, plain: s.b.newSearcher(&s.stop, matcher.WantRows),
		st: rowsort.Sorter{Memory: s.b.opt.GroupMemory, Stop: &s.stop}}
	w.st.Reuse(w.plain.Room)
	w.plain.UseMemo(&s.endings)
	w.setUp(w.plain)
	w.se = w.plain
	return w
}

// setUp makes a searcher work for the worker.
func (w *worker) setUp(se *searcher) {
	s := w.s
	se.Out, se.Interrupted = &w.st, w.interrupted
	if s.b.opt.Threads > 1 {
		se.Sharing = work.Sharing{Hungry: &s.hungry, Give: w.give, Wanted: w.wanted, Whole: w.giveStarts,
			Every: s.b.work.ShareEvery}
	}
}

// use takes the searcher for a request.
func (w *worker) use(request int) {
	way := w.s.of[request].way
	if w.se = w.kept[way]; way == nil {
		w.se = w.plain
	} else if w.se == nil {
		w.se = &searcher{}
		w.se.Attach(way.shared, &w.s.stop, matcher.WantRows)
		w.se.UseMemo(&w.s.of[request].endings)
		w.setUp(w.se)
		if w.kept == nil {
			w.kept = map[*keptWay]*searcher{}
		}
		w.kept[way] = w.se
	}
}

// steps returns how many steps the worker has made.
func (w *worker) steps() uint64 {
	n := w.plain.Steps
	for _, se := range w.kept {
		n += se.Steps
	}
	return n
}

// run works until the search ends.
func (w *worker) run() {
	s := w.s
	defer w.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.failed {
		if w.help(len(s.queues)) {
			continue
		}
		if c := s.next; c < len(s.queues) {
			s.next++
			work.Unlocked(&s.mu, func() { w.chunk(c) })
			continue
		}
		s.idle++
		s.hungry.Add(1)
		s.work.Wait()
		s.hungry.Add(-1)
		s.idle--
	}
}

// release ends the worker.
func (w *worker) release() {
	w.out.Close()
	w.st.Drop()
	for _, se := range w.kept {
		se.Detach()
	}
	w.plain.Room = w.st.Release()
	w.plain.Interrupted = w.plain.CapReached
	w.s.b.release(w.plain)
}

// help does what others have given away, if there is any: a range of a merge, or a part of a group of a chunk before
// the given one. s.mu is held, but not meanwhile.
func (w *worker) help(before int) bool {
	s := w.s
	if p := s.takeMerge(); p != nil {
		work.Unlocked(&s.mu, p.merge)
		s.emitter.Signal()
		return true
	}
	if p := s.takePart(before); p != nil {
		w.use(p.g.request)
		s.b.work.Taken(&p.Part, &w.se.Worker)
		work.Unlocked(&s.mu, func() { w.part(p) })
		return true
	}
	return false
}

// chunk searches all groups of a chunk.
func (w *worker) chunk(c int) {
	s := w.s
	from := 0
	if c > 0 {
		from = s.ends[c-1]
	}
	for i := from; i < s.ends[c] && !s.stop.Load(); i++ {
		for starts := s.starts[i]; len(starts) > 0; {
			n := groupOf(starts)
			if g := w.group(c, s.nets[i], starts[:n:n]); g != nil {
				w.bytes += g.rows.Bytes()
				w.ready = append(w.ready, g)
				if w.bytes >= 16*rowsort.BlockWords {
					w.queue(c)
				}
			}
			starts = starts[n:]
		}
	}
	s.come.Done(s.ends[c] - from)
	w.queue(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done[c] = true
	s.emitter.Signal()
}

// groupOf returns how many starts belong to the first one's request.
func groupOf(starts []start) int {
	n := 1
	for n < len(starts) && starts[n].request == starts[0].request {
		n++
	}
	return n
}

// group searches a group and returns it, complete; nil if it has nothing, or is queued since others have parts of it.
func (w *worker) group(c int, order uint32, starts []start) *group {
	s, r := w.s, starts[0].request
	of, limit := &s.of[r], s.reqs[r].Limit
	w.use(r)
	if s.reqs[r].Skips(order) || of.closed.Load() {
		return nil
	}
	if limit > 0 {
		if limit -= of.emitted.Load(); limit == 0 {
			return nil
		}
	}
	g := w.spare
	if g == nil {
		g = &group{s: s}
	}
	w.spare = nil
	g.rows, g.tripped = rowsort.Sorted{}, false
	g.chunk, g.request, g.order, g.file.Open, g.file.Budget = c, r, order, s.b.opt.TempFiles, s.reqs[r].Budget
	if g.cut.Limit = 0; limit > 0 {
		g.cut.Begin(&s.b.shared, limit, g)
	}
	if g.meter.Begin(s.reqs[r].Budget, limit > 0) != matcher.NoCause {
		g.tripped = true
		return g
	}
	if s.b.work.Hold != nil {
		s.b.work.Hold(func() bool { return s.hungry.Load() > 0 })
	}
	tripped, first := w.search(g, starts, nil)
	if w.se.Gave {
		w.finish(g, tripped, first)
		w.queue(c)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.queues[c] = append(s.queues[c], g)
		s.emitter.Signal()
		return nil
	}
	if g.tripped = tripped; tripped {
		w.st.Drop() // no row of it is emitted
		g.file.Close()
		return g
	}
	g.rows = w.st.Finish(&w.out)
	g.rows.File = &g.file
	if g.rows.Count == 0 && g.rows.Err == nil {
		g.rows.Close()
		w.spare = g
		return nil
	}
	return g
}

// part searches a part of a group.
func (w *worker) part(p *groupPart) {
	tripped, first := w.search(p.g, p.starts, p)
	w.finish(p.g, tripped, first)
}

// search searches starts of a group or, when there are none, the candidates that p names; the rows are in w.st then.
// It tells whether the group is beyond its budget, and whether these are the first rows of the group, so that no others
// are wanted (see cut).
func (w *worker) search(g *group, starts []start, p *groupPart) (tripped, first bool) {
	s, se, of := w.s, w.se, &w.s.of[g.request]
	w.st.Begin(of.layout, g.cut.Limit, &g.file)
	w.st.Presorted = tailOf(starts, p)
	se.Measure(&g.meter)
	began := se.Told
	se.Closed = &of.closed
	w.at, w.starts, se.Next, se.Gave = g, starts, se.Steps+se.Every, false
	se.Silence = s.reqs[g.request].Silence
	se.Stopped, se.Tripped = false, false
	g.cut.Measure(&se.Search)
	if len(starts) == 0 && !se.Stopped {
		se.Resume(p.Work.(*backtrack.Part))
		tripped = se.Tripped
	}
	for len(w.starts) > 0 && !se.Stopped {
		o := w.starts[0].order
		w.starts = w.starts[1:]
		se.FromAnchor(o, &s.b.delta.Net[g.order], g.order)
		tripped = tripped || se.Tripped
	}
	w.at, w.starts = nil, nil
	tripped = !se.Spend() || tripped
	se.Meter, se.Closed, se.Cap = nil, nil, nil
	of.steps.Add(int64(se.Told.Steps - began.Steps))
	of.ns.Add(se.Told.At - began.At)
	if g.cut.IsDone() {
		return false, g.cut.Give(&se.Search, &w.st)
	}
	return tripped, false
}

// tailOf returns the tail of the rows of starts, or of a part.
func tailOf(starts []start, p *groupPart) int {
	if len(starts) == 0 {
		return p.Work.(*backtrack.Part).SortedTail()
	}
	n := starts[0].order.SortedTail
	for _, s := range starts[1:] {
		n = min(n, s.order.SortedTail)
	}
	return n
}

// finish hands over the rows of a part of a shared group. It never waits: when there is no room they go to disk. The
// first rows take the place of all others.
func (w *worker) finish(g *group, tripped, first bool) {
	s := w.s
	if tripped {
		w.st.Drop() // no row of the group is emitted
	}
	rows := w.st.Finish(nil)
	n := rows.Bytes()
	s.mu.Lock()
	spill := s.queued+n > s.b.opt.QueueMemory && !s.first(g)
	s.mu.Unlock()
	if spill && n > 0 {
		rows.Spill(&g.file)
		n = rows.Bytes()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	g.rows.Layout, g.rows.File = rows.Layout, &g.file
	switch {
	case first:
		s.queued -= g.rows.Bytes()
		g.rows.Drop()
	case g.cut.IsDone():
		rows.Drop()
		n = 0
	}
	g.rows.Join(rows)
	g.tripped = g.tripped || tripped
	s.queued += n
	g.open--
	s.emitter.Signal()
}

// first tells whether a group is the next one to be emitted, as far as is known.
func (s *rowSearch) first(g *group) bool {
	q := s.queues[s.head]
	return g.chunk == s.head && (len(q) == 0 || q[0] == g)
}

// queue hands the complete groups of a chunk to the emitter. It waits for room, unless the emitter waits for them;
// meanwhile it does what the emitter may be waiting for.
func (w *worker) queue(c int) {
	if len(w.ready) == 0 {
		return
	}
	s := w.s
	ready, n := w.ready, w.bytes
	w.ready, w.bytes = nil, 0
	w.out.Close()
	s.mu.Lock()
	for s.full(c, n) {
		if w.help(s.head + 1) {
			continue
		}
		s.waiting++
		s.hungry.Add(1)
		s.work.Wait()
		s.hungry.Add(-1)
		s.waiting--
	}
	s.append(c, ready, n)
	s.mu.Unlock()
	// If the emitter waits for this, it goes first: its blocks are then written again while they are in a near cache,
	// and few are needed. Otherwise it would wait for a processor, for 10 ms where each has a worker.
	runtime.Gosched()
}

// interrupted hands over the complete groups when the search of another one takes long, if there is room for them, and
// reports whether that search is to end. The emitter may find in them that the query of this search is closed, or that
// limits hold from now on: where a search has no limits, as in a replay, it would not end otherwise.
func (w *worker) interrupted() bool {
	if s := w.s; len(w.ready) > 0 {
		c := w.ready[0].chunk
		s.mu.Lock()
		if !s.full(c, w.bytes) {
			s.append(c, w.ready, w.bytes)
			w.ready, w.bytes = nil, 0
			w.out.Close()
		}
		s.mu.Unlock()
	}
	return w.se.CapReached()
}

// full reports whether groups of a chunk, of n bytes, have to wait for room. s.mu is held.
func (s *rowSearch) full(c, n int) bool {
	return s.queued > 0 && s.queued+n > s.b.opt.QueueMemory && !s.failed && (c != s.head || len(s.queues[c]) > 0)
}

// append queues complete groups of a chunk, of n bytes, for the emitter. s.mu is held.
func (s *rowSearch) append(c int, ready []*group, n int) {
	s.queued += n
	s.queues[c] = append(s.queues[c], ready...)
	s.emitter.Signal()
}

// wanted tells whether there is a worker for a part of g that has not enough parts to choose from.
func (s *rowSearch) wanted(g *group) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.begun {
		s.begin()
		if s.b.work.Hold != nil {
			work.Unlocked(&s.mu, func() { s.b.work.Hold(func() bool { return s.hungry.Load() > 0 }) })
		}
	}
	n := s.idle
	if g.chunk == s.head {
		n += s.waiting
	}
	return n > len(s.parts)
}

// groupPart is a part of a group's search, given away: what is left of a search, or starts.
type groupPart struct {
	work.Part
	g      *group
	starts []start
}

// give gives away part of the search at hand.
func (w *worker) give(p any) {
	w.s.give(&groupPart{Part: work.Part{Work: p, By: &w.se.Worker}, g: w.at})
}

// wanted reports whether a part of the group at hand is wanted.
func (w *worker) wanted() bool { return w.s.wanted(w.at) }

// giveStarts gives away half of the starts that are not begun, if there are any.
func (w *worker) giveStarts() bool {
	n := len(w.starts)
	if n == 0 {
		return false
	}
	keep := n / 2
	w.s.give(&groupPart{Part: work.Part{By: &w.se.Worker}, g: w.at, starts: w.starts[keep:]})
	w.starts = w.starts[:keep:keep]
	return true
}

// give takes over a part of a group's search.
func (s *rowSearch) give(p *groupPart) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.g.open == 0 {
		p.g.open = 1 // the part of the worker that gives
	}
	p.g.open++
	s.parts = append(s.parts, p)
	s.work.Broadcast()
	s.b.work.HoldGiver(&s.mu, &p.Part, &s.stop)
}

// takePart returns a part of the earliest group, in a chunk before before, or nil. s.mu is held.
func (s *rowSearch) takePart(before int) *groupPart {
	best := -1
	for i, p := range s.parts {
		if p.g.chunk < before && (best < 0 || p.g.order < s.parts[best].g.order) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	p := s.parts[best]
	s.parts = slices.Delete(s.parts, best, best+1)
	return p
}
