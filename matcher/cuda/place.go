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

// receiver stands before the receiver of rows. Both sides give the same rows in the same order: when a search begins again, those that
// are out are passed over.
type receiver struct {
	b       *Backend
	emit    func(matcher.Rows) error
	out     int   // rows that were handed on
	over    int   // rows to pass over
	took    int64 // nanoseconds of the receiver's, since begin
	refused error // by the receiver
}

func (r *receiver) begin() { r.over, r.took = r.out, 0 }

func (r *receiver) rows(rows matcher.Rows) error {
	n := rows.Len()
	if r.over >= n {
		r.over -= n
		return nil
	}
	rows = rows.Slice(r.over, n)
	r.out += n - r.over
	r.over = 0
	began := r.b.clock()
	r.refused = r.emit(rows)
	r.took += r.b.clock() - began
	return r.refused
}

// runner returns what answers requests on a side, for Placement.Run.
func (s *batchSearch) runner(ctx context.Context, of []int) func(Side, int64) (Cost, bool, error) {
	emit, out := s.emit, receiver{b: s.b}
	return func(side Side, limit int64) (Cost, bool, error) {
		defer func() { s.emit = emit }()
		s.catchUp = 0
		for _, i := range of {
			s.results[i] = matcher.Result{}
		}
		out.begin()
		s.emit = func(g matcher.Group) error {
			out.emit = func(rows matcher.Rows) error {
				g.Rows = rows
				return emit(g)
			}
			return out.rows(g.Rows)
		}
		took, done, err := s.b.timed(ctx, limit, func(ctx context.Context) error {
			if side == GPU && !s.b.lost {
				return s.onDevice(ctx, of)
			}
			return s.onCPU(ctx, of, 0)
		})
		if out.refused != nil {
			return Cost{}, true, out.refused
		}
		return Cost{Search: max(0, took-out.took-s.catchUp), CatchUp: s.catchUp}, done, err
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
