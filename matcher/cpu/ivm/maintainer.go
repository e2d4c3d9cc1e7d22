package ivm

import (
	"context"

	"motifd/dyngraph"
	"motifd/matcher/cpu/count"
	"motifd/matcher/cpu/labeladj"
	"motifd/matcher/cpu/program"
)

// keeper is what branches need of the backend while a batch is staged.
type Maintainer struct {
	g        *dyngraph.Graph
	index    *labeladj.Index
	orders   []uint32
	ctx      context.Context // to end early
	Steps    uint64
	Overflow bool // a number of walks left 64 bits
	*scratch
}

// stopped reports whether it is to end early. The context is asked, not told to set a flag: in a small batch that took a tenth of the time.
func (k *Maintainer) stopped() bool { return k.ctx.Err() != nil }

// scratch is kept between batches.
type scratch struct {
	deltas    []delta
	large     []largeDelta
	wanted    []labeladj.Lookup
	ranges    []labeladj.Slots
	frontiers [3][]count.Reached // of rings: two, and scratch
	ways      []uint64           // by vertex, 0 between uses
	rounds    []closure
	touched   uint64 // what was read ahead comes together here, so that it is read
}

// spread adds the changes of the far ends of a branch to the numbers of their neighbours in the graph before the phase.
func (k *Maintainer) spread(br *treeView, inserted bool) bool {
	a, up := k.index, k.index.KindOf(br.up)
	before := withDeleted // is what is seen of the graph before the phase
	if inserted {
		before = bothGraphs
	}
	for from := 0; from < len(k.deltas); from += prefetched {
		if k.stopped() {
			return false
		}
		work := k.deltas[from:min(from+prefetched, len(k.deltas))]
		k.wanted = k.wanted[:0]
		for i := range work {
			k.wanted = append(k.wanted, labeladj.Lookup{Vertex: work[i].vertex, Kind: up})
		}
		k.ranges = k.findAll(k.ranges, k.wanted)
		ranges, read := k.ranges, uint64(0)
		for i := range ranges {
			for _, v := range a.Nbr[ranges[i].From:ranges[i].To] {
				read += br.cells[v].n
			}
		}
		k.touched += read
		for i := range ranges {
			r, by := &ranges[i], work[i].by
			for s := r.From; s < r.To; s++ {
				if r.Staged && !k.sees(a.Ent[s], before) {
					continue
				}
				br.add(a.Nbr[s], by, inserted)
			}
		}
	}
	return !br.overflow
}

// readCells reads the numbers that branches have where one of them has changed.
func (k *Maintainer) readCells(of []*treeView, changed []delta) {
	read := uint64(0)
	for _, br := range of {
		for i := range changed {
			read += br.cell(changed[i].vertex).n
		}
	}
	k.touched += read
}

// readEnds reads the numbers that a branch and those that hang from it have at the ends of edges.
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
