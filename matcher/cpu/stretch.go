package cpu

import (
	"context"

	"motifd/matcher"
)

// stretch is a part of the rows of a group that are to be merged from runs. Several workers merge stretches of one group at once.
type stretch struct {
	span
	rows   *sorted
	blocks []*block
	// guarded by rowSearch.mu
	taken, done bool
	err         error
	s           *rowSearch
}

const (
	// stretchRows is how many rows a stretch has at least, about.
	stretchRows = 32 << 10
	// stretchSlack is how much larger than that, times the runs, a stretch may be to be merged in one go.
	stretchSlack = 4
)

// merge fills the stretch's blocks.
func (p *stretch) merge() {
	blocks, err := p.collect()
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.blocks, p.err, p.done = blocks, err, true
}

func (p *stretch) collect() (blocks []*block, err error) {
	m, err := newMerge(p.rows.order, p.rows.runs, p.lo, p.hi)
	if err != nil {
		return nil, err
	}
	most := blockWords / p.rows.order.width()
	for !p.s.stop.Load() {
		b := newBlock()
		if b.words, err = m.append(b.words, most); err != nil || len(b.words) == 0 {
			b.release()
			return blocks, err
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

func (p *stretch) close() {
	for _, b := range p.blocks {
		b.release()
	}
	p.blocks = nil
}

// takeStretch returns a stretch that nobody merges yet, or nil. s.mu is held.
func (s *rowSearch) takeStretch() *stretch {
	for _, p := range s.stretches {
		if !p.taken {
			p.taken = true
			return p
		}
	}
	return nil
}

// each emits the rows of a complete group in order, at most take of them, and releases them. When there is much to merge and
// there are workers for it, they merge stretches of it ahead.
func (s *rowSearch) each(ctx context.Context, g *group, take uint64, emit func(matcher.Rows) error) error {
	r := &g.rows
	// About a quarter of the group's memory for all that are merged ahead, but not so little that most of the work is to open runs.
	target := uint64(max(min(s.b.opt.GroupMemory/(16*r.order.width()*(s.b.opt.Threads+1)), stretchRows+len(r.runs)*packedWords/4), 64*len(r.runs)))
	if s.b.opt.Threads == 1 || len(r.runs) < 2 || take < 2*target || r.err != nil {
		return r.each(ctx, take, emit)
	}
	defer r.close()
	defer func() {
		// Workers may still be at stretches of this group.
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, p := range s.stretches {
			for p.taken && !p.done {
				s.emitter.Wait()
			}
			p.close()
		}
		s.stretches = nil
	}()
	all := spans(r.runs, target)
	rows := matcher.Rows{Vertices: r.order.vertices, Edges: r.order.edges}
	posted := 0
	for i := range all {
		s.mu.Lock()
		for ; posted < min(len(all), i+1+s.b.opt.Threads); posted++ {
			// A stretch may be large without need of memory only where vertices repeat: then it is merged as it is emitted.
			large := all[posted].rows > stretchSlack*target
			s.stretches = append(s.stretches, &stretch{span: all[posted], rows: r, s: s, taken: large, done: large})
			s.work.Broadcast()
		}
		p := s.stretches[0]
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
		s.stretches = s.stretches[1:]
		s.mu.Unlock()
		err := ctx.Err()
		if err == nil {
			err = p.err
		}
		if err == nil && p.span.rows > stretchSlack*target {
			err = p.stream(ctx, &take, rows, emit)
		}
		for _, b := range p.blocks {
			rows.Data = b.words
			if n := uint64(rows.Len()); n > take {
				rows = rows.Slice(0, int(take))
			}
			if err == nil {
				err = ctx.Err()
			}
			if err == nil && rows.Len() > 0 {
				take -= uint64(rows.Len())
				err = emit(rows)
			}
			b.release()
		}
		p.blocks = nil
		if err != nil {
			return err
		}
		if take == 0 {
			return nil
		}
	}
	return nil
}

// stream emits the stretch while it merges it.
func (p *stretch) stream(ctx context.Context, take *uint64, rows matcher.Rows, emit func(matcher.Rows) error) error {
	m, err := newMerge(p.rows.order, p.rows.runs, p.lo, p.hi)
	if err != nil {
		return err
	}
	b := newBlock()
	defer b.release()
	for *take > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		most := min(uint64(blockWords/p.rows.order.width()), *take)
		if b.words, err = m.append(b.words[:0], int(most)); err != nil {
			return err
		}
		if rows.Data = b.words; len(rows.Data) == 0 {
			return nil
		}
		*take -= uint64(rows.Len())
		if err := emit(rows); err != nil {
			return err
		}
	}
	return nil
}
