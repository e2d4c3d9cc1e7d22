package checkpoint

import (
	"encoding/binary"

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

// appendVertex encodes a dictionary value: label, then the key to the end.
func appendVertex(b []byte, v *dyngraph.VertexRecord) []byte {
	return append(binary.AppendUvarint(b, uint64(v.Label)), v.Key...)
}

func decodeVertex(id uint32, value []byte) (dyngraph.VertexRecord, bool) {
	d := decoder{b: value}
	v := dyngraph.VertexRecord{ID: dyngraph.VertexID(id), Label: dyngraph.LabelID(d.uint32())}
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
		b = binary.AppendUvarint(b, uint64(vs[i].Label))
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
		vs[i] = dyngraph.VertexRecord{
			ID: dyngraph.VertexID(d.uint32()), Label: dyngraph.LabelID(d.uint32()), Key: d.string(),
		}
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

func appendEffect(b []byte, e *dyngraph.Effect) []byte {
	b = binary.AppendUvarint(b, uint64(e.LabelsBefore))
	b = binary.AppendUvarint(b, uint64(len(e.NewLabels)))
	for _, l := range e.NewLabels {
		b = appendString(b, l)
	}
	b = appendVertices(b, e.Created)
	b = appendVertices(b, e.Freed)
	b = appendIDs(b, e.Released)
	b = appendEdges(b, e.Inserted, false)
	b = appendEdges(b, e.Deleted, false)
	return appendEdges(b, e.Renewed, true)
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
	e.Released = d.ids()
	e.Inserted = d.edges(false)
	e.Deleted = d.edges(false)
	e.Renewed = d.edges(true)
	return e
}
