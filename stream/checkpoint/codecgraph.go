package checkpoint

import (
	"encoding/binary"
	"slices"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
)

// The bits of an attribute value's first byte.
const (
	attrID = 1 << iota
	attrTS
	attrProps
	attrValues // from format 3 on
)

// appendAttr encodes an edge's attributes; an edge without any has an empty value.
func appendAttr(b []byte, a *dyngraph.Attr) []byte {
	var flags byte
	if a.ID != "" {
		flags |= attrID
	}
	if a.HasTS {
		flags |= attrTS
	}
	if len(a.Props) > 0 {
		flags |= attrProps
	}
	values := property.WithoutNulls(a.Values)
	if len(values) > 0 {
		flags |= attrValues
	}
	if flags == 0 {
		return b
	}
	b = append(b, flags)
	if flags&attrID != 0 {
		b = appendString(b, a.ID)
	}
	if flags&attrTS != 0 {
		b = binary.AppendVarint(b, a.TS)
	}
	if flags&attrProps != 0 {
		b = appendString(b, a.Props)
	}
	if flags&attrValues != 0 {
		b = appendValues(b, values)
	}
	return b
}

// appendEdge encodes the value of an edge: its attributes, without the id if that is in the key.
func appendEdge(b []byte, a *dyngraph.Attr, edgeIDs bool) []byte {
	if !edgeIDs {
		return appendAttr(b, a)
	}
	rest := *a
	rest.ID = ""
	return appendAttr(b, &rest)
}

// attr decodes what appendAttr wrote; the value ends where the attributes do.
func (d *decoder) attr() (a dyngraph.Attr) {
	if len(d.b) == 0 {
		return a
	}
	flags := d.byte()
	if flags == 0 || flags&^(attrID|attrTS|attrProps|attrValues) != 0 {
		d.fail()
		return dyngraph.Attr{}
	}
	if flags&attrID != 0 {
		if a.ID = d.string(); a.ID == "" {
			d.fail()
		}
	}
	if flags&attrTS != 0 {
		a.HasTS, a.TS = true, d.varint()
	}
	if flags&attrProps != 0 {
		if a.Props = d.bytes(); a.Props == nil {
			d.fail()
		}
	}
	if flags&attrValues != 0 {
		a.Values = d.values()
	}
	if d.bad {
		return dyngraph.Attr{}
	}
	return a
}

// appendAttrField encodes attributes inside a longer value: length-prefixed.
func appendAttrField(b []byte, a *dyngraph.Attr) []byte {
	if a.ID == "" && !a.HasTS && len(a.Props) == 0 && len(a.Values) == 0 {
		return append(b, 0)
	}
	var buf [64]byte
	return appendString(b, appendAttr(buf[:0], a))
}

func (d *decoder) attrField() dyngraph.Attr {
	f := decoder{b: d.raw()}
	a := f.attr()
	if f.bad || len(f.b) != 0 {
		d.fail()
		return dyngraph.Attr{}
	}
	return a
}

// hasValues and implied, added to a vertex's label, tell that declared values follow, and that the vertex came into
// being with an edge and that no +v declared it.
const (
	hasValues = 1 << 32
	implied   = 1 << 33
)

// appendLabelled encodes the label of a vertex, and its declared values if it has any.
func appendLabelled(b []byte, v *dyngraph.VertexRecord) []byte {
	n := uint64(v.Label)
	if v.Implied {
		n |= implied
	}
	values := property.WithoutNulls(v.Values)
	if len(values) == 0 {
		return binary.AppendUvarint(b, n)
	}
	return appendValues(binary.AppendUvarint(b, n|hasValues), values)
}

func (d *decoder) labelled(v *dyngraph.VertexRecord) {
	n := d.uvarint()
	if n >= 2*implied {
		d.fail()
	}
	v.Implied = n&implied != 0
	if n&hasValues != 0 {
		v.Values = d.values()
	}
	v.Label = dyngraph.LabelID(n % hasValues)
}

// appendVertex encodes a dictionary value: label and values, then the key to the end.
func appendVertex(b []byte, v *dyngraph.VertexRecord) []byte {
	return append(appendLabelled(b, v), v.Key...)
}

func decodeVertex(id uint32, value []byte) (dyngraph.VertexRecord, bool) {
	d := decoder{b: value}
	v := dyngraph.VertexRecord{ID: dyngraph.VertexID(id)}
	d.labelled(&v)
	v.Key = string(d.b)
	return v, !d.bad && v.Key != ""
}

func appendIDs(b []byte, ids []dyngraph.VertexID) []byte {
	b = binary.AppendUvarint(b, uint64(len(ids)))
	for _, id := range ids {
		b = binary.AppendUvarint(b, uint64(id))
	}
	return b
}

func (d *decoder) ids() []dyngraph.VertexID {
	n := d.count(1)
	if n == 0 {
		return nil
	}
	ids := make([]dyngraph.VertexID, n)
	for i := range ids {
		ids[i] = dyngraph.VertexID(d.uint32())
	}
	return ids
}

func appendVertices(b []byte, vs []dyngraph.VertexRecord) []byte {
	b = binary.AppendUvarint(b, uint64(len(vs)))
	for i := range vs {
		b = binary.AppendUvarint(b, uint64(vs[i].ID))
		b = appendLabelled(b, &vs[i])
		b = appendString(b, vs[i].Key)
	}
	return b
}

func (d *decoder) vertices() []dyngraph.VertexRecord {
	n := d.count(3)
	if n == 0 {
		return nil
	}
	vs := make([]dyngraph.VertexRecord, n)
	for i := range vs {
		v := &vs[i]
		v.ID = dyngraph.VertexID(d.uint32())
		d.labelled(v)
		v.Key = d.string()
	}
	return vs
}

func appendEdges(b []byte, es []dyngraph.EdgeRecord, renewed bool) []byte {
	b = binary.AppendUvarint(b, uint64(len(es)))
	for i := range es {
		e := &es[i]
		b = binary.AppendUvarint(b, uint64(e.From))
		b = binary.AppendUvarint(b, uint64(e.Label))
		b = binary.AppendUvarint(b, uint64(e.To))
		b = appendAttrField(b, &e.Attr)
		if renewed {
			b = appendAttrField(b, &e.Previous)
		}
	}
	return b
}

func (d *decoder) edges(renewed bool) []dyngraph.EdgeRecord {
	least := 4
	if renewed {
		least = 5
	}
	n := d.count(least)
	if n == 0 {
		return nil
	}
	es := make([]dyngraph.EdgeRecord, n)
	for i := range es {
		e := &es[i]
		e.From, e.Label, e.To = dyngraph.VertexID(d.uint32()), dyngraph.LabelID(d.uint32()),
			dyngraph.VertexID(d.uint32())
		e.Attr = d.attrField()
		if renewed {
			e.Previous = d.attrField()
		}
	}
	return es
}

// appendEffect encodes an effect. A revised vertex is at the end of the freed ones with its values before, and at the
// end of the created ones with those after: no other id is in both lists.
func appendEffect(b []byte, e *dyngraph.Effect) []byte {
	b = binary.AppendUvarint(b, uint64(e.LabelsBefore))
	b = binary.AppendUvarint(b, uint64(len(e.NewLabels)))
	for _, l := range e.NewLabels {
		b = appendString(b, l)
	}
	created, freed := e.Created, e.Freed
	if len(e.Revised) > 0 {
		created, freed = slices.Clone(created), slices.Clone(freed)
		for _, v := range e.Revised {
			v.Values, v.Previous = v.Previous, nil
			freed = append(freed, v)
		}
		created = append(created, e.Revised...)
	}
	b = appendVertices(b, created)
	b = appendVertices(b, freed)
	b = appendIDs(b, e.Released)
	b = appendEdges(b, e.Inserted, false)
	b = appendEdges(b, e.Deleted, false)
	return appendEdges(b, e.Renewed, true)
}

// splitRevised finds the revised vertices at the ends of the created and the freed ones.
func (d *decoder) splitRevised(e *dyngraph.Effect) {
	n, c, f := 0, len(e.Created), len(e.Freed)
	for n < min(c, f) && e.Created[c-n-1].ID == e.Freed[f-n-1].ID {
		n++
	}
	if n == 0 {
		return
	}
	e.Revised = e.Created[c-n:]
	for i := range e.Revised {
		v, was := &e.Revised[i], &e.Freed[f-n+i]
		if v.Key != was.Key || v.Label != was.Label {
			d.fail()
		}
		v.Previous = was.Values
	}
	e.Created, e.Freed = slices.Clip(e.Created[:c-n]), e.Freed[:f-n]
	if c == n {
		e.Created = nil
	}
	if f == n {
		e.Freed = nil
	}
}

func (d *decoder) effect() (e dyngraph.Effect) {
	e.LabelsBefore = d.int()
	if n := d.count(1); n > 0 {
		e.NewLabels = make([]string, n)
		for i := range e.NewLabels {
			e.NewLabels[i] = d.string()
		}
	}
	e.Created = d.vertices()
	e.Freed = d.vertices()
	d.splitRevised(&e)
	e.Released = d.ids()
	e.Inserted = d.edges(false)
	e.Deleted = d.edges(false)
	e.Renewed = d.edges(true)
	return e
}
