//go:build cuda || emu

package cuda

import (
	"context"
	"errors"
	"time"

	"motifd/matcher"
	"motifd/matcher/cuda/placement"
)

// place answers requests that the device can answer, on the side that the Placement chooses.
func (s *batchSearch) place(ctx context.Context, here []int) error {
	p := s.b.opt.Placement
	if p == nil {
		return s.onDevice(ctx, here)
	}
	// rows come after totals
	for _, want := range [...]matcher.Want{matcher.WantCount, matcher.WantAny, matcher.WantRows} {
		of := wanting(want, s.reqs, here)
		if len(of) == 0 {
			continue
		}
		w := placement.Work{Want: want}
		if !p.Decided(w) {
			w.Size, w.More = s.b.fits.Size(s.b.g, s.b.delta, s.sign, s.reqs, of)
		}
		w.Behind[placement.CPU], w.Own[placement.CPU] = s.b.cpu.Behind(s.requests(of))
		w.Behind[placement.GPU], w.Own[placement.GPU] = s.b.first().mirror.Behind(s.b.delta)
		if err := p.Search(w, s.runner(ctx, of)); err != nil {
			return err
		}
	}
	return nil
}

// wanting returns the requests of a subset that want one kind of answer.
func wanting(want matcher.Want, reqs []matcher.Request, of []int) []int {
	n := 0
	for _, i := range of {
		if reqs[i].Want == want {
			n++
		}
	}
	if n == len(of) {
		return of
	}
	some := make([]int, 0, n)
	for _, i := range of {
		if reqs[i].Want == want {
			some = append(some, i)
		}
	}
	return some
}

// receiver passes rows to the caller's receiver. Both sides find the same rows in the same order, so when a search
// begins again on the other side, receiver skips the rows that it has already passed on.
type receiver struct {
	b       *Backend
	emit    func(matcher.Rows) error
	out     int   // rows passed on
	over    int   // rows to skip
	took    int64 // time that the caller's receiver took since begin, in nanoseconds
	refused error // error of the caller's receiver
}

func (r *receiver) begin() { r.over, r.took = r.out, 0 }

func (r *receiver) rows(rows matcher.Rows) error {
	n := rows.Len()
	if r.over >= n {
		r.over -= n
		return nil
	}
	if r.over > 0 {
		rows = rows.Slice(r.over, n)
	}
	r.out += n - r.over
	r.over = 0
	began := r.b.clock()
	r.refused = r.emit(rows)
	r.took += r.b.clock() - began
	return r.refused
}

// runner returns the function that answers requests on a side, for Placement.Run. Called again for the other side, it
// continues with the rows where the first side stopped, and answers the other requests from the beginning.
func (s *batchSearch) runner(ctx context.Context, of []int) func(placement.Side, int64) (placement.Cost, bool, error) {
	emit, emitting := s.out.emit, int64(0)
	var refused error
	s.out.emit = func(g matcher.Group) error {
		began := s.b.clock()
		refused = emit(g)
		emitting += s.b.clock() - began
		return refused
	}
	return func(side placement.Side, limit int64) (placement.Cost, bool, error) {
		for _, i := range of {
			if r := &s.results[i]; s.reqs[i].Want != matcher.WantRows {
				r.Count, r.Witness, r.Over = matcher.Count{}, nil, matcher.NoCause
			}
		}
		s.catchUp, emitting = 0, 0
		rest := s.out.request >= 0 || s.out.net > 0
		device := side == placement.GPU && !s.b.lost
		if !device {
			began := s.b.clock()
			s.b.cpu.Ready(s.requests(of))
			s.catchUp = s.b.clock() - began
		}
		took, done, err := s.b.timed(ctx, limit, func(ctx context.Context) error {
			if device {
				return s.onDevice(ctx, of)
			}
			return s.onCPU(ctx, of, matcher.AllOrders)
		})
		if refused != nil {
			return placement.Cost{}, true, refused
		}
		if took -= emitting; device {
			took -= s.catchUp // took includes it on this side
			s.catchUp, s.b.early = s.catchUp+s.b.early, 0
		}
		return placement.Cost{Search: max(0, took), CatchUp: s.catchUp, Rest: rest}, done, err
	}
}

// timed calls f, with a time limit in nanoseconds unless that is 0. It returns how long f took, and whether f ended by
// itself.
func (b *Backend) timed(ctx context.Context, limit int64,
	f func(context.Context) error) (took int64, done bool, err error) {
	bounded := ctx
	if limit > 0 && b.opt.Timeout != nil {
		var cancel context.CancelFunc
		bounded, cancel = b.opt.Timeout(ctx, time.Duration(limit))
		defer cancel()
		b.stoppable(true)
		defer b.stoppable(false)
	}
	began := b.clock()
	err = f(bounded)
	took = b.clock() - began
	if errors.Is(err, context.DeadlineExceeded) && bounded.Err() != nil && ctx.Err() == nil {
		return took, false, nil
	}
	return took, true, err
}
