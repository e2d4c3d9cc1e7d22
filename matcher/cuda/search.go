//go:build cuda || emu

package cuda

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher"
)

// Search implements matcher.Backend: it parts the requests in those of the device and those of the CPU backend, and merges
// their groups.
func (b *Backend) Search(ctx context.Context, sign dyngraph.Sign, reqs []matcher.Request,
	emit func(matcher.Group) error, suspend func(request int, order uint32) error) ([]matcher.Result, error) {
	if b.kinds == nil {
		b.kinds = newKinds(b.g, b.delta)
	}
	net := b.kinds.inserted
	if sign == dyngraph.Deleted {
		net = b.kinds.deleted
	}
	var here, there []int // requests of the device, and of the CPU
	for i := range reqs {
		c := b.plans[reqs[i].Plan]
		switch {
		case c == nil:
			return nil, unprepared(reqs[i].Plan)
		case !b.lost && c.plain && reqs[i].Budget == 0:
			here = append(here, i)
		default:
			there = append(there, i)
		}
	}
	results := make([]matcher.Result, len(reqs))
	m := newMerger(ctx, b, sign, reqs, there, results, emit, suspend)
	defer m.close()
	if err := m.peek(); err != nil { // also makes suspensions known
		return nil, err
	}
	if len(here) > 0 && net > 0 {
		s := &batchSearch{b: b, sign: sign, reqs: reqs, results: results, emit: m.emitted}
		if err := s.place(ctx, here); err != nil {
			return nil, err
		}
	}
	return results, m.rest()
}

// merger merges the groups of the CPU backend's requests into those of the device's, by (anchor, query name).
type merger struct {
	next  func() (matcher.Group, error, bool)
	stop  func()
	head  matcher.Group
	there []int
	have  bool
	emit  func(matcher.Group) error
}

// errStopped ends the CPU backend's search when nobody wants the rest.
var errStopped = errors.New("stopped")

func newMerger(ctx context.Context, b *Backend, sign dyngraph.Sign, reqs []matcher.Request, there []int, results []matcher.Result,
	emit func(matcher.Group) error, suspend func(int, uint32) error) *merger {
	m := &merger{there: there, emit: emit}
	sub := make([]matcher.Request, len(there))
	for k, i := range there {
		sub[k] = reqs[i]
	}
	m.next, m.stop = iter.Pull2(func(yield func(matcher.Group, error) bool) {
		if len(sub) == 0 {
			return
		}
		got, err := b.cpu.Search(ctx, sign, sub, func(g matcher.Group) error {
			g.Request = there[g.Request]
			if !yield(g, nil) {
				return errStopped
			}
			return nil
		}, func(k int, order uint32) error { return suspend(there[k], order) })
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

func (m *merger) close() { m.stop() }

// peek makes head the next group of the CPU's, if there is one.
func (m *merger) peek() (err error) {
	m.head, err, m.have = m.next()
	return err
}

// emitted emits a group of the device's, after those of the CPU's that come before it.
func (m *merger) emitted(g matcher.Group) error {
	for m.have && (m.head.Order < g.Order || m.head.Order == g.Order && m.head.Request < g.Request) {
		if err := m.flush(); err != nil {
			return err
		}
	}
	return m.emit(g)
}

func (m *merger) flush() error {
	if err := m.emit(m.head); err != nil {
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
	catchUp int64 // nanoseconds that the mirror took to catch up
}

// job returns a job for some requests.
func (s *batchSearch) job(of []int) *job {
	j := &job{graph: s.b.mirror.graph(), net: s.b.mirror.net.ptr, sees: kernels.SeeInserted, requests: len(s.reqs), vertices: int(s.b.g.IDBound()),
		owner: slices.Repeat([]uint32{kernels.None}, len(s.b.run.table.programs))}
	if s.sign == dyngraph.Deleted {
		j.sees = kernels.SeeDeleted
	}
	for _, i := range of {
		for _, p := range s.b.plans[s.reqs[i].Plan].of(s.reqs[i].Want) {
			j.owner[p] = uint32(i)
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
	from, err := s.rows(ctx, rows)
	if s.b.failed(err) {
		return s.onCPU(ctx, rows, from)
	}
	return err
}

// onCPU has the CPU backend search the requests and emits the groups from an anchor on: those before it are out.
func (s *batchSearch) onCPU(ctx context.Context, of []int, from uint32) error {
	if len(of) == 0 {
		return nil
	}
	sub := make([]matcher.Request, len(of))
	for k, i := range of {
		sub[k] = s.reqs[i]
	}
	got, err := s.b.cpu.Search(ctx, s.sign, sub, func(g matcher.Group) error {
		if g.Order < from {
			return nil
		}
		g.Request = of[g.Request]
		return s.emit(g)
	}, func(int, uint32) error { return nil }) // there are no budgets
	if err != nil {
		return err
	}
	for k, i := range of {
		s.results[i] = got[k]
	}
	return nil
}

// maxTasks bounds the tasks that are uploaded together.
const maxTasks = 1 << 24

// totals answers the requests that want a count or a witness, all in the same launches.
func (s *batchSearch) totals(ctx context.Context, of []int) error {
	if len(of) == 0 {
		return nil
	}
	began := s.b.clock()
	j := s.job(of)
	j.limit = math.MaxInt
	j.piece = func(request, _ uint32, from, to int) {
		if r := &s.results[request]; r.Witness == nil {
			r.Witness, r.Count = slices.Clone(j.data[from:to]), matcher.CountOf(1)
		}
	}
	run := &s.b.run
	if err := run.begin(j); err != nil {
		return err
	}
	all := s.starts(of)
	var tasks []kernels.Task
	k := s.b.kinds
	for kind, fitting := range all {
		for _, st := range fitting {
			for _, i := range k.net[k.starts[kind]:k.starts[kind+1]] {
				if s.b.delta.Net[i].Sign == s.sign && i < s.reqs[st.request].Before {
					tasks = append(tasks, kernels.Task{Program: st.program, Net: i})
				}
			}
			if len(tasks) >= maxTasks {
				if err := run.search(ctx, j, tasks); err != nil {
					return err
				}
				tasks = tasks[:0]
			}
		}
	}
	if err := run.search(ctx, j, tasks); err != nil {
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
