//go:build cuda || emu

package cuda

import (
	"iter"
	"slices"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/cuda/device"
)

// kinds groups the net edges of a batch by kind: the labels of their ends, their own label, and their sign. An oriented
// pattern edge fits all edges of a kind or none (DESIGN A3). The groups are made once, for all searches of a batch on
// the device.
type kinds struct {
	of     []uint32 // by net edge: kind
	starts []int    // by kind, and one more: the first of its net edges in net
	net    []uint32 // net edges by kind, ascending
	labels [][3]dyngraph.LabelID
	signs  []dyngraph.Sign

	side   int             // number of labels; kinds are looked up in number if labels are few
	number []uint32        // by position (see at): 1 plus the kind, or 0 for none
	seen   map[kind]uint32 // the kinds, if labels are many
}

// kind is the labels (from, edge, to) and the sign of a net edge.
type kind struct {
	labels [3]dyngraph.LabelID
	sign   dyngraph.Sign
}

// at returns the position of a kind in number.
func (k *kinds) at(l [3]dyngraph.LabelID, s dyngraph.Sign) int {
	return 2*((int(l[0])*k.side+int(l[1]))*k.side+int(l[2])) + signBit(s)
}

// fitting yields the kinds of one sign that fit an oriented pattern edge, by the labels of a plan.
func (k *kinds) fitting(sign dyngraph.Sign, want [3]dyngraph.LabelID) iter.Seq[int] {
	return func(yield func(int) bool) {
		if slices.Contains(want[:], matcher.AnyLabel) {
			for i, l := range k.labels {
				if k.signs[i] == sign && matcher.LabelFits(want[0], l[0]) && matcher.LabelFits(want[1], l[1]) &&
					matcher.LabelFits(want[2], l[2]) && !yield(i) {
					return
				}
			}
			return
		}
		if k.seen != nil {
			if i, ok := k.seen[kind{want, sign}]; ok {
				yield(int(i))
			}
			return
		}
		if int(max(want[0], want[1], want[2])) < k.side { // the graph has no edge with larger labels
			if i := k.number[k.at(want, sign)]; i != 0 {
				yield(int(i) - 1)
			}
		}
	}
}

// labelsOf returns the labels of the kind of a net edge.
func labelsOf(view dyngraph.View, e *dyngraph.NetEdge) [3]dyngraph.LabelID {
	return [3]dyngraph.LabelID{view.Label(e.From), e.Label, view.Label(e.To)}
}

// signBit is 1 for insertions.
func signBit(s dyngraph.Sign) int {
	if s == dyngraph.Inserted {
		return 1
	}
	return 0
}

// newKinds groups the net edges of a batch with a counting sort on a number of threads. Each thread counts the kinds of
// one part of the batch; the sums of the counts give the positions to which it writes its edges.
func newKinds(g *dyngraph.Graph, d *dyngraph.Delta, threads int) *kinds {
	n := len(d.Net)
	threads = max(1, min(threads, n/device.Chunk))
	k := &kinds{of: make([]uint32, n), net: make([]uint32, n)}
	counts := make([][]int, threads) // by part and kind: the number of edges, then the position of the next
	part := func(t int) (from, to int) { return t * n / threads, (t + 1) * n / threads }
	// Labels are usually few. If the number of possible kinds is in proportion to the edges of a part, a table with an
	// element for each possible kind replaces the map.
	side := int(g.Labels()) + 1
	k.side = side
	if side <= 64 && 2*side*side*side <= 8192+8*n/threads {
		view := g.View(dyngraph.New)
		device.InParallel(threads, func(t int) {
			count := make([]int, 2*side*side*side)
			from, to := part(t)
			for i := from; i < to; i++ {
				e := &d.Net[i]
				kind := k.at(labelsOf(view, e), e.Sign)
				k.of[i] = uint32(kind)
				count[kind]++
			}
			counts[t] = count
		})
		k.compact(counts, threads, part)
	} else {
		threads = 1
		counts = [][]int{k.hashed(g, d)}
	}
	k.starts = make([]int, len(k.labels)+1)
	at := 0
	for kind := range k.labels {
		k.starts[kind] = at
		for t := range threads {
			counts[t][kind], at = at, at+counts[t][kind]
		}
	}
	k.starts[len(k.labels)] = at
	device.InParallel(threads, func(t int) {
		from, to := part(t)
		for i := from; i < to; i++ {
			next := &counts[t][k.of[i]]
			k.net[*next] = uint32(i)
			*next++
		}
	})
	return k
}

// compact numbers the kinds that occur, without gaps.
func (k *kinds) compact(counts [][]int, threads int, part func(int) (int, int)) {
	side := k.side
	k.number = make([]uint32, 2*side*side*side)
	for kind := range k.number {
		n := 0
		for _, count := range counts {
			n += count[kind]
		}
		if n == 0 {
			continue
		}
		to := len(k.labels)
		k.number[kind] = uint32(to) + 1
		for _, count := range counts {
			count[to] = count[kind]
		}
		l := kind / 2
		k.labels = append(k.labels, [3]dyngraph.LabelID{dyngraph.LabelID(l / side / side),
			dyngraph.LabelID(l / side % side), dyngraph.LabelID(l % side)})
		k.signs = append(k.signs, []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted}[kind%2])
	}
	device.InParallel(threads, func(t int) {
		from, to := part(t)
		for i := from; i < to; i++ {
			k.of[i] = k.number[k.of[i]] - 1
		}
	})
}

// hashed finds the kinds with a map, and returns the number of edges of each.
func (k *kinds) hashed(g *dyngraph.Graph, d *dyngraph.Delta) (count []int) {
	view := g.View(dyngraph.New)
	k.seen = map[kind]uint32{}
	for i := range d.Net {
		n := &d.Net[i]
		l := kind{labelsOf(view, n), n.Sign}
		at, ok := k.seen[l]
		if !ok {
			at = uint32(len(k.labels))
			k.seen[l] = at
			k.labels, k.signs, count = append(k.labels, l.labels), append(k.signs, l.sign), append(count, 0)
		}
		k.of[i] = at
		count[at]++
	}
	return count
}

// start is a request and one of its programs, which searches from the net edges of a kind.
type start struct {
	request int
	program uint32
}

// starts returns, by kind, the programs of some requests that the net edges of the kind fit, in the order of the
// requests. Kinds of the other sign have none.
func (s *batchSearch) starts(of []int) [][]start {
	b := s.b
	if b.kinds == nil {
		b.kinds = newKinds(b.g, b.delta, b.opt.CPU.Threads)
	}
	all := make([][]start, len(b.kinds.labels))
	for _, i := range of {
		r := &s.reqs[i]
		p := r.Plan
		programs := b.plans[p].of(r.Want)
		for a := range p.Anchored {
			if programs[a] == kernels.None { // another program finds its matches
				continue
			}
			o := &p.Anchored[a]
			for kind := range b.kinds.fitting(s.sign,
				[3]dyngraph.LabelID{p.VertexLabels[o.Steps[0].Vertex], p.EdgeLabels[o.Edge],
					p.VertexLabels[o.Steps[1].Vertex]}) {
				all[kind] = append(all[kind], start{i, programs[a]})
			}
		}
	}
	return all
}
