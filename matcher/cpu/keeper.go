package cpu

import (
	"context"

	"motifd/dyngraph"
	"motifd/matcher/cpu/count"
	"motifd/matcher/cpu/labeladj"
	"motifd/matcher/cpu/program"
)

// keeper is what branches need of the backend while a batch is staged.
type keeper struct {
	g      *dyngraph.Graph
	adj    *labeladj.Index
	orders []uint32
	ctx    context.Context // to end early
	steps  uint64
	over   bool // a number of walks left 64 bits
	*scratch
}

// stopped reports whether it is to end early. The context is asked, not told to set a flag: in a small batch that took a tenth of the time.
func (k *keeper) stopped() bool { return k.ctx.Err() != nil }

// scratch is kept between batches.
type scratch struct {
	work       []change
	large      []largeChange
	wanted     []labeladj.Lookup
	ranges     []labeladj.Slots
	walks      [3][]count.Reached // of rings: two, and scratch
	ways       []uint64           // by vertex, 0 between uses
	rounds     []round
	crossings  []crossing
	flat, seen []dyngraph.VertexID
	read       uint64 // what was read ahead comes together here, so that it is read
}

// spread adds the changes of the far ends of a branch to the numbers of their neighbours in the graph before the phase.
func (k *keeper) spread(br *branch, inserted bool) bool {
	a, up := k.adj, k.adj.KindOf(br.up)
	before := oldOnly // is what is seen of the graph before the phase
	if inserted {
		before = common
	}
	for from := 0; from < len(k.work); from += ahead {
		if k.stopped() {
			return false
		}
		work := k.work[from:min(from+ahead, len(k.work))]
		k.wanted = k.wanted[:0]
		for i := range work {
			k.wanted = append(k.wanted, labeladj.Lookup{Vertex: work[i].v, Kind: up})
		}
		k.ranges = k.find(k.ranges, k.wanted)
		ranges, read := k.ranges, uint64(0)
		for i := range ranges {
			for _, v := range a.Nbr[ranges[i].From:ranges[i].To] {
				read += br.cells[v].n
			}
		}
		k.read += read
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
	return !br.over
}

// readCells reads the numbers that branches have where one of them has changed.
func (k *keeper) readCells(of []*branch, changed []change) {
	read := uint64(0)
	for _, br := range of {
		for i := range changed {
			read += br.cell(changed[i].v).n
		}
	}
	k.read += read
}

// readEnds reads the numbers that a branch and those that hang from it have at the ends of edges.
func (k *keeper) readEnds(br *branch, pairs []program.NetPair) {
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
	k.read += read
}
