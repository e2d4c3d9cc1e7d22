package program

import (
	"maps"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// NetEdges groups the net edges of the staged batch by label triple. It is filled once per batch and read by counting
// and by the maintained views of all queries. Counts are sums, so the order of net edges does not matter to them.
type NetEdges struct {
	groups  map[Triple]*NetGroup
	recent  [256]groupEntry // direct-mapped cache of groups, by a hash of the triple
	Touched []*NetGroup     // groups that have edges of the staged batch
	wide    []*wideNetGroup // groups that Touched does not list: one for each kind of wide pattern edge
	// MayFit reports whether the labels are those of a pattern edge that is counted: other net edges are in no group.
	// It is asked with the labels of a Triple.
	MayFit func(from, edge, to dyngraph.LabelID) bool
	// Joins holds the labels of both ends of what may fit; nil if it is not known.
	Joins *matcher.LabelPairs
	// KeepOrders fills in the orders of all groups, not only of those whose label has parallel edges.
	KeepOrders bool
}

// wideNetGroup holds the net edges that can be the image of a wide pattern edge (one of several labels, or of either
// direction), each from the image of its first end to that of its second; some of them in both orientations.
type wideNetGroup struct {
	NetGroup       // its Triple may hold AnyLabel and label sets
	dirs     uint8 // directions in which the first end may see the edge: bits of dyngraph.Dir
}

// Triple is the label of an edge with the labels of its ends. In an undirected graph From <= To.
type Triple struct{ From, Edge, To dyngraph.LabelID }

// NetGroup holds the net edges of one label triple.
type NetGroup struct {
	Triple
	batch       uint64       // phase of the last batch with edges of the group
	Pairs       [2][]NetPair // of that batch, by SignIndex
	Orders      [2][]uint32  // likewise, parallel to Pairs: in the batch; empty unless they are kept
	LastChanged uint64       // the last committed phase with edges of the group
	Kept        bool         // the group outlives a clean-up: a maintained view reads it
	// Fits and FitsAt belong to the owner, for what the net edges of the group fit and when that was found.
	Fits   any
	FitsAt uint64
	// Room for the insertions of most batches, so that a new group is one piece of memory.
	pairs  [4]NetPair
	orders [4]uint32
}

// groupEntry caches the group of a triple, as the edge has it; nil for one that fits no pattern edge. swap has all bits
// set if the ends change places in it.
type groupEntry struct {
	Triple
	filled bool
	swap   dyngraph.VertexID
	group  *NetGroup
}

// maxNetGroups is the number of groups beyond which those that are not Kept are dropped.
const maxNetGroups = 1 << 16

// NetPair holds the ends of a net edge, in the order of the group's triple.
type NetPair struct{ From, To dyngraph.VertexID }

// SignIndex returns the index of a sign in NetGroup.Pairs.
func SignIndex(sign dyngraph.Sign) int {
	if sign == dyngraph.Deleted {
		return 0
	}
	return 1
}

// In returns the net edges of a phase. Phases number the changes of the graph: an even one is the deletions of a batch,
// the next one its insertions.
func (g *NetGroup) In(phase uint64) []NetPair {
	if g.batch != phase&^1 {
		return nil
	}
	return g.Pairs[phase&1]
}

// Group returns the group of a triple.
func (n *NetEdges) Group(k Triple) *NetGroup {
	g := n.groups[k]
	if g == nil {
		if n.groups == nil {
			n.groups = map[Triple]*NetGroup{}
		}
		g = &NetGroup{Triple: k}
		g.Pairs[1], g.Orders[1] = g.pairs[:0], g.orders[:0]
		n.groups[k] = g
	}
	return g
}

// fill sets the entry to the group of a triple.
func (w *groupEntry) fill(n *NetEdges, k Triple, directed bool) {
	w.Triple, w.filled, w.swap, w.group = k, true, 0, nil
	if k.From > k.To && !directed {
		k.From, k.To, w.swap = k.To, k.From, ^w.swap
	}
	if n.MayFit == nil || n.MayFit(k.From, k.Edge, k.To) {
		w.group = n.Group(k)
	}
}

// entry returns the entry of the labels of an edge.
func (n *NetEdges) entry(g *dyngraph.Graph, k Triple) *groupEntry {
	entry := n.slot(&k)
	if !entry.filled || entry.Triple != k {
		entry.fill(n, k, g.Directed())
	}
	return entry
}

func (n *NetEdges) slot(k *Triple) *groupEntry {
	return &n.recent[(uint32(k.From)*9+uint32(k.Edge)*81+uint32(k.To))%uint32(len(n.recent))]
}

// Know makes the group of the edges with some labels before a batch has any, and returns it; nil if there is none.
func (n *NetEdges) Know(g *dyngraph.Graph, from, edge, to dyngraph.LabelID) *NetGroup {
	return n.entry(g, Triple{from, edge, to}).group
}

// Prepared is to be called when MayFit answers otherwise than before, while no batch is staged.
func (n *NetEdges) Prepared() { clear(n.recent[:]) }

// Read groups the net edges of a batch, whose deletions are phase batch.
func (n *NetEdges) Read(g *dyngraph.Graph, d *dyngraph.Delta, batch uint64) {
	n.Touched = n.Touched[:0]
	if len(n.groups) > maxNetGroups {
		maps.DeleteFunc(n.groups, func(_ Triple, g *NetGroup) bool { return !g.Kept })
		clear(n.recent[:])
	}
	joins := n.Joins
	for i := range d.Net {
		e := &d.Net[i]
		if joins != nil && !joins.May(e.Labels[0], e.Labels[1]) || e.Vertex {
			continue
		}
		entry := n.entry(g, Triple{e.Labels[0], e.Label, e.Labels[1]})
		at := entry.group
		if at == nil {
			continue
		}
		if at.batch != batch {
			at.batch, at.Pairs[0], at.Pairs[1] = batch, at.Pairs[0][:0], at.Pairs[1][:0]
			at.Orders[0], at.Orders[1] = at.Orders[0][:0], at.Orders[1][:0]
			n.Touched = append(n.Touched, at)
		}
		s := SignIndex(e.Sign)
		turn := (e.From ^ e.To) & entry.swap
		at.Pairs[s] = append(at.Pairs[s], NetPair{e.From ^ turn, e.To ^ turn})
		if n.KeepOrders || g.HasParallel(e.Label) {
			at.Orders[s] = append(at.Orders[s], uint32(i))
		}
	}
	for _, w := range n.wide {
		w.read(n.Touched, g.Directed(), batch)
	}
}

// read adds the net edges of the batch that fit the wide edge.
func (w *wideNetGroup) read(touched []*NetGroup, directed bool, batch uint64) {
	for _, g := range touched {
		if !matcher.LabelFits(w.Edge, g.Edge) {
			continue
		}
		fit := func(from, to dyngraph.LabelID) bool {
			return matcher.LabelFits(w.From, from) && matcher.LabelFits(w.To, to)
		}
		ahead := (!directed || w.dirs>>dyngraph.Out&1 != 0) && fit(g.From, g.To)
		back := (!directed || w.dirs>>dyngraph.In&1 != 0) && fit(g.To, g.From)
		if !ahead && !back {
			continue
		}
		if w.batch != batch {
			w.batch, w.Pairs[0], w.Pairs[1] = batch, w.Pairs[0][:0], w.Pairs[1][:0]
		}
		for s, pairs := range g.Pairs {
			if ahead {
				w.Pairs[s] = append(w.Pairs[s], pairs...)
			}
			if back {
				for _, p := range pairs {
					w.Pairs[s] = append(w.Pairs[s], NetPair{p.To, p.From})
				}
			}
		}
	}
}

// Retain clears Kept of all groups, has mark set it, and drops the wide groups that are not kept.
func (n *NetEdges) Retain(mark func()) {
	for _, g := range n.groups {
		g.Kept = false
	}
	for _, w := range n.wide {
		w.Kept = false
	}
	mark()
	n.wide = slices.DeleteFunc(n.wide, func(w *wideNetGroup) bool { return !w.Kept })
}

// WideGroup returns the group of the wide pattern edges with these labels, which the first end may see in the
// directions dirs.
func (n *NetEdges) WideGroup(k Triple, dirs uint8) *NetGroup {
	for _, w := range n.wide {
		if w.Triple == k && w.dirs == dirs {
			return &w.NetGroup
		}
	}
	w := &wideNetGroup{NetGroup: NetGroup{Triple: k}, dirs: dirs}
	n.wide = append(n.wide, w)
	return &w.NetGroup
}

// Commit sets LastChanged of the groups that the batch changed.
func (n *NetEdges) Commit(batch uint64) {
	for _, g := range n.Touched {
		g.commit(batch)
	}
	for _, w := range n.wide {
		if w.batch == batch {
			w.commit(batch)
		}
	}
}

// commit sets LastChanged to the last phase of a batch with edges of the group.
func (g *NetGroup) commit(batch uint64) {
	if g.LastChanged = batch; len(g.Pairs[1]) > 0 {
		g.LastChanged++
	}
}
