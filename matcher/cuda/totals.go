//go:build cuda || emu

package cuda

import (
	"context"
	"slices"
	"sort"
	"sync"

	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/cuda/device"
)

// totals is a search for counts and existence on several sides at once. Each counts the tasks that are dealt to it; the
// sums are added on the host. A side that fails gives its chunk back, and its earlier chunks count.
type totals struct {
	b   *Backend
	j   *job
	all []*share   // one for each side that was used
	mu  sync.Mutex // of the job's found function
}

// share is one side's part of a search for totals.
type share struct {
	side  *side
	j     *job
	begun bool
	tally []kernels.Tally // of complete chunks
}

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

// totals prepares a search of about n tasks. There are as many sides as have a task for each of their warps.
func (b *Backend) totals(j *job, n int) *totals {
	t := &totals{b: b, j: j}
	if found := j.found; len(b.sides) > 1 {
		j.found = func(request uint32, row []uint32) {
			t.mu.Lock()
			defer t.mu.Unlock()
			found(request, row)
		}
	}
	use := max(1, min(len(b.sides), n/b.first().run.shape(false, 0).Warps()))
	for _, s := range b.sides[:use] {
		t.all = append(t.all, &share{side: s, j: j.on(s)})
	}
	return t
}

// search searches tasks. If it returns an error, a part may have been counted.
func (t *totals) search(ctx context.Context, of *tasks) error {
	use := slices.DeleteFunc(slices.Clone(t.all), func(s *share) bool { return !slices.Contains(t.b.sides, s.side) })
	for d := newDealer(of.n, len(use), t.b.first().run.opt.Tasks, t.b.taskNS); d.left(); t.b.taskNS = d.rate {
		errs := make([]error, len(use))
		some, cancel := context.WithCancel(ctx)
		t.b.concurrently(use, func(i int) (more bool) {
			more, errs[i] = use[i].chunk(some, d, of)
			if errs[i] != nil && !kernels.OfDevice(errs[i]) {
				cancel() // the others need not go on
			}
			return more
		})
		cancel()
		if err := t.b.outlive(errs); err != nil {
			return err
		}
		use = slices.DeleteFunc(use, func(s *share) bool { return !slices.Contains(t.b.sides, s.side) })
		if len(use) == 0 { // those that were not used are left
			s := &share{side: t.b.first(), j: t.j.on(t.b.first())}
			t.all, use = append(t.all, s), append(use, s)
		}
	}
	return nil
}

// concurrently calls f for each share until it returns false: concurrently, or one after the other in the order
// that chooseSide tells.
func (b *Backend) concurrently(of []*share, f func(i int) (more bool)) {
	if b.chooseSide == nil {
		device.InParallel(len(of), func(i int) {
			for f(i) {
			}
		})
		return
	}
	on := make([]int, len(of))
	for i := range on {
		on[i] = i
	}
	for len(on) > 0 {
		sides := make([]*side, len(on))
		for k, i := range on {
			sides[k] = of[i].side
		}
		if k := b.chooseSide(sides); !f(on[k]) {
			on = slices.Delete(on, k, k+1)
		}
	}
}

// chunk searches the next chunk that is dealt. more is false after the last one and after an error.
func (s *share) chunk(ctx context.Context, d *dealer, of *tasks) (more bool, err error) {
	c, ok := d.take()
	if !ok {
		return false, nil
	}
	busy := s.side.run.busy
	if err := s.count(ctx, of, d.ranges(c)); err != nil {
		d.giveBack(c)
		return false, s.side.of(err)
	}
	s.tally = slices.Clone(s.side.run.tally)
	d.took(c, s.side.run.busy-busy)
	return true, nil
}

// count counts some ranges of tasks.
func (s *share) count(ctx context.Context, of *tasks, ranges [][2]int) error {
	r := &s.side.run
	if !s.begun {
		if err := r.begin(s.j); err != nil {
			return err
		}
		s.begun = true
	}
	runs, n := of.runs(ranges)
	if err := r.nets(of, runs, n); err != nil {
		return err
	}
	return r.total(ctx, s.j, runs, n)
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
