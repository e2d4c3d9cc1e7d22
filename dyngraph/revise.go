package dyngraph

import (
	"cmp"
	"slices"

	"motifd/dyngraph/property"
)

// A vertex that is in both graphs and whose declared values differ is revised (DESIGN S16): one net event, with a
// version on either side of the edges of its place. In the graph it stays where it is, and so do its edges; the new
// values wait beside the columns until Commit.

// revision is a revised vertex; its new values are those of staged.reviseTo, row by row.
type revision struct {
	vertex   VertexID
	place    uint32
	row      int
	old, new uint32 // orders
}

// valuesOf returns a vertex's row of values as the batch goes on.
func (f *folder) valuesOf(v int32) (now []property.Value, changed []uint32) {
	n := len(f.g.vertexValues)
	x := &f.verts[v]
	if x.values == none {
		x.values = int32(len(f.now) / n)
		for i := range f.g.vertexValues {
			var value property.Value
			if x.old != NoVertex {
				value = f.g.vertexValues[i].get(uint32(x.old))
			}
			f.now, f.changed = append(f.now, value), append(f.changed, never)
		}
	}
	at := int(x.values) * n
	return f.now[at : at+n], f.changed[at : at+n]
}

// revise sets the values that an update gives to a vertex which is there: all that its label declares, or those that
// the update names.
func (f *folder) revise(v int32, u *Update, updateIndex uint32) {
	if len(f.g.vertexValues) == 0 {
		return
	}
	under := f.g.vertexColumns.Under(f.g.labels.names[f.incs[f.verts[v].cur].label])
	columns := u.Named
	if u.Op == InsertVertex {
		columns = under.All()
	}
	now, changed := f.valuesOf(v)
	for _, column := range columns {
		if value := u.Attr.Value(column); under.Has(column) && now[column] != value {
			now[column], changed[column] = value, updateIndex
		}
	}
	f.relabel(v, u.Op, u.Label, updateIndex)
}

// clearValues makes all values of a vertex null.
func (f *folder) clearValues(v int32, updateIndex uint32) {
	if len(f.g.vertexValues) == 0 {
		return
	}
	now, changed := f.valuesOf(v)
	for i := range now {
		if !now[i].IsNull() {
			now[i], changed[i] = property.Value{}, updateIndex
		}
	}
}

// collectRevised finds in the fold the vertices that are in both graphs with other values.
func (s *staged) collectRevised(g *Graph) {
	f := &g.fold
	s.delta.Absent = f.absent
	if len(f.now) == 0 {
		return
	}
	for i := range f.verts {
		v := &f.verts[i]
		if v.values == none || v.cur == none || !f.incs[v.cur].old {
			continue
		}
		now, changed := f.valuesOf(int32(i))
		at, differs := int64(-1), false
		if birth := f.incs[v.cur].birth; birth != before {
			at = int64(birth >> 1)
		}
		for column := range now {
			was := g.vertexValues[column].get(uint32(v.old))
			if was == now[column] {
				continue
			}
			differs = true
			if g.vertexColumns.All()[column].Type.Kind == property.Labels {
				at = max(at, f.relabelledAt(int32(i), was, now[column]))
			} else {
				at = max(at, int64(changed[column]))
			}
		}
		if differs {
			s.revised = append(s.revised, revision{vertex: v.old, place: uint32(at),
				row: len(s.reviseTo) / len(now)})
			s.reviseTo = append(s.reviseTo, now...)
		}
	}
}

// sortRevised fills in Delta.Revised once all orders are known.
func (s *staged) sortRevised() {
	slices.SortFunc(s.revised, func(a, b revision) int { return cmp.Compare(a.vertex, b.vertex) })
	for i := range s.revised {
		r := &s.revised[i]
		s.delta.Revised = append(s.delta.Revised, Revision{r.vertex, r.old, r.new})
	}
}

// revisedValues returns the new values of a vertex, if the staged batch revises it.
func (s *staged) revisedValues(id VertexID) ([]property.Value, bool) {
	if len(s.revised) == 0 {
		return nil, false
	}
	at, ok := slices.BinarySearchFunc(s.revised, id, func(r revision, id VertexID) int {
		return cmp.Compare(r.vertex, id)
	})
	if !ok {
		return nil, false
	}
	n := len(s.reviseTo) / len(s.revised)
	at = s.revised[at].row * n
	return s.reviseTo[at : at+n], true
}

// giveValues gives a created vertex its values: those that the batch gave it or, where only its label is new, those
// that it had.
func (g *Graph) giveValues(id VertexID, v *foldVertex) {
	switch n := len(g.vertexValues); {
	case n == 0:
	case v.values != none:
		at := int(v.values) * n
		g.setValues(id, g.fold.now[at:at+n])
	case v.old != NoVertex:
		g.setValues(id, valuesAt(g.vertexValues, uint32(v.old)))
	default:
		g.setValues(id, nil) // another vertex had the id
	}
}

// setValues sets all values of a vertex; those behind the end of a shorter slice are null.
func (g *Graph) setValues(id VertexID, values []property.Value) {
	for i := range g.vertexValues {
		var value property.Value
		if i < len(values) {
			value = values[i]
		}
		g.vertexValues[i].put(g.opt.Background, uint32(id), value)
	}
}

// commitRevised gives the revised vertices their new values.
func (g *Graph) commitRevised() {
	for i := range g.staged.revised {
		id := g.staged.revised[i].vertex
		values, _ := g.staged.revisedValues(id)
		g.setValues(id, values)
	}
}

// checkVertexValues refuses values that are not of their columns' types.
func (g *Graph) checkVertexValues(u *Update) error {
	if u.Op == DeleteVertex || len(u.Attr.Values)+len(u.Named) == 0 {
		return nil
	}
	if err := g.vertexColumns.CheckTypes(u.Attr.Values); err != nil {
		return refuse(ReasonProperty, "the vertex has %v", err)
	}
	for _, column := range u.Named {
		if n := len(g.vertexValues); column < 0 || column >= n {
			return refuse(ReasonProperty, "the vertex has a value in column %d; there are %d columns of declared "+
				"properties", column, n)
		}
	}
	return nil
}
