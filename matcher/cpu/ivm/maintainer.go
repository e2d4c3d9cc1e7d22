package ivm

import (
	"context"

	"motifd/dyngraph"
	"motifd/matcher/cpu/labeladj"
	"motifd/matcher/cpu/program"
)

// prefetched is the number of vertices that are looked up together, so that cache misses overlap: staging the batch has
// evicted most of the index.
const prefetched = 64

// Maintainer advances views while a batch is staged.
type Maintainer struct {
	g      *dyngraph.Graph
	index  *labeladj.Index
	orders []uint32
	ctx    context.Context // ends the work early
	Steps  uint64
	*scratch
}

// stopped reports whether to end early. It asks the context, since a flag set by context.AfterFunc took a tenth of the
// time of small batches.
func (k *Maintainer) stopped() bool { return k.ctx.Err() != nil }

// scratch is memory kept between batches.
type scratch struct {
	deltas  []delta
	large   []largeDelta
	wanted  []labeladj.Lookup
	ranges  []labeladj.Slots
	touched uint64 // sum of what was prefetched, so that the loads are made
}

// spread adds the deltas of a view's children to the numbers of their neighbours in the graph before the phase.
func (k *Maintainer) spread(br *treeView, inserted bool) bool {
	a, up := k.index, k.index.KindOf(br.up)
	for from := 0; from < len(k.deltas); from += prefetched {
		if k.stopped() {
			return false
		}
		work := k.deltas[from:min(from+prefetched, len(k.deltas))]
		k.wanted = k.wanted[:0]
		for i := range work {
			k.wanted = append(k.wanted, labeladj.Lookup{Vertex: work[i].vertex, Kind: up})
		}
		found, entries, read := a.FindAll(k.ranges, k.wanted)
		k.ranges, k.Steps = found, k.Steps+entries
		ranges := found
		for i := range ranges {
			for _, v := range a.Nbr[ranges[i].From:ranges[i].To] {
				read += br.cells[v].n
			}
		}
		k.touched += read
		for i := range ranges {
			r, by := &ranges[i], work[i].by
			for s := r.From; s < r.To; s++ {
				if r.Staged && !k.seesBefore(a.Ent[s], inserted) {
					continue
				}
				br.add(a.Nbr[s], by, inserted)
			}
		}
	}
	return !br.overflow
}

// seesBefore reports whether an entry is in the graph before a phase: deletions come first.
func (k *Maintainer) seesBefore(e dyngraph.Entry, inserted bool) bool {
	return !e.Staged() || !inserted && k.orders[e.Index()]>>31 != 0
}

// readCells prefetches the numbers of views where one of them has changed.
func (k *Maintainer) readCells(of []*treeView, changed []delta) {
	read := uint64(0)
	for _, br := range of {
		for i := range changed {
			read += br.cell(changed[i].vertex).n
		}
	}
	k.touched += read
}

// readEnds prefetches the numbers of a view and its children at the ends of net edges.
func (k *Maintainer) readEnds(br *treeView, pairs []program.NetPair) {
	read := uint64(0)
	if br.along {
		for i := range pairs {
			read += br.cell(pairs[i].From).n
			for _, c := range br.children {
				read += c.cell(pairs[i].To).n
			}
		}
	}
	if br.against {
		for i := range pairs {
			read += br.cell(pairs[i].To).n
			for _, c := range br.children {
				read += c.cell(pairs[i].From).n
			}
		}
	}
	k.touched += read
}
