//go:build cuda || emu

package cuda

import (
	"context"
	"slices"

	"motifd/kernels"
	"motifd/matcher"
)

// rows answers the requests for rows. When a wave exceeds a limit, the CPU backend searches the anchors of that wave
// and decides which groups are left out. The device continues after them.
func (s *batchSearch) rows(ctx context.Context, of []int) error {
	for to := uint32(0); int(to) < len(s.b.delta.Net); {
		of = slices.DeleteFunc(slices.Clone(of), func(i int) bool { return s.out.closed[i] })
		if len(of) == 0 {
			return nil
		}
		if err := s.finish(ctx); err != nil {
			return err
		}
		var err error
		if to, err = s.stretch(ctx, of); err == nil {
			return nil
		} else if err != errOver {
			return err
		}
		if err := s.onCPU(ctx, of, to); err != nil {
			return err
		}
	}
	return nil
}

// stretch searches anchors in waves, from the position of the emitter on. If it returns errOver, the CPU backend must
// search the anchors from the position to the anchor to.
func (s *batchSearch) stretch(ctx context.Context, of []int) (to uint32, err error) {
	e := &s.out
	j := s.job(of)
	if j.meter.exhausted() {
		return matcher.AllOrders, errOver
	}
	defer func() {
		if err != nil {
			j.meter.giveBack()
		}
	}()
	starts, before := s.starts(of), uint32(len(s.b.delta.Net))
	tasks := 0
	for kind, all := range starts {
		tasks += len(all) * (s.b.kinds.starts[kind+1] - s.b.kinds.starts[kind])
	}
	w, err := s.b.waves(j, &s.b.rate[(s.sign+1)/2], tasks, e.net, before)
	if err != nil {
		return 0, err
	}
	for _, i := range of {
		w.slowStart = w.slowStart || s.reqs[i].Limit > 0
	}
	var come matcher.SearchProgress
	s.b.progress.Begin(&come, s.ofSign(e.net, before))
	defer s.b.progress.End(&come)
	w.handedOut = func(from, to uint32) { come.Done(s.ofSign(from, to)) }
	f := filler{s: s, all: starts, closed: e.closed}
	w.fill = f.wave
	w.wanted, w.leftOut = e.wanted, e.leftOut
	t := s.b.edgeTieBreak(ctx, e.group)
	defer t.close()
	w.withinLimit = func(g rowGroup, rows int) bool {
		req := &s.reqs[g.request]
		if req.Limit > 0 {
			return e.closed[g.request] || uint64(rows) <= max(cappedRows, cappedRows/cappedLimit*req.Limit)
		}
		return req.Budget.Beyond(uint64(rows)) == matcher.NoCause
	}
	w.overflow.file.Budget = s.reqs[of[0]].Budget // file space is limited for the batch, not by request
	w.take = func(g rowGroup, rows []uint32) error {
		if !g.layout.Determined {
			return t.rows(g, rows)
		}
		if err := t.flush(); err != nil {
			return err
		}
		return e.group(g, rows)
	}
	err = w.all(ctx)
	if err == nil || err == errOver {
		if err := t.flush(); err != nil {
			return 0, err
		}
		e.reach(w.done)
	}
	return w.to, err
}

// ofSign returns the number of net edges of the sign in [from, to).
func (s *batchSearch) ofSign(from, to uint32) (n int) {
	for i := from; i < to; i++ {
		if s.b.delta.Net[i].Sign == s.sign {
			n++
		}
	}
	return n
}

// A capped group goes to the CPU backend if it has more than cappedRows rows or, with a cap above cappedLimit, more
// than cappedRows/cappedLimit times the cap. The CPU backend finds the first rows without finding all. Not tuned.
const (
	cappedRows  = 1 << 16
	cappedLimit = 1 << 12
)

// filler makes the tasks of the net edges of a batch.
type filler struct {
	s      *batchSearch
	all    [][]start
	closed []bool
}

// wave implements waves.fill.
func (f *filler) wave(some []kernels.Task, from, to uint32, size int) (tasks []kernels.Task, groups []rowGroup) {
	s, d := f.s, f.s.b.delta
	tasks = some[:0]
	for net := from; net < to && len(tasks) < size; net++ {
		if d.Net[net].Sign != s.sign {
			continue
		}
		for _, st := range f.all[s.b.kinds.of[net]] {
			if s.reqs[st.request].Skips(net) || f.closed[st.request] || s.out.past(net, st.request) {
				continue
			}
			g := rowGroup{net, uint32(st.request), s.b.plans[s.reqs[st.request].Plan].layout}
			if n := len(groups); n == 0 || groups[n-1] != g {
				groups = append(groups, g)
			}
			tasks = append(tasks, kernels.Task{Program: st.program, Net: net, Group: uint32(len(groups) - 1)})
		}
	}
	return tasks, groups
}
