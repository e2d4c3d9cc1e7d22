package codec

import (
	"encoding/hex"
	"fmt"
	"strconv"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
)

// scratch is memory that rows are encoded with.
type scratch struct {
	before []byte // a record up to its index
	after  []byte // a record from its anchor on
	quoted []byte // the row's keys as JSON strings

	vertices [matcher.MaxVertices]mappedVertex
	ends     []mappedVertex // of the edges of a query with WITH, that are no keys
	edges    [matcher.MaxEdges]mappedEdge
	preimage []byte
	byID     bool // ids identify edges

	columns []int            // of the slots of all fields
	values  []property.Value // of the slots of one field
}

// mappedVertex is a data vertex that a pattern vertex is mapped to.
type mappedVertex struct {
	id         dyngraph.VertexID
	key, label string
	start, end int // in scratch.quoted
}

// end returns an end of a mapped edge.
func (s *scratch) end(i int) *mappedVertex {
	if i < len(s.vertices) {
		return &s.vertices[i]
	}
	return &s.ends[i-len(s.vertices)]
}

// mappedEdge is a data edge that a pattern edge is mapped to; its ends are pattern vertices, or those of scratch.ends
// behind all of these.
type mappedEdge struct {
	from, to int
	label    string
	id       string // where it identifies edges
}

// eventWriter encodes the rows of one event.
type eventWriter struct {
	e         *Encoder
	f         *form
	s         *scratch
	ev        *matcher.Event
	q         *matcher.Query // the pattern of the event's rows
	directed  bool
	tombstone bool
	row       []uint32
	columns   *property.Columns // nil where nothing is declared
	vertices  *property.Columns // likewise, of vertices
	several   bool              // a vertex may have several labels
}

// begin encodes what the records of an event share.
func (w *eventWriter) begin() {
	s := w.s
	s.before = append(s.before[:0], w.e.head...)
	s.before = strconv.AppendUint(s.before, w.ev.Batch, 10)
	s.before = append(s.before, `,"index":`...)
	s.after = append(s.after[:0], '}')
	s.after = appendAnchor(s.after, w.ev.Anchor)
	if w.ev.Anchor != nil && w.ev.Anchor.Op.IsExpiry() {
		s.after = append(s.after, `,"reason":"expired"`...)
	}
	if w.ev.LossySince > 0 {
		s.after = strconv.AppendUint(append(s.after, `,"lossy_since":`...), w.ev.LossySince, 10)
	}
	s.after = append(s.after, '}')
	if w.columns = w.ev.View.Graph().Columns(); len(w.columns.All()) == 0 {
		w.columns = nil
	}
	w.several = w.ev.View.Graph().Options().Schema.Several()
	if w.vertices = w.ev.View.Graph().VertexColumns(); len(w.vertices.All()) == 0 {
		w.vertices = nil
	}
	if len(w.q.Fields) > 0 {
		w.fieldColumns()
	}
}

// appendAnchor appends the update that made or broke matches; there may be none.
func appendAnchor(b []byte, a *dyngraph.Update) []byte {
	if a == nil {
		return b
	}
	b = append(b, `,"anchor":{"op":"`...)
	b = append(b, a.Op.String()...)
	if a.Op.IsExpiry() { // it has no place in the input
		return append(appendTS(append(b, '"'), &a.Attr), '}')
	}
	b = append(b, `","partition":`...)
	b = strconv.AppendInt(b, int64(a.Pos.Partition), 10)
	b = append(b, `,"offset":`...)
	b = strconv.AppendInt(b, a.Pos.Offset, 10)
	b = append(b, `,"element":`...)
	b = strconv.AppendInt(b, int64(a.Pos.Element), 10)
	return append(appendTS(b, &a.Attr), '}')
}

func appendTS(b []byte, a *dyngraph.Attr) []byte {
	if !a.HasTS {
		return b
	}
	return strconv.AppendInt(append(b, `,"ts":`...), a.TS, 10)
}

// load resolves a row's ids.
func (w *eventWriter) load(row []uint32) error {
	w.row = row
	return w.s.load(w.q, w.ev.View, w.directed, row)
}

func (s *scratch) load(q *matcher.Query, view dyngraph.View, directed bool, row []uint32) error {
	s.byID = view.Graph().Options().EdgeIDs
	s.ends = s.ends[:0]
	for i := range q.Vertices {
		id := dyngraph.VertexID(row[i])
		v := &s.vertices[i]
		v.id, v.key, v.label = id, view.Key(id), view.LabelName(view.Label(id))
	}
	for i := range q.Edges {
		p := &q.Edges[i]
		index := dyngraph.EdgeIndex(row[len(q.Vertices)+i])
		from, to, label := view.Edge(index)
		e := &s.edges[i]
		switch {
		case q.Groups != nil:
			e.from, e.to = s.keyEnd(q, view, from), s.keyEnd(q, view, to)
		case s.vertices[p.From].id == from && s.vertices[p.To].id == to:
			e.from, e.to = p.From, p.To
		case s.vertices[p.From].id == to && s.vertices[p.To].id == from:
			e.from, e.to = p.To, p.From
		default:
			return fmt.Errorf("pattern edge %q is mapped to an edge whose ends are not those of the match", p.Name)
		}
		if !directed && s.end(e.from).key > s.end(e.to).key {
			e.from, e.to = e.to, e.from
		}
		e.label, e.id = view.LabelName(label), view.ID(index)
	}
	return nil
}

// keyEnd returns where an end of a key edge is: a key, or another vertex.
func (s *scratch) keyEnd(q *matcher.Query, view dyngraph.View, id dyngraph.VertexID) int {
	for i := range q.Vertices {
		if s.vertices[i].id == id {
			return i
		}
	}
	s.ends = append(s.ends, mappedVertex{id: id, key: view.Key(id), label: view.LabelName(view.Label(id))})
	return len(s.vertices) + len(s.ends) - 1
}

// matchID returns the id of the loaded row.
func (w *eventWriter) matchID() [16]byte {
	identity := w.f.identity
	if w.s.byID {
		identity = w.f.identityByID
	}
	return w.s.matchID(identity, len(w.q.Vertices), len(w.q.Edges))
}

// record appends the record of the loaded row; key is where its match id begins.
func (w *eventWriter) record(b []byte, index uint64) (_ []byte, key int) {
	s, f, q := w.s, w.f, w.q
	b = append(b, s.before...)
	b = strconv.AppendUint(b, index, 10)
	b = append(b, f.query...)
	b = append(b, w.ev.Sign.String()...)
	b = append(b, `","match":"`...)
	key = len(b)
	b = appendHex(b, w.matchID())
	b = append(b, '"')
	if w.ev.Snapshot {
		b = append(b, `,"snapshot":true`...)
	}
	s.quoted = s.quoted[:0]
	for i := range q.Vertices {
		v := &s.vertices[i]
		v.start = len(s.quoted)
		s.quoted = appendString(s.quoted, v.key)
		v.end = len(s.quoted)
		if f.vertices[i].open != "" {
			b = append(w.appendVertex(append(b, f.vertices[i].open...), i), '}')
		}
	}
	for i := range s.ends {
		v := &s.ends[i]
		v.start = len(s.quoted)
		s.quoted = appendString(s.quoted, v.key)
		v.end = len(s.quoted)
	}
	if len(q.Vertices) == 0 { // keys may be edges alone
		b = append(b, `,"vertices":{`...)
	}
	for i := range q.Edges {
		if f.edges[i].open != "" {
			b = append(w.appendEdge(append(b, f.edges[i].open...), i), '}')
		}
	}
	if f.paths {
		b = w.appendPaths(b)
	}
	if len(q.Fields) > 0 {
		return append(w.appendFields(append(b, '}')), s.after[1:]...), key
	}
	return append(b, s.after...), key
}

// appendVertex appends what a pattern vertex is mapped to, from its key on. The row's keys are quoted.
func (w *eventWriter) appendVertex(b []byte, i int) []byte {
	v := &w.s.vertices[i]
	b = append(b, w.s.quoted[v.start:v.end]...)
	b = w.f.vertices[i].mapped(b, v.label)
	if w.several {
		b = appendLabels(b, w.ev.View.Labels(v.id))
	}
	if w.vertices == nil {
		return b
	}
	return appendDeclared(b, w.vertices, v.label, func(column int) property.Value {
		return w.ev.View.VertexValue(v.id, column)
	})
}

// appendEdge appends what a pattern edge is mapped to, from its source on.
func (w *eventWriter) appendEdge(b []byte, i int) []byte {
	s := w.s
	e := &s.edges[i]
	from, to := s.end(e.from), s.end(e.to)
	b = append(b, s.quoted[from.start:from.end]...)
	b = append(b, `,"to":`...)
	b = append(b, s.quoted[to.start:to.end]...)
	b = w.f.edges[i].mapped(b, e.label)
	return w.appendValues(b, dyngraph.EdgeIndex(w.row[len(w.q.Vertices)+i]), e.label)
}

// appendValues appends what an edge has beside its ends and its label.
func (w *eventWriter) appendValues(b []byte, index dyngraph.EdgeIndex, label string) []byte {
	a := w.ev.View.AttrOutside(index)
	if a.ID != "" {
		b = appendString(append(b, `,"id":`...), a.ID)
	}
	b = appendTS(b, &a)
	if !w.e.opt.EchoProps {
		a.Props = nil
	}
	return appendProps(b, w.columns, label, func(column int) property.Value {
		return w.ev.View.Value(index, column)
	}, a.Props)
}

func appendHex(b []byte, id [16]byte) []byte { return hex.AppendEncode(b, id[:]) }
