package cpu

import (
	"context"

	"motifd/dyngraph"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/cpu/internal/work"
)

// aloneSteps returns the number of search steps that the caller's goroutine makes itself before it starts workers. To
// start them and to wait for their results takes longer than the whole search of a small batch: batches of one update
// take 1.3 times as long with workers. The only gain of a single worker is that rows are emitted while it searches.
func aloneSteps(threads int) uint64 {
	if threads == 1 {
		return 32 * work.ShareEvery
	}
	return 4 * work.ShareEvery
}

// atOnce is the number of intervals of work.ShareEvery steps that a search for rows must be expected to make for
// workers to begin at once.
const atOnce = 64

// large foresees from the search before whether this one is large enough that workers begin at once: one that is alone
// meanwhile leaves processors idle.
func (s *rowSearch) large(sign dyngraph.Sign) bool {
	b := s.b
	return b.opt.Threads > 1 && b.perNet[program.SignIndex(sign)]*uint64(len(s.nets)) >= atOnce*b.work.ShareEvery
}

// note takes note of the steps that a search for rows of a number of net edges made.
func (s *rowSearch) note(sign dyngraph.Sign, nets int) {
	steps := uint64(0)
	for i := range s.of {
		steps += uint64(s.of[i].steps.Load())
	}
	s.b.perNet[program.SignIndex(sign)] = steps / uint64(nets)
}

// anchorsLeft are those that a search has not come to: some starts of the last net edge that it came to, and the net
// edges from next on.
type anchorsLeft struct {
	starts []start
	next   int
}

// searchAlone searches and emits groups, in order, on the caller's goroutine, until it has made enough steps, or a
// group's search has become so long that it is to be shared. Workers have begun then with what is left, and the one
// that was alone is one of them. A large search is not begun alone.
func (s *rowSearch) searchAlone(ctx context.Context, large bool) error {
	w := newWorker(s)
	if s.b.opt.Threads > 1 {
		s.hungry.Store(1)
	}
	var last *group
	if !large {
		var more bool
		var err error
		if last, more, err = s.alone(ctx, w); err != nil || !more {
			w.release()
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.begun {
		s.begin()
	}
	if last != nil {
		w.out.Close() // no more is written to the block that it lies in
		s.queued += last.rows.Bytes()
		s.queues[0] = append(s.queues[0], last)
	}
	s.done[0] = true
	s.workers.Go(w.run)
	return nil
}

// alone tells whether there may be more to search or to emit, and returns the last group if it is complete and was not
// emitted.
func (s *rowSearch) alone(ctx context.Context, w *worker) (last *group, more bool, err error) {
	for {
		for len(s.left.starts) == 0 {
			if s.left.next == len(s.nets) {
				return nil, false, nil
			}
			s.left.starts = s.starts[s.left.next]
			s.left.next++
		}
		n := groupOf(s.left.starts)
		starts := s.left.starts[:n:n]
		s.left.starts = s.left.starts[n:]
		g := w.group(0, s.nets[s.left.next-1], starts)
		if len(s.left.starts) == 0 {
			s.come.Done(1)
		}
		if err := ctx.Err(); err != nil {
			if g != nil {
				g.rows.Close()
			}
			return nil, false, err
		}
		if s.begun || w.steps() >= s.b.alone {
			return g, true, nil
		}
		if g != nil {
			if err := s.emitGroup(ctx, g); err != nil {
				return nil, false, err
			}
			w.spare = g
		}
	}
}

// begin begins the other workers, with what is left. The group that the caller's goroutine is at, or has just searched,
// is a chunk of its own, the first. s.mu is held.
func (s *rowSearch) begin() {
	s.begun = true
	s.hungry.Store(0)
	at := s.left.next
	if len(s.left.starts) > 0 {
		at--
		s.starts[at] = s.left.starts
	}
	s.nets, s.starts = s.nets[at:], s.starts[at:]
	s.ends = append([]int{0}, chunkEnds(len(s.nets), s.b.opt.Threads)...)
	s.queues, s.done, s.next = make([][]*group, len(s.ends)), make([]bool, len(s.ends)), 1
	for range s.b.opt.Threads - 1 {
		s.workers.Go(func() { newWorker(s).run() })
	}
}
