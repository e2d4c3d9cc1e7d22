//go:build cuda || emu

package cuda

import (
	"context"
	"iter"

	"motifd/kernels"
	"motifd/matcher/cuda/internal/mirror"
)

// Of the first tasks of a batch, what is prefetched takes at most a part of the cache. Tests make the number small.
const prefetchShare = 4

var prefetchTasks = 1 << 16

// prefetch has the mirror hold the vertices from which the first tasks of a batch read first, before a search begins:
// else each task would wait for them. (GCSM prefetches what sampled searches visit most. Here all of these visits are
// known.) tasks yields programs and net edges. What exceeds the part of the cache is fetched when a task waits for it.
func (d *deferral) prefetch(ctx context.Context, j *job, t *table, m *mirror.Mirror,
	tasks iter.Seq2[uint32, uint32]) error {
	m.BeginRound()
	d.beginRound(j)
	left, n := m.Room()/prefetchShare, 0
	var fetch []uint32
	for program, net := range tasks {
		if n++; n > prefetchTasks {
			break
		}
		p := &t.programs[program]
		ends := m.Ends(net)
		if !m.Passes(ends[0], &p.Step[0]) || !m.Passes(ends[1], &p.Step[1]) {
			continue
		}
		for at, v := range ends {
			if p.Reads>>at&1 == 0 || d.vertex[v].round == d.round || m.Holds(v) {
				continue
			}
			entries := m.Entries(v)
			if entries > left {
				continue
			}
			d.vertex[v].round = d.round
			left -= entries
			fetch = append(fetch, v)
		}
	}
	if len(fetch) == 0 {
		return nil
	}
	return m.Fetch(ctx, fetch)
}

// beginRound begins a round of the choice of vertices.
func (d *deferral) beginRound(j *job) {
	d.round++
	d.wanted = d.wanted[:0]
	d.vertex = append(d.vertex, make([]wantedVertex, max(0, j.vertices-len(d.vertex)))...)
}

// begun returns the programs and net edges of the tasks of runs, n in all, whose net edges are net.
func begun(runs []kernels.Run, n int, net []uint32) iter.Seq2[uint32, uint32] {
	return func(yield func(uint32, uint32) bool) {
		for i, r := range runs {
			end := n
			if i+1 < len(runs) {
				end = int(runs[i+1].First)
			}
			for k := range end - int(r.First) {
				if !yield(r.Program, net[int(r.Net)+k]) {
					return
				}
			}
		}
	}
}

// eachTask returns the programs and net edges of tasks.
func eachTask(tasks []kernels.Task) iter.Seq2[uint32, uint32] {
	return func(yield func(uint32, uint32) bool) {
		for _, t := range tasks {
			if !yield(t.Program, t.Net) {
				return
			}
		}
	}
}
