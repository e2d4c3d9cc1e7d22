//go:build cuda || emu

package cuda

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sort"
	"sync"
	"unsafe"

	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/cuda/device"
)

// totals is a search for counts and existence on several sides at once. Each counts the tasks that are dealt to it; a
// side without work gets a part of that of another (exchange). The sums are added on the host.
type totals struct {
	b   *Backend
	j   *job
	all []*share   // one for each side
	use int        // number of shares that get tasks at first
	mu  sync.Mutex // of the job's found function
}

// share is one side's part of a search for totals.
type share struct {
	side  *side
	j     *job
	begun bool
	pass  *pass           // what it searches; nil: nothing
	tally []kernels.Tally // after the last launch
}

// errAgain says that a search is to be made again: sides have failed and others are left, or nothing may be handed over
// any more. It is never wrapped.
var errAgain = errors.New("the search is to be made again")

// errNoRoom says that a side has no memory for what another one handed over. It is never wrapped.
var errNoRoom = errors.New("no memory for a handover")

// tasks are the tasks of a search for totals: spans of net, one task for each of its members.
type tasks struct {
	spans []span
	n     int
	net   []uint32
	kinds *kinds // whose net edges net has; nil: net is for this search
}

// span is a number of tasks of one program from first on, for net[net:].
type span struct {
	first, n, net  int
	program, group uint32
}

// add adds tasks of a program for net[from:to].
func (t *tasks) add(program, group uint32, from, to int) {
	if from < to {
		t.spans = append(t.spans, span{t.n, to - from, from, program, group})
		t.n += to - from
	}
}

// runs returns some ranges of the tasks, which ascend, as runs of their net, and how many tasks they have.
func (t *tasks) runs(ranges [][2]int) (runs []kernels.Run, n int) {
	for _, r := range ranges {
		i := sort.Search(len(t.spans), func(i int) bool { return t.spans[i].first+t.spans[i].n > r[0] })
		for at := r[0]; at < r[1]; i++ {
			s := &t.spans[i]
			took := min(r[1], s.first+s.n) - at
			runs = append(runs, kernels.Run{First: uint32(n), Net: uint32(s.net + at - s.first), Program: s.program,
				Group: s.group})
			at, n = at+took, n+took
		}
	}
	return runs, n
}

// totals prepares a search of about n tasks. As many sides get tasks as have one for each of their warps.
func (b *Backend) totals(j *job, n int) *totals {
	t := &totals{b: b, j: j}
	if found := j.found; len(b.sides) > 1 {
		j.found = func(request uint32, row []uint32) {
			t.mu.Lock()
			defer t.mu.Unlock()
			found(request, row)
		}
	}
	j.shared = len(b.sides) > 1
	t.use = max(1, min(len(b.sides), n/b.first().run.shape(false, 0).Warps()))
	for _, s := range b.sides {
		t.all = append(t.all, &share{side: s, j: j.on(s)})
	}
	return t
}

// search searches tasks. If it returns an error, a part may have been counted. After errAgain, all is to be searched by
// other totals.
func (t *totals) search(ctx context.Context, of *tasks) error {
	most := t.use * t.b.first().run.opt.Tasks
	for from := 0; from < of.n; from += most {
		if err := t.portion(ctx, of, dealt(from, min(of.n, from+most), t.use)); err != nil {
			return err
		}
	}
	return nil
}

// portion searches some ranges of the tasks for each side that gets some.
func (t *totals) portion(ctx context.Context, of *tasks, ranges [][][2]int) error {
	some, cancel := context.WithCancel(ctx)
	defer cancel()
	x := newExchange(t, ranges)
	errs := make([]error, len(t.all))
	begin := func(i int) (err error) {
		if i < len(ranges) {
			err = t.all[i].open(of, ranges[i])
		}
		return err
	}
	end := func(i int, err error) {
		if errs[i] = t.all[i].side.of(err); err != nil { // the others need not go on
			cancel()
			x.close()
		}
	}
	if t.b.inTurn != nil {
		for i := range t.all {
			end(i, begin(i))
		}
		t.b.inTurn(some, x, end)
	} else {
		device.InParallel(len(t.all), func(i int) {
			err := begin(i)
			if err == nil {
				err = x.work(some, i)
			}
			end(i, err)
		})
	}
	again := false
	for i, err := range errs {
		s := t.all[i]
		if s.begun && err != nil || s.pass != nil {
			s.side.run.stream.wait() // the caller may change the data that the kernels read
		}
		if s.pass != nil {
			s.ended()
		}
		if err == errNoRoom {
			errs[i], again, t.b.apart = nil, true, true
		}
	}
	sides := len(t.b.sides)
	err := t.b.outlive(errs)
	if again = again || len(t.b.sides) < sides; again && (err == nil || err == context.Canceled) {
		return cmp.Or(ctx.Err(), errAgain)
	}
	return err
}

// begin uploads the data that all passes of the share need, once.
func (s *share) begin() error {
	if s.begun {
		return nil
	}
	s.begun = true
	return s.side.run.begin(s.j)
}

// open begins to search some ranges of tasks.
func (s *share) open(of *tasks, ranges [][2]int) error {
	r := &s.side.run
	if err := s.begin(); err != nil {
		return err
	}
	runs, n := of.runs(ranges)
	if n == 0 {
		return nil
	}
	if err := r.nets(of, runs, n); err != nil {
		return err
	}
	r.trace.Begin(r.stream.q, device.LaneTotals, "search", 0)
	err := r.spread(runs, n)
	if err == nil {
		s.pass, err = r.pass(s.j, n, n)
	}
	return err
}

// receive begins to search what another share hands over.
func (s *share) receive(h *handover) (err error) {
	r := &s.side.run
	r.trace.Begin(r.stream.q, device.LaneTotals, "search", 0)
	s.pass, err = r.receive(s.j, h)
	if short := (*kernels.MemoryError)(nil); errors.As(err, &short) {
		return errNoRoom
	}
	return err
}

// page returns memory for the work that another share hands over; nil if there is none.
func (s *share) page() ([]byte, error) {
	err := s.begin()
	var page []byte
	if err == nil {
		page, err = s.side.run.pageFor(s.j)
	}
	if short := (*kernels.MemoryError)(nil); errors.As(err, &short) {
		return nil, nil
	}
	return page, err
}

// suits reports whether another share can go on with what this one hands over. Both have begun.
func (s *share) suits(other *share) bool {
	a, b := s.j, other.j
	return a.shape == b.shape && a.memo == b.memo && a.levels == b.levels
}

// stop has the present launch end soon.
func (s *share) stop() error {
	at := s.side.run.control.Ptr + kernels.Ptr(unsafe.Offsetof(kernels.Control{}.Stop))
	return s.side.of(s.side.dev.Poke(at, 1))
}

// ended ends the share's pass.
func (s *share) ended() {
	r := &s.side.run
	r.trace.End(r.stream.q, device.LaneTotals, "search", 0, int(s.pass.p.Queue.Tasks))
	s.pass = nil
}

// launch makes one launch of the share's pass.
func (s *share) launch(ctx context.Context) error {
	r, p := &s.side.run, s.pass
	if err := p.launch(ctx, nil); err != nil {
		return err
	}
	s.tally = slices.Clone(r.tally)
	if err := r.drain(s.j, int(p.c.Used)); err != nil {
		return err
	}
	p.c.Used = 0
	if p.done() {
		s.ended()
	}
	return s.j.meter.charge(r.tally, r.took)
}

// nets copies the net that n tasks of runs need to the device, unless it is there. It may change the runs.
func (r *runner) nets(of *tasks, runs []kernels.Run, n int) error {
	if of.kinds != nil && r.kinds == of.kinds {
		return nil
	}
	r.kinds = nil
	net := of.net
	if of.kinds == nil {
		net = of.gather(runs, n)
	}
	if err := r.stream.Put(&r.net, kernels.Bytes(net)); err != nil {
		return err
	}
	r.kinds = of.kinds
	return nil
}

// gather returns the net of n tasks of runs alone, and changes the runs to be of it.
func (t *tasks) gather(runs []kernels.Run, n int) (net []uint32) {
	for i := range runs {
		r, end := &runs[i], n
		if i+1 < len(runs) {
			end = int(runs[i+1].First)
		}
		part := t.net[r.Net:][:end-int(r.First)]
		if r.Net = r.First; len(runs) == 1 {
			return part
		}
		net = append(slices.Grow(net, n-len(net)), part...)
	}
	return net
}

// counted returns the count of a request, and whether it is beyond what a device counts.
func (t *totals) counted(request int) (sum matcher.Count, over bool) {
	for _, s := range t.all {
		if s.tally == nil {
			continue
		}
		c := counted(&s.tally[request])
		sum, over = sum.Add(c.count), over || c.over
	}
	return sum, over
}
