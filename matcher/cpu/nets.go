package cpu

import (
	"maps"

	"motifd/dyngraph"
	"motifd/matcher"
)

// nets are the net edges of the staged batch by the labels of their ends and their own: what counting asks for, once a
// batch for all queries. Counts are sums, so that the order of net edges does not matter to them.
type nets struct {
	all     map[labels]*netGroup
	recent  [256]wayToGroup // by some bits of the labels of edges that came by
	touched []*netGroup     // with edges of the staged batch
	wide    []*wideNetGroup // beside those: where branches hang by wide edges
}

// wideNetGroup are the net edges that a wide edge takes from one vertex to another, in this direction, some of them in
// both.
type wideNetGroup struct {
	netGroup       // of any labels: from is the first vertex's, to the other's
	dirs     uint8 // in which the first vertex may see them: bits of dyngraph.Dir
}

// labels are those of an edge and its ends; in an undirected graph those of the ends ascend.
type labels struct{ from, edge, to dyngraph.LabelID }

// netGroup are the net edges with the same labels.
type netGroup struct {
	labels
	batch uint64       // the last one that had any
	of    [2][]netPair // of that batch: deleted, inserted
	last  uint64       // the last phase with any that was committed
	kept  bool         // a branch follows it
}

// wayToGroup is where the net edges with some labels belong, and how: turn has all bits set when their ends change
// places.
type wayToGroup struct {
	labels
	turn dyngraph.VertexID
	to   *netGroup
}

// maxNetGroups bounds the groups that are kept between batches beside those that branches follow.
const maxNetGroups = 1 << 16

// netPair are the ends of a net edge, in the order of the group's labels.
type netPair struct{ from, to dyngraph.VertexID }

// side returns the index of a sign in netGroup.of.
func side(sign dyngraph.Sign) int {
	if sign == dyngraph.Deleted {
		return 0
	}
	return 1
}

// in returns the net edges of a phase (see Backend.phase).
func (g *netGroup) in(phase uint64) []netPair {
	if g.batch != phase&^1 {
		return nil
	}
	return g.of[phase&1]
}

// group returns the group of some labels.
func (n *nets) group(k labels) *netGroup {
	g := n.all[k]
	if g == nil {
		if n.all == nil {
			n.all = map[labels]*netGroup{}
		}
		g = &netGroup{labels: k}
		n.all[k] = g
	}
	return g
}

// find finds where the net edges with some labels belong.
func (w *wayToGroup) find(n *nets, k labels, directed bool) {
	w.labels, w.turn = k, 0
	if k.from > k.to && !directed {
		k.from, k.to, w.turn = k.to, k.from, ^w.turn
	}
	w.to = n.group(k)
}

// read takes in the net edges of a batch.
func (n *nets) read(g *dyngraph.Graph, d *dyngraph.Delta, batch uint64) {
	n.touched = n.touched[:0]
	if len(n.all) > maxNetGroups {
		maps.DeleteFunc(n.all, func(_ labels, g *netGroup) bool { return !g.kept })
		clear(n.recent[:])
	}
	view := g.View(dyngraph.New)
	var ends [ahead][2]dyngraph.LabelID
	for from := 0; from < len(d.Net); from += ahead {
		some := d.Net[from:min(from+ahead, len(d.Net))]
		for i := range some { // apart from what follows, so that labels are waited for together
			ends[i] = [2]dyngraph.LabelID{view.Label(some[i].From), view.Label(some[i].To)}
		}
		for i := range some {
			e := &some[i]
			k := labels{ends[i][0], e.Label, ends[i][1]}
			way := &n.recent[(uint32(k.from)*9+uint32(k.edge)*81+uint32(k.to))%uint32(len(n.recent))]
			if way.to == nil || way.labels != k {
				way.find(n, k, g.Directed())
			}
			at := way.to
			if at.batch != batch {
				at.batch, at.of[0], at.of[1] = batch, at.of[0][:0], at.of[1][:0]
				n.touched = append(n.touched, at)
			}
			s := side(e.Sign)
			turn := (e.From ^ e.To) & way.turn
			at.of[s] = append(at.of[s], netPair{e.From ^ turn, e.To ^ turn})
		}
	}
	for _, w := range n.wide {
		w.read(n.touched, g.Directed(), batch)
	}
}

// read takes in the net edges of a batch.
func (w *wideNetGroup) read(touched []*netGroup, directed bool, batch uint64) {
	for _, g := range touched {
		if w.edge != matcher.AnyLabel && w.edge != g.edge {
			continue
		}
		ahead := w.from == g.from && w.to == g.to && (!directed || w.dirs>>dyngraph.Out&1 != 0)
		back := w.from == g.to && w.to == g.from && (!directed || w.dirs>>dyngraph.In&1 != 0)
		if !ahead && !back {
			continue
		}
		if w.batch != batch {
			w.batch, w.of[0], w.of[1] = batch, w.of[0][:0], w.of[1][:0]
		}
		for s, pairs := range g.of {
			if ahead {
				w.of[s] = append(w.of[s], pairs...)
			}
			if back {
				for _, p := range pairs {
					w.of[s] = append(w.of[s], netPair{p.to, p.from})
				}
			}
		}
	}
}

// wideGroup returns the group of what a wide edge takes.
func (n *nets) wideGroup(k labels, dirs uint8) *netGroup {
	for _, w := range n.wide {
		if w.labels == k && w.dirs == dirs {
			return &w.netGroup
		}
	}
	w := &wideNetGroup{netGroup: netGroup{labels: k}, dirs: dirs}
	n.wide = append(n.wide, w)
	return &w.netGroup
}

// commit notes which groups the batch has changed.
func (n *nets) commit(batch uint64) {
	for _, g := range n.touched {
		g.commit(batch)
	}
	for _, w := range n.wide {
		if w.batch == batch {
			w.commit(batch)
		}
	}
}

// commit notes that a batch with edges of the group was committed.
func (g *netGroup) commit(batch uint64) {
	if g.last = batch; len(g.of[1]) > 0 {
		g.last++
	}
}
