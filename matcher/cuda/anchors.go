//go:build cuda || emu

package cuda

import (
	"cmp"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher/plan"
)

// kinds sorts the net edges of a batch by the labels of their ends and their own, once a batch: what fits one edge of a kind fits
// all (DESIGN A3).
type kinds struct {
	of     []uint32 // by net edge: kind
	starts []int    // by kind, and one more: where its net edges are in net
	net    []uint32 // net edges by kind, ascending

	inserted, deleted int
	signs             [][2]uint64 // by kind: how many are deleted, and inserted
	labels            [][3]dyngraph.LabelID
}

func newKinds(g *dyngraph.Graph, d *dyngraph.Delta) *kinds {
	k := &kinds{of: make([]uint32, len(d.Net))}
	view := g.View(dyngraph.New)
	seen := map[[3]dyngraph.LabelID]uint32{}
	// Few labels are the rule: a table then finds a kind without hashing, if the batch is worth one.
	side := dyngraph.LabelID(g.Labels()) + 1
	var small []uint32
	if cells := int(side) * int(side) * int(side); side <= 64 && cells <= 4096+4*len(d.Net) {
		small = make([]uint32, cells)
	}
	for i := range d.Net {
		n := &d.Net[i]
		if n.Sign == dyngraph.Inserted {
			k.inserted++
		} else {
			k.deleted++
		}
		l := [3]dyngraph.LabelID{view.Label(n.From), n.Label, view.Label(n.To)}
		if small != nil {
			at := &small[(l[0]*side+l[1])*side+l[2]]
			if *at == 0 {
				k.labels = append(k.labels, l)
				*at = uint32(len(k.labels))
			}
			k.of[i] = *at - 1
			continue
		}
		at, ok := seen[l]
		if !ok {
			at = uint32(len(k.labels))
			seen[l] = at
			k.labels = append(k.labels, l)
		}
		k.of[i] = at
	}
	k.signs = make([][2]uint64, len(k.labels))
	for i := range d.Net {
		if d.Net[i].Sign == dyngraph.Inserted {
			k.signs[k.of[i]][1]++
		} else {
			k.signs[k.of[i]][0]++
		}
	}
	k.bucket()
	return k
}

// bucket lists the net edges of every kind.
func (k *kinds) bucket() {
	k.starts = make([]int, len(k.labels)+2)
	for _, kind := range k.of {
		k.starts[kind+2]++
	}
	for i := range k.labels {
		k.starts[i+2] += k.starts[i+1]
	}
	k.net = make([]uint32, len(k.of))
	for i, kind := range k.of {
		k.net[k.starts[kind+1]] = uint32(i)
		k.starts[kind+1]++
	}
}

// start is a program that the net edges of some kind fit.
type start struct {
	request int
	program uint32
}

// starts returns, by kind, the programs of some requests that fit, in the order of the requests.
func (s *batchSearch) starts(of []int) [][]start {
	b := s.b
	all := make([][]start, len(b.kinds.labels))
	for kind, k := range b.kinds.labels {
		for _, i := range of {
			r := &s.reqs[i]
			p := r.Plan
			programs := b.plans[p].of(r.Want)
			for a := range p.Anchored {
				o := &p.Anchored[a]
				if plan.Fits(p.EdgeLabels[o.Edge], k[1]) && plan.Fits(p.VertexLabels[o.Steps[0].Vertex], k[0]) &&
					plan.Fits(p.VertexLabels[o.Steps[1].Vertex], k[2]) {
					all[kind] = append(all[kind], start{i, programs[a]})
				}
			}
		}
		slices.SortStableFunc(all[kind], func(x, y start) int { return cmp.Compare(x.request, y.request) })
	}
	return all
}
