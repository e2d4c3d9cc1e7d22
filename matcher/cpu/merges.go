package cpu

import (
	"context"

	"motifd/matcher"
	"motifd/matcher/internal/rowsort"
)

// mergeTask is a range of the rows of a group that is merged from runs. Several workers merge ranges of one group at
// once.
type mergeTask struct {
	*rowsort.Range
	// guarded by rowSearch.mu
	taken, done bool
	err         error
	s           *rowSearch
}

// merge merges the range ahead of its turn.
func (p *mergeTask) merge() {
	err := p.Merge(&p.s.stop)
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.err, p.done = err, true
}

// takeMerge returns a task that nobody has taken yet, or nil. s.mu is held.
func (s *rowSearch) takeMerge() *mergeTask {
	for _, p := range s.merges {
		if !p.taken {
			p.taken = true
			return p
		}
	}
	return nil
}

// each emits the rows of a complete group in order, at most take of them, and releases them. When there is much to
// merge and there are workers for it, they merge ranges of it ahead, in about a quarter of the group's memory.
func (s *rowSearch) each(ctx context.Context, g *group, take uint64, emit func(matcher.Rows) error) error {
	r, threads := &g.rows, s.b.opt.Threads
	var all []*rowsort.Range
	if threads > 1 {
		all = r.Ranges(s.b.opt.GroupMemory/4/(threads+1), take)
	}
	if all == nil {
		return r.Each(ctx, take, emit)
	}
	defer r.Close()
	defer func() {
		// Workers may still be at ranges of this group.
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, p := range s.merges {
			for p.taken && !p.done {
				s.emitter.Wait()
			}
			p.Close()
		}
		s.merges = nil
	}()
	posted := 0
	for i := range all {
		s.mu.Lock()
		for ; posted < min(len(all), i+1+threads); posted++ {
			large := all[posted].Large // it is merged as it is emitted
			s.merges = append(s.merges, &mergeTask{Range: all[posted], s: s, taken: large, done: large})
			s.work.Broadcast()
		}
		p := s.merges[0]
		mine := !p.taken
		p.taken = true
		s.mu.Unlock()
		if mine {
			p.merge()
		}
		s.mu.Lock()
		for !p.done {
			s.emitter.Wait()
		}
		s.merges = s.merges[1:]
		s.mu.Unlock()
		if p.err != nil {
			p.Close()
			return p.err
		}
		if err := p.Emit(ctx, &take, emit); err != nil || take == 0 {
			return err
		}
	}
	return nil
}
