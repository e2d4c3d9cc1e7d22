package source

import (
	"sync"

	"motifd/stream"
	"motifd/stream/kafka"
)

// gaps are runs of offsets that hold no records for us, by partition, ascending: control batches, aborted transactions,
// and what compaction has removed. They are kept until the batches' positions have passed them, so there are no more
// than records that were read ahead. It may be used by several goroutines.
type gaps struct {
	mu sync.Mutex
	of map[int32][]kafka.Extent
}

// add adds the offsets from start up to, not including, end, which follow all that were added before.
func (g *gaps) add(partition int32, start, end int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.of == nil {
		g.of = map[int32][]kafka.Extent{}
	}
	list := g.of[partition]
	if n := len(list); n > 0 && list[n-1].End == start {
		list[n-1].End = end
		return
	}
	g.of[partition] = append(list, kafka.Extent{Start: start, End: end})
}

// advance moves each position that stands at the start of a gap to its end. A partition without a position stands at
// offset 0: it was added while we read.
func (g *gaps) advance(at stream.Positions) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for p, list := range g.of {
		pos, moved := at[p], false
		for len(list) > 0 && list[0].Start <= pos {
			if list[0].End > pos {
				pos, moved = list[0].End, true
			}
			list = list[1:]
		}
		if moved {
			at[p] = pos
		}
		g.of[p] = list
	}
}

// past returns where a position stands behind the gaps that begin there.
func (g *gaps) past(partition int32, pos int64) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, gap := range g.of[partition] {
		if gap.Start > pos {
			break
		}
		pos = max(pos, gap.End)
	}
	return pos
}

// drop forgets a partition's gaps.
func (g *gaps) drop(partition int32) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.of, partition)
}
