//go:build cuda || emu

package cuda

import (
	"context"
	"iter"
	"slices"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/cuda/internal/mirror"
)

// Search implements matcher.Backend: it divides the requests between the device and the CPU backend, and merges their
// groups.
func (b *Backend) Search(ctx context.Context, sign dyngraph.Sign, reqs []matcher.Request,
	emit func(matcher.Group) error, over matcher.Exceeded) ([]matcher.Result, error) {
	here, there := make([]int, 0, len(reqs)), []int(nil) // requests of the device, and of the CPU
	for i := range reqs {
		switch {
		case b.plans[reqs[i].Plan] == nil:
			return nil, unprepared(reqs[i].Plan)
		case !b.lost && reqs[i].Silence == nil && b.takes(reqs[i].Plan, reqs[i].Budget):
			here = append(here, i)
		default:
			there = append(there, i)
		}
	}
	if len(here) == 0 {
		return b.cpu.Search(ctx, sign, reqs, emit, over)
	}
	s := newBatchSearch(b, sign, reqs, emit, over)
	if len(there) == 0 { // the usual case
		return s.results, s.search(ctx, here)
	}
	m := newMerger(ctx, b, sign, reqs, there, s.results, emit, over)
	defer m.close()
	if err := m.peek(); err != nil {
		return nil, err
	}
	s.out.emit, s.out.over = m.emitted, m.over
	if err := s.search(ctx, here); err != nil {
		return nil, err
	}
	return s.results, m.rest()
}

// takes reports whether the device can do a search. Requests that are metered group by group and plans beyond it are
// for the CPU, and so is all of a batch that the mirror cannot show. Requests with a silence, which look at both views
// of a match, are the CPU's, too.
func (b *Backend) takes(p *matcher.Plan, budget *matcher.Budget) bool {
	return b.plans[p] != beyond && !budget.Metered() && (b.delta == nil || mirror.Shows(b.delta) && !b.revised(p))
}

// revised reports whether the staged batch revises vertices that matter for a plan. Candidate bits do not tell then
// what holds in which view.
func (b *Backend) revised(p *matcher.Plan) bool {
	if len(b.delta.Revised) == 0 || !p.Query.ReadsVertices() {
		return false
	}
	matters, known := b.matters[p]
	if !known {
		matters = slices.ContainsFunc(b.delta.Revised, func(r dyngraph.Revision) bool {
			return p.IsRevisedBy(b.g, r.Vertex)
		})
		b.matters[p] = matters
	}
	return matters
}

// search answers the requests that the device can answer.
func (s *batchSearch) search(ctx context.Context, here []int) error {
	if !slices.ContainsFunc(s.b.delta.Net, func(n dyngraph.NetEdge) bool { return n.Sign == s.sign }) {
		return nil
	}
	defer s.b.graphPlaced()
	return s.place(ctx, here)
}

// merger merges the groups of the CPU backend's requests into those of the device's, by (anchor, query name).
type merger struct {
	next  func() (matcher.Group, error, bool)
	stop  func()
	head  matcher.Group
	cause matcher.Cause // why head is left out, or NoCause
	there []int         // the requests of the CPU
	have  bool          // head is valid
	emit  func(matcher.Group) error
	tell  matcher.Exceeded
	stop1 bool // the result of tell for the last head that was left out
}

func newMerger(ctx context.Context, b *Backend, sign dyngraph.Sign, reqs []matcher.Request, there []int,
	results []matcher.Result,
	emit func(matcher.Group) error, over matcher.Exceeded) *merger {
	m := &merger{there: there, emit: emit, tell: over}
	sub := requestsOf(reqs, there)
	m.next, m.stop = iter.Pull2(func(yield func(matcher.Group, error) bool) {
		got, err := b.cpu.Search(ctx, sign, sub, func(g matcher.Group) error {
			g.Request = there[g.Request]
			if !yield(g, nil) {
				return errStopped
			}
			return nil
		}, func(k int, order uint32, cause matcher.Cause) (bool, error) { // in order, like a group
			m.cause = cause
			if !yield(matcher.Group{Request: there[k], Order: order}, nil) {
				return false, errStopped
			}
			return m.stop1, nil
		})
		if err == errStopped {
			return
		}
		if err != nil {
			yield(matcher.Group{}, err)
			return
		}
		for k, i := range there {
			results[i] = got[k]
		}
	})
	return m
}

func (m *merger) close() {
	m.stop()
}

// peek sets head to the next group of the CPU, if there is one.
func (m *merger) peek() (err error) {
	m.head, err, m.have = m.next()
	return err
}

// emitted emits a group of the device, after the CPU's groups that precede it.
func (m *merger) emitted(g matcher.Group) error {
	if err := m.before(g.Request, g.Order); err != nil {
		return err
	}
	return m.emit(g)
}

// over reports a group of the device that is left out.
func (m *merger) over(request int, order uint32, cause matcher.Cause) (stop bool, err error) {
	if err := m.before(request, order); err != nil {
		return false, err
	}
	return m.tell(request, order, cause)
}

// before emits the CPU's groups that precede a group of the device.
func (m *merger) before(request int, order uint32) error {
	for m.have && (m.head.Order < order || m.head.Order == order && m.head.Request < request) {
		if err := m.flush(); err != nil {
			return err
		}
	}
	return nil
}

func (m *merger) flush() (err error) {
	if cause := m.cause; cause != matcher.NoCause {
		m.cause = matcher.NoCause
		m.stop1, err = m.tell(m.head.Request, m.head.Order, cause)
	} else {
		err = m.emit(m.head)
	}
	if err != nil {
		return err
	}
	return m.peek()
}

func (m *merger) rest() error {
	for m.have {
		if err := m.flush(); err != nil {
			return err
		}
	}
	return nil
}

// batchSearch is one Search, on the device and on the CPU.
type batchSearch struct {
	b       *Backend
	sign    dyngraph.Sign
	reqs    []matcher.Request
	results []matcher.Result
	out     emitter
	catchUp int64 // nanoseconds that the mirror took to catch up
}

func newBatchSearch(
	b *Backend,
	sign dyngraph.Sign,
	reqs []matcher.Request,
	emit func(matcher.Group) error,
	over matcher.Exceeded,
) *batchSearch {
	s := &batchSearch{b: b, sign: sign, reqs: reqs, results: make([]matcher.Result, len(reqs))}
	s.out = emitter{
		s:       s,
		emit:    emit,
		over:    over,
		emitted: make([]uint64, len(reqs)),
		closed:  make([]bool, len(reqs)),
		request: -1,
	}
	return s
}

// budget returns the budget of a request.
func (s *batchSearch) budget(i int) *matcher.Budget { return s.reqs[i].Budget }

// replaces reports whether a staged batch replaces edges. Only the kernels that test conditions tell their versions.
func (b *Backend) replaces() bool { return b.delta != nil && b.delta.Replaced > 0 }

// job returns a job for some requests.
func (s *batchSearch) job(of []int) *job {
	j := &job{sees: kernels.SeeInserted, requests: len(s.reqs), vertices: int(s.b.g.IDBound()),
		owner: slices.Repeat([]uint32{kernels.None}, len(s.b.table.programs))}
	if s.sign == dyngraph.Deleted {
		j.sees = kernels.SeeDeleted
	}
	j.where = s.b.replaces()
	j.meter = newMeter(of, s.budget, s.results)
	for _, i := range of {
		for _, p := range s.b.plans[s.reqs[i].Plan].of(s.reqs[i].Want) {
			if p != kernels.None {
				j.owner[p] = uint32(i)
			}
		}
	}
	return j
}

// onDevice answers requests. If a device fails, those that are left continue where it stopped, or after the last one
// the CPU backend if Options.Lost is set. The CPU backend continues, too, if a device has too little memory.
func (s *batchSearch) onDevice(ctx context.Context, here []int) error {
	var totals, rows []int
	for _, i := range here {
		if s.reqs[i].Want == matcher.WantRows {
			rows = append(rows, i)
		} else {
			totals = append(totals, i)
		}
	}
	which := dyngraph.New
	if s.sign == dyngraph.Deleted {
		which = dyngraph.Old
	}
	err := s.b.catchUp(ctx, which)
	s.catchUp = s.b.caughtUp
	left := here // to be answered
	var parts []part
	if err == nil {
		parts = s.byKernel(totals)
	}
	for _, p := range parts {
		if err = s.totals(ctx, p); err != nil {
			break
		}
		left = without(left, p.of)
	}
	if s.b.failed(err) {
		return s.onCPU(ctx, left, matcher.AllOrders) // rows come after totals
	} else if err != nil {
		return err
	}
	for err = s.rows(ctx, rows); s.b.dropped(err); {
		err = s.rows(ctx, rows)
	}
	if s.b.failed(err) {
		return s.onCPU(ctx, rows, matcher.AllOrders)
	}
	return err
}

// part is requests for totals that are searched together, and their tasks.
type part struct {
	of   []int
	work *tasks
}

// byKernel divides requests for totals in those that the fast kernels can search, and those that need others. They stay
// together where either would leave warps of a device without a task, because each launch costs as much as a small
// search.
func (s *batchSearch) byKernel(of []int) []part {
	if len(of) == 0 {
		return nil
	}
	all := part{of, s.tasks(of)}
	var fast, slow int // tasks
	for _, t := range all.work.spans {
		if s.b.table.tests[t.program] {
			slow += t.n
		} else {
			fast += t.n
		}
	}
	if s.b.replaces() || min(fast, slow) < s.b.first().run.shape(false, 0).Warps() {
		return []part{all}
	}
	var plain, others []int
	for _, i := range of {
		if slices.ContainsFunc(s.b.plans[s.reqs[i].Plan].of(s.reqs[i].Want), s.b.table.needsTests) {
			others = append(others, i)
		} else {
			plain = append(plain, i)
		}
	}
	return []part{{plain, s.tasks(plain)}, {others, s.tasks(others)}}
}

// without returns the members of all that are not in some. Both ascend.
func without(all, some []int) []int {
	return slices.DeleteFunc(slices.Clone(all), func(i int) bool {
		_, found := slices.BinarySearch(some, i)
		return found
	})
}

// onCPU answers requests with the CPU backend. Requests for rows continue after the rows that are out, up to an anchor.
func (s *batchSearch) onCPU(ctx context.Context, of []int, to uint32) error {
	if len(of) == 0 {
		return nil
	}
	if err := s.finish(ctx); err != nil {
		return err
	}
	reqs := slices.Clone(s.requests(of))
	for k, i := range of {
		if r := &reqs[k]; r.Want == matcher.WantRows {
			s.out.rest(r, i)
			r.Before = min(r.Before, to)
		}
	}
	got, err := s.b.cpu.Search(ctx, s.sign, reqs, func(g matcher.Group) error {
		return s.out.rows(uint32(of[g.Request]), g.Order, g.Rows)
	}, func(k int, order uint32, cause matcher.Cause) (bool, error) {
		if reqs[k].Want != matcher.WantRows {
			return s.out.over(of[k], order, cause)
		}
		return s.out.exceeded(of[k], order, cause)
	})
	if err != nil {
		return err
	}
	rows := false
	for k, i := range of {
		r := &s.results[i]
		got[k].Steps, got[k].SearchNS = r.Steps+got[k].Steps, r.SearchNS+got[k].SearchNS
		if s.reqs[i].Want == matcher.WantRows { // the emitter counts them
			got[k].Count, got[k].Truncated, rows = r.Count, r.Truncated, true
		}
		*r = got[k]
	}
	if rows {
		s.out.reach(to)
	}
	return nil
}

// finish emits the rest of a group that is emitted in part: the CPU backend finds the group again and skips the emitted
// rows. No limit applies: the group was within the limits when it was found first, and emitted rows cannot be
// withdrawn.
func (s *batchSearch) finish(ctx context.Context) error {
	e := &s.out
	if e.request < 0 || e.whole || e.closed[e.request] {
		return nil
	}
	r := s.reqs[e.request]
	r.From, r.Before, r.Skip, r.Budget = e.net, e.net+1, nil, nil
	pass := e.begun
	if r.Limit > 0 {
		r.Limit += uint64(pass) - e.emitted[e.request]
	}
	request := uint32(e.request)
	got, err := s.b.cpu.Search(ctx, s.sign, []matcher.Request{r}, func(g matcher.Group) error {
		n := g.Rows.Len()
		skip := min(pass, n)
		if pass -= skip; skip == n {
			return nil
		}
		return e.rows(request, g.Order, g.Rows.Slice(skip, n))
	}, nil)
	if err != nil {
		return err
	}
	s.results[request].Steps += got[0].Steps
	s.results[request].SearchNS += got[0].SearchNS
	e.whole = true
	return nil
}

// requests returns some of the requests.
func (s *batchSearch) requests(of []int) []matcher.Request { return requestsOf(s.reqs, of) }

// requestsOf returns the requests of some indexes, which ascend.
func requestsOf(reqs []matcher.Request, of []int) []matcher.Request {
	if len(of) == len(reqs) {
		return reqs
	}
	sub := make([]matcher.Request, len(of))
	for k, i := range of {
		sub[k] = reqs[i]
	}
	return sub
}

// totals answers the requests for a count or a witness, all in the same launches. If some exceed a limit, the CPU
// backend answers these, and the device answers the others again.
func (s *batchSearch) totals(ctx context.Context, p part) error {
	of := p.of
	if len(of) == 0 {
		return nil
	}
	j := s.job(of)
	j.found = func(request uint32, row []uint32) {
		if r, q := &s.results[request], s.reqs[request].Plan.Query; r.Witness == nil {
			r.Witness, r.Count = row[:len(q.Vertices)+len(q.Edges)], matcher.CountOf(1)
		}
	}
	t := s.b.totals(j, p.work.n)
	err := j.meter.err()
	if err == nil {
		err = t.search(ctx, p.work)
	}
	if err != nil {
		j.meter.giveBack()
		if err == errAgain {
			return s.totals(ctx, p)
		}
		if err != errOver {
			return err
		}
		over, others := j.meter.parted(func(i int) bool { return s.results[i].Witness == nil })
		if err := s.onCPU(ctx, over, matcher.AllOrders); err != nil {
			return err
		}
		return s.totals(ctx, part{others, s.tasks(others)})
	}
	var wide []int
	for _, i := range of {
		r, req := &s.results[i], &s.reqs[i]
		if req.Want != matcher.WantCount {
			continue
		}
		if sum, over := t.counted(i); over {
			wide = append(wide, i)
		} else {
			r.Count = perUnit(req.Plan, sum)
		}
	}
	return s.onCPU(ctx, wide, matcher.AllOrders)
}

// tasks returns the tasks for totals: one for every net edge and program that fits it. The net edges are sorted by
// kind, so those of a program and kind are one span.
func (s *batchSearch) tasks(of []int) *tasks {
	all := s.starts(of)
	k := s.b.kinds
	t := &tasks{net: k.net, kinds: k}
	for kind, starts := range all {
		for _, st := range starts {
			if s.reqs[st.request].Before == 0 { // the CPU has searched all anchors
				continue
			}
			group := uint32(0)
			if s.reqs[st.request].Want == matcher.WantAny {
				group = uint32(st.request)
			}
			t.add(st.program, group, k.starts[kind], k.starts[kind+1])
		}
	}
	return t
}
