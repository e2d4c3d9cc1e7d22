//go:build cuda || emu

package cuda

import (
	"context"
	"slices"
)

// shelf keeps rows, in order, until it is known whether they go out: in memory, and beyond that in a spill.
type shelf struct {
	spill spill
	width int
	part  *part // of the spill: the first rows
	rows  []uint32
}

// add adds rows.
func (s *shelf) add(rows []uint32) error {
	s.rows = append(s.rows, rows...)
	if 4*len(s.rows) <= s.spill.memory {
		return nil
	}
	if s.part == nil {
		var err error
		if s.part, err = s.spill.begin(); err != nil {
			return err
		}
	}
	err := s.spill.write(s.part, 0, s.width, s.rows)
	s.rows = s.rows[:0]
	return err
}

// each hands out all rows.
func (s *shelf) each(ctx context.Context, take func(rows []uint32) error) error {
	next := func(_ int, rows []uint32) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return take(rows)
	}
	if s.part != nil {
		if err := s.spill.merge([]*part{s.part}, nil, next); err != nil {
			return err
		}
	}
	for rows := range slices.Chunk(s.rows, max(1, mergedWords/s.width)*s.width) {
		if err := next(0, rows); err != nil {
			return err
		}
	}
	return nil
}

// close drops everything.
func (s *shelf) close() {
	s.spill.close()
	s.part, s.rows = nil, nil
}
