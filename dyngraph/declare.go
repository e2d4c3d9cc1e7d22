package dyngraph

import (
	"slices"

	"motifd/dyngraph/property"
)

// The declared properties may change between two batches (DESIGN S23). Values are stored by column, and a column keeps
// its place (property.Schema.Redeclared), so that plans and stored values need no translation. Stored values are
// converted to the new declarations step by step, in batches of bounded size. A value that is no longer declared goes
// back to an edge's undeclared properties. An undeclared property becomes a value if it is exactly of the declared
// type. None of this is a net event: no query reads what changes.

// Declaration is a step of a change of the declared properties. Schema is valid from the step on. The step converts the
// vertices [From, To), and the edges that are listed under them.
type Declaration struct {
	Schema *property.Schema `json:"schema"`
	From   VertexID         `json:"from"`
	To     VertexID         `json:"to"` // NoVertex: up to the last one
}

// Last reports whether no vertex and no edge is left for another step.
func (d *Declaration) Last() bool { return d.To == NoVertex }

// declared is a staged Declaration.
type declared struct {
	schema          *property.Schema // nil: none is staged
	edges, vertices *property.Columns
	renewed         []EdgeIndex
	attrs           []Attr // of the renewed ones
	revised         []VertexRecord
}

// PlanDeclaration returns the step of a change to the schema that begins at a vertex and changes about most elements:
// those of one vertex go together.
func (g *Graph) PlanDeclaration(schema *property.Schema, from VertexID, most int) *Declaration {
	x := &declared{schema: schema, edges: schema.EdgeColumns(), vertices: schema.VertexColumns()}
	n := 0
	for id := from; uint32(id) < g.bound; id++ {
		g.redeclare(x, id, func(*VertexRecord) { n++ }, func(EdgeIndex, Attr) { n++ })
		if n >= most && uint32(id)+1 < g.bound {
			return &Declaration{Schema: schema, From: from, To: id + 1}
		}
	}
	return &Declaration{Schema: schema, From: from, To: NoVertex}
}

// StageDeclaration stages a batch without updates that is a step of a change of the declared properties.
func (g *Graph) StageDeclaration(d *Declaration) (*Delta, error) {
	if err := d.Schema.Extends(g.opt.Schema); err != nil {
		return nil, err
	}
	delta, err := g.Stage(nil)
	if err != nil {
		return nil, err
	}
	x := &g.staged.declared
	*x = declared{schema: d.Schema, edges: d.Schema.EdgeColumns(), vertices: d.Schema.VertexColumns()}
	for id := d.From; id < d.To && uint32(id) < g.bound; id++ {
		g.redeclare(x, id, func(v *VertexRecord) {
			x.revised = append(x.revised, *v)
			if v.Implied && !hasValue(v.Values) { // as it had values it was kept, and stays
				delta.Declared = append(delta.Declared, v.ID)
			}
		}, func(e EdgeIndex, a Attr) {
			x.renewed, x.attrs = append(x.renewed, e), append(x.attrs, a)
		})
	}
	return delta, nil
}

// redeclare calls vertex and edge with the vertex, and those of the edges listed under it, that the declarations
// change.
func (g *Graph) redeclare(x *declared, id VertexID, vertex func(*VertexRecord), edge func(EdgeIndex, Attr)) {
	if g.vstate[id] != inBoth {
		return
	}
	if v := g.vertexRecord(id); v.Values != nil {
		if now, ok := x.vertexValues(g.labels.names[v.Label], v.Values); ok {
			v.Previous, v.Values = v.Values, now
			vertex(&v)
		}
	}
	r := g.RangeAll(id, Out)
	for nbr, ent, ok := r.Next(); ok; nbr, ent, ok = r.Next() {
		for i, entry := range ent {
			if !g.opt.Directed && nbr[i] < id {
				continue // listed under its lower end
			}
			e := entry.Index()
			was := g.attr.get(e)
			if now, ok := x.attr(g.labels.names[g.adj.edges[e].label], was); ok {
				edge(e, now)
			}
		}
	}
}

// vertexValues returns the values of a vertex by the new declarations, and whether they differ. A value whose property
// has another type now is kept if it is exactly of that type. One that is not declared any more is lost: vertices have
// no undeclared properties.
func (x *declared) vertexValues(label string, values []property.Value) ([]property.Value, bool) {
	under := x.vertices.Under(label)
	now := make([]property.Value, len(x.vertices.All()))
	copy(now, values)
	changed := false
	for column, v := range values {
		if v.IsNull() || under.Has(column) || v.Type().Kind == property.Labels {
			continue
		}
		now[column], changed = property.Value{}, true
		name := x.vertices.All()[column].Name
		_, taken, moved := x.vertices.TakeDeclared(label, property.AppendMember(nil, name, v), nil)
		if to, _ := x.vertices.Of(label, name); moved && now[to].IsNull() {
			now[to] = taken[to]
		}
	}
	return property.WithoutNulls(now), changed
}

// attr returns the attributes of an edge by the new declarations, and whether they differ.
func (x *declared) attr(label string, a Attr) (Attr, bool) {
	under := x.edges.Under(label)
	changed := false
	for column, v := range a.Values {
		if v.IsNull() || under.Has(column) {
			continue
		}
		if !changed {
			a.Values, a.Props, changed = slices.Clone(a.Values), slices.Clone(a.Props), true
		}
		a.Values[column] = property.Value{}
		a.Props = property.AppendMember(a.Props, x.edges.All()[column].Name, v)
	}
	props, values, moved := x.edges.TakeDeclared(label, a.Props, a.Values)
	if moved {
		a.Props, a.Values = props, values
	}
	return a.normal(), changed || moved
}

// addTo adds the changes by a staged declaration to the effect of the batch.
func (x *declared) addTo(r *Effect, g *Graph) {
	for i, e := range x.renewed {
		rec := g.edgeRecord(e)
		rec.Attr, rec.Previous = x.attrs[i], rec.Attr
		r.Renewed = append(r.Renewed, rec)
	}
	slices.SortFunc(r.Renewed, compareRecords)
	for _, rec := range x.revised {
		rec.Implied = rec.Implied && hasValue(rec.Values)
		r.Revised = append(r.Revised, rec)
	}
}

// commitDeclared gives the graph the staged declarations, and the converted vertices and edges their values.
func (g *Graph) commitDeclared() {
	x := &g.staged.declared
	if x.schema == nil {
		return
	}
	g.opt.Schema, g.columns, g.vertexColumns = x.schema, x.edges, x.vertices
	g.attr.columns = append(g.attr.columns, newColumns(x.edges.All()[len(g.attr.columns):])...)
	g.vertexValues = append(g.vertexValues, newColumns(x.vertices.All()[len(g.vertexValues):])...)
	for i, e := range x.renewed {
		g.attr.set(e, &x.attrs[i])
	}
	for i := range x.revised {
		g.setValues(x.revised[i].ID, x.revised[i].Values)
	}
}
