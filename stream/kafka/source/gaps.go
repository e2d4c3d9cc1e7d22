package source

import (
	"sync"

	"motifd/stream"
	"motifd/stream/kafka"
)

// gaps holds, by partition and ascending, the ranges of offsets without records for the reader: control batches,
// aborted transactions, and records that compaction has removed. A range is kept until the batches' positions have
// passed it, so there are at most as many ranges as records that are read and not yet in a batch. Several goroutines
// may use it.
type gaps struct {
	mu sync.Mutex
	of map[int32][]kafka.Extent
}

// add adds the offsets [start, end), which follow all offsets that were added before.
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

// advance moves each position at the start of a gap to its end. A partition without a position is at offset 0: it was
// added while the source was reading.
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

// past returns the offset after the gaps that begin at a position, the position itself if none does.
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

// drop removes a partition's gaps.
func (g *gaps) drop(partition int32) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.of, partition)
}
