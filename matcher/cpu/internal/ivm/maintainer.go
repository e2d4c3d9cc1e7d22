package ivm

import (
	"context"

	"motifd/dyngraph"
	"motifd/matcher/cpu/internal/labeladj"
)

// pollEvery is the number of deltas between two looks whether to end early.
const pollEvery = 64

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
	deltas []delta
	large  []largeDelta
}

// spread adds the deltas of a view's children to the numbers of their neighbours in the graph before the phase.
func (k *Maintainer) spread(br *treeView, inserted bool) bool {
	up := k.index.KindOf(br.up)
	for i, d := range k.deltas {
		if i%pollEvery == 0 && k.stopped() {
			return false
		}
		nbr, ent, staged := k.index.Of(d.vertex, up)
		k.Steps += uint64(len(nbr))
		for j, v := range nbr {
			if !staged || k.seesBefore(ent[j], inserted) {
				br.add(v, d.by, inserted)
			}
		}
	}
	return !br.overflow
}

// seesBefore reports whether an entry is in the graph before a phase: deletions come first. A replaced edge is deleted,
// then inserted.
func (k *Maintainer) seesBefore(e dyngraph.Entry, inserted bool) bool {
	return !e.Staged() || !inserted && k.orders[e.Index()]>>30 != 0
}
