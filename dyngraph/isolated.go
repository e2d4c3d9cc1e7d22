package dyngraph

import (
	"math/bits"
	"slices"

	"motifd/dyngraph/property"
)

// A vertex that came into being with an edge, and that no +v has declared since, is implied. With ExpireIsolated a
// batch removes, after all else, the implied vertices that it leaves without edges and declared values (DESIGN S20).
// Otherwise the keys of expired edges would stay for ever.

// AtIsolation is the UpdateIndex of a vertex that ExpireIsolated has removed: a place behind all updates of the batch.
const AtIsolation = ^uint32(0) - 2

// ExpireIsolated tells whether Stage removes implied vertices without edges from now on, and notes which ones are
// implied. Vertices that came into being before are not. It is for the owner of the graph, between batches.
func (g *Graph) ExpireIsolated(on bool) {
	g.sweep = on && (g.sweep || !g.isolated)
	g.isolated = on
}

func (g *Graph) isImplied(id VertexID) bool {
	w := int(id >> 6)
	return w < len(g.implied) && g.implied[w]>>(id&63)&1 != 0
}

func (g *Graph) setImplied(id VertexID, is bool) {
	switch w := int(id >> 6); {
	case is:
		g.implied = grown(g.implied, w+1)
		g.implied[w] |= 1 << (id & 63)
	case w < len(g.implied):
		g.implied[w] &^= 1 << (id & 63)
	}
}

// implieds calls f for each implied vertex. No batch is staged.
func (g *Graph) implieds(f func(id VertexID)) {
	for w, set := range g.implied {
		for ; set != 0; set &= set - 1 {
			if id := w<<6 + bits.TrailingZeros64(set); g.vstate[id] == inBoth { // others are not there any more
				f(VertexID(id))
			}
		}
	}
}

// degreeChanges holds the changes of the degrees of implied vertices by the current batch.
type degreeChanges struct {
	by    []int32 // by vertex id: edges that come, less those that go
	spare spare[int32]
	noted []VertexID // all others have 0; may name one twice
}

// note adds to the change of a vertex, if it is implied.
func (d *degreeChanges) note(g *Graph, id VertexID, change int32) {
	if g.isImplied(id) {
		d.by[id] += change
		d.noted = append(d.noted, id)
	}
}

// count goes through the net edges, which are items and those of the fold, and notes which new vertices have edges.
func (d *degreeChanges) count(g *Graph, items []netItem) {
	d.by = d.spare.grown(g.opt.Background, d.by, int(g.bound))
	for i := range items {
		if it := &items[i]; !it.Replaced {
			change := int32(1)
			if it.Sign == Deleted {
				change = -1
			}
			d.note(g, it.From, change)
			d.note(g, it.To, change)
		}
	}
	f := &g.fold
	for i := range f.edges {
		e := &f.edges[i]
		if e.present == (e.old != NoEdge) || e.expired() { // expired edges are among the items
			continue
		}
		change := int32(1)
		if !e.present {
			change = -1
		}
		for _, end := range [2]int32{e.from, e.to} {
			inc := &f.incs[end]
			v := &f.verts[inc.vert]
			if inc.old {
				d.note(g, v.old, change)
			} else if e.present {
				v.linked = true
			}
		}
	}
}

// reset makes all changes 0.
func (d *degreeChanges) reset() {
	for _, id := range d.noted {
		d.by[id] = 0
	}
	d.noted = emptied(d.noted)
}

// hasValues tells whether a vertex of the fold has declared values in the end.
func (f *folder) hasValues(v int32) bool {
	x := &f.verts[v]
	if x.values == none {
		return x.old != NoVertex && anyValue(f.g.vertexValues, uint32(x.old))
	}
	now, _ := f.valuesOf(v)
	return hasValue(now)
}

// hasValue tells whether some value is a declared one that is not null; labels are none.
func hasValue(values []property.Value) bool {
	return slices.ContainsFunc(values, func(value property.Value) bool {
		return !value.IsNull() && value.Type().Kind != property.Labels
	})
}

// stays tells whether a vertex of the fold is in both graphs.
func (v *foldVertex) stays() bool { return v.cur != none && v.cur == v.oldInc }

// removeIsolated takes the implied vertices that would have no edges out of the new graph, and lists the implied ones
// that a +v has declared.
func (s *staged) removeIsolated(g *Graph) {
	f, d := &g.fold, &g.degrees
	d.count(g, s.items)
	for i := range f.verts {
		v := &f.verts[i]
		if !v.stays() || !g.isImplied(v.old) {
			continue
		}
		if v.declared {
			s.delta.Declared = append(s.delta.Declared, v.old)
		}
		d.note(g, v.old, 0)
	}
	slices.Sort(s.delta.Declared)
	if g.sweep {
		g.implieds(func(id VertexID) { d.note(g, id, 0) })
	}
	for _, id := range d.noted {
		if g.adj.heads[id].all()+int(d.by[id]) > 0 {
			continue
		}
		if at := f.mark[id]; at == 0 {
			if anyValue(g.vertexValues, uint32(id)) {
				continue
			}
		} else if v := &f.verts[at-1]; v.stays() && !v.declared && !f.hasValues(int32(at-1)) {
			f.incs[v.oldInc].death = AtIsolation
			v.cur = none
		} else {
			continue
		}
		s.delta.Freed = append(s.delta.Freed, id)
	}
	d.reset()
	slices.Sort(s.delta.Freed)
	s.delta.Freed = slices.Compact(s.delta.Freed)
	s.births = slices.DeleteFunc(s.births, func(b birth) bool {
		v := &f.verts[b.vert]
		if v.declared || v.linked || f.hasValues(b.vert) {
			return false
		}
		v.cur = none
		return true
	})
}
