//go:build cuda || emu

package cuda

import (
	"context"
	"errors"
	"time"

	"motifd/dyngraph"
	"motifd/matcher"
)

// place has the requests that the device can answer answered: by it, or where the Placement says so by the CPU backend.
func (s *batchSearch) place(ctx context.Context, here []int) error {
	p := s.b.opt.Placement
	if p == nil {
		return s.onDevice(ctx, here)
	}
	for _, want := range []matcher.Want{matcher.WantCount, matcher.WantAny, matcher.WantRows} { // rows come after totals
		var of []int
		for _, i := range here {
			if s.reqs[i].Want == want {
				of = append(of, i)
			}
		}
		if len(of) == 0 {
			continue
		}
		w := Work{Want: want, Size: s.size(of)}
		w.Behind, w.Own = s.b.mirror.behind(s.b.delta)
		if err := p.Run(w, s.runner(ctx, of)); err != nil {
			return err
		}
	}
	return nil
}

// size estimates the work of requests: the pairs of a net edge and a matching order that it fits.
func (s *batchSearch) size(of []int) (n uint64) {
	sign := 0
	if s.sign == dyngraph.Inserted {
		sign = 1
	}
	for kind, fitting := range s.starts(of) {
		n += s.b.kinds.signs[kind][sign] * uint64(len(fitting))
	}
	return n
}

// runner returns what answers requests on a side, for Placement.Run. Both sides give the same rows in the same order: when it is called
// again, those that are out are passed over.
func (s *batchSearch) runner(ctx context.Context, of []int) func(Side, int64) (Cost, bool, error) {
	emit, out := s.emit, 0
	return func(side Side, limit int64) (Cost, bool, error) {
		defer func() { s.emit = emit }()
		s.catchUp = 0
		for _, i := range of {
			s.results[i] = matcher.Result{}
		}
		over, received := out, int64(0) // rows to pass over; nanoseconds of the receiver
		var refused error               // by the receiver
		s.emit = func(g matcher.Group) error {
			n := g.Rows.Len()
			if over >= n {
				over -= n
				return nil
			}
			g.Rows = g.Rows.Slice(over, n)
			out += n - over
			over = 0
			began := s.b.clock()
			refused = emit(g)
			received += s.b.clock() - began
			return refused
		}
		took, done, err := s.b.timed(ctx, limit, func(ctx context.Context) error {
			if side == GPU && !s.b.lost {
				return s.onDevice(ctx, of)
			}
			return s.onCPU(ctx, of, 0)
		})
		if refused != nil {
			return Cost{}, true, refused
		}
		return Cost{Search: max(0, took-received-s.catchUp), CatchUp: s.catchUp}, done, err
	}
}

// timed calls f, for no longer than a number of nanoseconds unless that is 0, and tells how long it took and whether it ended by itself.
func (b *Backend) timed(ctx context.Context, limit int64, f func(context.Context) error) (took int64, done bool, err error) {
	bounded := ctx
	if limit > 0 {
		var cancel context.CancelFunc
		bounded, cancel = context.WithTimeout(ctx, time.Duration(limit))
		defer cancel()
		// Launches end before the limit does: about a microsecond a turn.
		b.run.turns = int(max(1024, min(limit/1000, int64(b.opt.Slice))))
		defer func() { b.run.turns = 0 }()
	}
	began := b.clock()
	err = f(bounded)
	took = b.clock() - began
	if errors.Is(err, context.DeadlineExceeded) && bounded.Err() != nil && ctx.Err() == nil {
		return took, false, nil
	}
	return took, true, err
}
