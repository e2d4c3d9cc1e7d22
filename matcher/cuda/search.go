//go:build cuda || emu

package cuda

import (
	"context"
	"errors"
	"iter"
	"slices"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher"
)

// Search implements matcher.Backend: it parts the requests in those of the device and those of the CPU backend, and merges
// their groups.
func (b *Backend) Search(ctx context.Context, sign dyngraph.Sign, reqs []matcher.Request,
	emit func(matcher.Group) error, over matcher.Exceeded) ([]matcher.Result, error) {
	here, there := make([]int, 0, len(reqs)), []int(nil) // requests of the device, and of the CPU
	for i := range reqs {
		switch {
		case b.plans[reqs[i].Plan] == nil:
			return nil, unprepared(reqs[i].Plan)
		case !b.lost && b.takes(&reqs[i]):
			here = append(here, i)
		default:
			there = append(there, i)
		}
	}
	if len(here) == 0 {
		return b.cpu.Search(ctx, sign, reqs, emit, over)
	}
	results := make([]matcher.Result, len(reqs))
	if len(there) == 0 { // as a rule
		return results, b.search(ctx, sign, reqs, here, results, emit, over)
	}
	m := newMerger(ctx, b, sign, reqs, there, results, emit, over)
	defer m.close()
	if err := m.peek(); err != nil {
		return nil, err
	}
	if err := b.search(ctx, sign, reqs, here, results, m.emitted, m.over); err != nil {
		return nil, err
	}
	return results, m.rest()
}

// takes tells whether a request is one for the device: what has to be metered is the CPU's, as are large patterns.
func (b *Backend) takes(r *matcher.Request) bool {
	return b.plans[r.Plan] != beyond && !r.Budget.Metered()
}

// search answers the requests that the device can answer.
func (b *Backend) search(ctx context.Context, sign dyngraph.Sign, reqs []matcher.Request, here []int, results []matcher.Result,
	emit func(matcher.Group) error, over matcher.Exceeded) error {
	if !slices.ContainsFunc(b.delta.Net, func(n dyngraph.NetEdge) bool { return n.Sign == sign }) {
		return nil
	}
	s := &batchSearch{b: b, sign: sign, reqs: reqs, results: results, emit: emit, over: over}
	return s.place(ctx, here)
}

// merger merges the groups of the CPU backend's requests into those of the device's, by (anchor, query name).
type merger struct {
	next  func() (matcher.Group, error, bool)
	stop  func()
	head  matcher.Group
	cause matcher.Cause // of a head that is left out
	there []int
	have  bool
	emit  func(matcher.Group) error
	tell  matcher.Exceeded
	stop1 bool // what tell answered of the last head that is left out
}

// errStopped ends the CPU backend's search when nobody wants the rest.
var errStopped = errors.New("stopped")

func newMerger(ctx context.Context, b *Backend, sign dyngraph.Sign, reqs []matcher.Request, there []int, results []matcher.Result,
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
		}, func(k int, order uint32, cause matcher.Cause) (bool, error) { // comes in its turn, as a group does
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

// peek makes head the next group of the CPU's, if there is one.
func (m *merger) peek() (err error) {
	m.head, err, m.have = m.next()
	return err
}

// emitted emits a group of the device's, after those of the CPU's that come before it.
func (m *merger) emitted(g matcher.Group) error {
	if err := m.before(g.Request, g.Order); err != nil {
		return err
	}
	return m.emit(g)
}

// over tells of a group of the device's that is left out.
func (m *merger) over(request int, order uint32, cause matcher.Cause) (stop bool, err error) {
	if err := m.before(request, order); err != nil {
		return false, err
	}
	return m.tell(request, order, cause)
}

// before hands on the CPU's groups that come before one of the device's.
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

// batchSearch is one Search on the device.
type batchSearch struct {
	b       *Backend
	sign    dyngraph.Sign
	reqs    []matcher.Request
	results []matcher.Result
	emit    func(matcher.Group) error
	over    matcher.Exceeded
	catchUp int64 // nanoseconds that the mirror took to catch up
}

// job returns a job for some requests.
func (s *batchSearch) job(of []int) *job {
	j := &job{graph: s.b.mirror.graph(), slots: s.b.mirror.slots(), net: s.b.mirror.net(), sees: kernels.SeeInserted, requests: len(s.reqs), vertices: int(s.b.g.IDBound()),
		owner: slices.Repeat([]uint32{kernels.None}, len(s.b.run.table.programs))}
	if s.sign == dyngraph.Deleted {
		j.sees = kernels.SeeDeleted
	}
	for _, i := range of {
		for _, p := range s.b.plans[s.reqs[i].Plan].of(s.reqs[i].Want) {
			if p != kernels.None {
				j.owner[p] = uint32(i)
			}
		}
	}
	return j
}

// onDevice answers requests. When the device fails and that is not the caller's to know of, the CPU backend goes on where it
// stopped.
func (s *batchSearch) onDevice(ctx context.Context, here []int) error {
	var totals, rows []int
	for _, i := range here {
		if s.reqs[i].Want == matcher.WantRows {
			rows = append(rows, i)
		} else {
			totals = append(totals, i)
		}
	}
	began := s.b.clock()
	err := s.b.mirror.catchUp(s.b.delta)
	s.catchUp = s.b.clock() - began
	if s.b.failed(err) {
		return s.onCPU(ctx, here, 0)
	}
	if err != nil {
		return err
	}
	if err := s.totals(ctx, totals); s.b.failed(err) {
		return s.onCPU(ctx, here, 0) // rows come after totals
	} else if err != nil {
		return err
	}
	out, err := s.rows(ctx, rows)
	if s.b.failed(err) {
		return s.onCPU(ctx, rows, out)
	}
	return err
}

// onCPU has the CPU backend search the requests and emits their rows but the first, so many, which are out.
func (s *batchSearch) onCPU(ctx context.Context, of []int, out int) error {
	if len(of) == 0 {
		return nil
	}
	reqs := s.requests(of)
	if out > 0 { // the same groups come again, whatever they cost: some are out
		reqs = slices.Clone(reqs)
		for k := range reqs {
			reqs[k].Budget = nil
		}
	}
	got, err := s.b.cpu.Search(ctx, s.sign, reqs, func(g matcher.Group) error {
		n := g.Rows.Len()
		if out >= n {
			out -= n
			return nil
		}
		g.Rows, out = g.Rows.Slice(out, n), 0
		g.Request = of[g.Request]
		return s.emit(g)
	}, func(k int, order uint32, cause matcher.Cause) (bool, error) { return s.over(of[k], order, cause) })
	if err != nil {
		return err
	}
	for k, i := range of {
		s.results[i] = got[k]
	}
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

// totals answers the requests that want a count or a witness, all in the same launches.
func (s *batchSearch) totals(ctx context.Context, of []int) error {
	if len(of) == 0 {
		return nil
	}
	within, cancel := s.patient(ctx, of)
	defer cancel()
	began := s.b.clock()
	j := s.job(of)
	j.found = func(request uint32, row []uint32) {
		if r, q := &s.results[request], s.reqs[request].Plan.Query; r.Witness == nil {
			r.Witness, r.Count = row[:len(q.Vertices)+len(q.Edges)], matcher.CountOf(1)
		}
	}
	run := &s.b.run
	if err := run.begin(j); err != nil {
		return err
	}
	if err := s.tasks(within, j, of); impatient(ctx, within, err) {
		return s.onCPU(ctx, of, 0)
	} else if err != nil {
		return err
	}
	counts, err := run.tallies(len(s.reqs))
	if err != nil {
		return err
	}
	took := (s.b.clock() - began) / int64(len(of))
	var wide []int
	for _, i := range of {
		r, req, c := &s.results[i], &s.reqs[i], &counts[i]
		r.Steps, r.SearchNS = c.steps, took
		switch {
		case req.Want != matcher.WantCount:
		case c.over:
			wide = append(wide, i)
		default:
			r.Count = perUnit(req.Plan, c.count)
		}
	}
	return s.onCPU(ctx, wide, 0)
}

// tasks searches for totals from every net edge that fits. What the tasks of a request and kind have in common is all that the device is told: the
// net edges are there, sorted by kind, since the first search of the batch.
func (s *batchSearch) tasks(ctx context.Context, j *job, of []int) error {
	run := &s.b.run
	all := s.starts(of)
	k := s.b.kinds
	if run.kinds != k {
		if err := run.lane.put(&run.net, kernels.Bytes(k.net)); err != nil {
			return err
		}
		run.kinds = k
	}
	var runs []kernels.Run
	n := 0
	flush := func() error {
		err := run.total(ctx, j, runs, n)
		runs, n = runs[:0], 0
		return err
	}
	for kind, fitting := range all {
		for _, st := range fitting {
			if s.reqs[st.request].Before == 0 { // nothing, or all: there are no anchors
				continue
			}
			for from, to := k.starts[kind], k.starts[kind+1]; from < to; {
				if n == run.opt.Tasks {
					if err := flush(); err != nil {
						return err
					}
				}
				group := uint32(0)
				if s.reqs[st.request].Want == matcher.WantAny {
					group = uint32(st.request)
				}
				runs = append(runs, kernels.Run{First: uint32(n), Net: uint32(from), Program: st.program, Group: group})
				took := min(to-from, run.opt.Tasks-n)
				from, n = from+took, n+took
			}
		}
	}
	return flush()
}
