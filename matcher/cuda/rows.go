//go:build cuda || emu

package cuda

import (
	"context"
	"errors"

	"motifd/kernels"
)

// firstWave and maxWave bound the tasks of a wave. Where a request is capped, what follows the cap is not wanted: then the first
// wave is cappedWave.
const (
	firstWave  = 1 << 14
	cappedWave = 1 << 8
	maxWave    = 1 << 22
)

// piece is a run of rows of one group, in the order in which the device put them out.
type piece struct {
	net, request uint32
	from, to     int // in job.data
}

// rows answers the requests that want rows. Anchors are searched in waves, so that groups can be put in order while memory is
// bounded; a wave that gives too much is done again in halves, and a single anchor that does goes to the CPU with all after it.
// Groups of anchors before the one that is returned are out.
func (s *batchSearch) rows(ctx context.Context, of []int) (done uint32, err error) {
	if len(of) == 0 {
		return 0, nil
	}
	began := s.b.clock()
	e := &emitter{s: s, emitted: make([]uint64, len(s.reqs)), closed: make([]bool, len(s.reqs))}
	j := s.job(of)
	j.rows, j.limit = true, s.b.opt.RowMemory/4
	var pieces []piece
	j.piece = func(request, net uint32, from, to int) {
		pieces = append(pieces, piece{net, request, from, to})
	}
	run := &s.b.run
	if err := run.begin(j); err != nil {
		return 0, err
	}
	all := s.starts(of)
	size := firstWave
	for _, i := range of {
		if s.reqs[i].Limit > 0 && !s.reqs[i].Total {
			size = cappedWave
		}
	}
	var tasks []kernels.Task
	for from := 0; from < len(s.b.delta.Net); {
		tasks = tasks[:0]
		to, anchors := from, 0
		for ; to < len(s.b.delta.Net) && len(tasks) < size; to++ {
			n := &s.b.delta.Net[to]
			if n.Sign != s.sign {
				continue
			}
			before := len(tasks)
			for _, st := range all[s.b.kinds.of[to]] {
				if uint32(to) < s.reqs[st.request].Before && !e.closed[st.request] {
					tasks = append(tasks, kernels.Task{Program: st.program, Net: uint32(to)})
				}
			}
			if len(tasks) > before {
				anchors++
			}
		}
		pieces = pieces[:0]
		err := run.search(ctx, j, tasks)
		switch {
		case errors.Is(err, errFull) && anchors > 1:
			size = max(1, min(size, len(tasks))/2) // down to 1, which is one anchor
			continue
		case errors.Is(err, errFull):
			return 0, s.onCPU(ctx, of, uint32(from))
		case err != nil:
			return uint32(from), err
		}
		if err := e.wave(pieces, j.data, from, to); err != nil {
			return 0, err
		}
		if len(j.data) < j.limit/8 {
			size = min(2*size, maxWave)
		}
		from = to
	}
	counts, err := run.tallies(len(s.reqs))
	if err != nil {
		return uint32(len(s.b.delta.Net)), err
	}
	took := (s.b.clock() - began) / int64(len(of))
	for _, i := range of {
		s.results[i].Steps, s.results[i].SearchNS = counts[i].steps, took
	}
	return 0, nil
}
