package dyngraph

import (
	"cmp"
	"slices"

	"motifd/dyngraph/property"
)

// NetEdge is one edge that a batch really inserted or deleted, or one of the two versions of an edge that it replaced,
// or of a vertex that it revised; with Graph.ListVertices also a vertex that it inserted or deleted.
type NetEdge struct {
	Sign     Sign
	Replaced bool // the edge is in both graphs, with other declared values; see Delta.Replaced
	Vertex   bool // no edge but the vertex From, which is To as well; Edge is NoEdge
	Revised  bool // the vertex is in both graphs, with other declared values or labels; see Delta.Revised
	Edge     EdgeIndex
	From, To VertexID // in an undirected graph From < To
	Label    LabelID
	Labels   [2]LabelID // of From and To, if it is an edge
	// UpdateIndex is the index, in the batch's accepted updates, of the last operation that changed the edge's
	// presence, or, if the edge is replaced or the vertex revised, that changed its presence or a declared value that
	// differs in the end; AtExpiry if the edge has expired, AtIsolation if the vertex was removed for it has no edges.
	UpdateIndex uint32
}

// Expired reports whether no update has deleted the edge or the vertex: it has expired.
func (n *NetEdge) Expired() bool { return n.UpdateIndex == AtExpiry || n.UpdateIndex == AtIsolation }

// Revision is a vertex in both graphs whose declared values differ, with the orders of its two versions in Delta.Net.
type Revision struct {
	Vertex   VertexID
	Old, New uint32
}

// Delta is the net effect of a staged batch. It is owned by the Graph and valid until Commit or Abort.
type Delta struct {
	// Net holds the net edges and the versions of revised vertices in the total order of DESIGN S16; an element's order
	// is its index here.
	Net []NetEdge
	// Replaced counts the edges that are in both graphs and whose declared values differ (DESIGN S15). Such an edge
	// keeps its index and its adjacency entries, and nothing structural knows of it. It is in Net twice, one behind the
	// other: its old version as deleted, its new version as inserted. It is in Renewed, too.
	Replaced int
	// Expired counts the edges that have expired. They are the first ones in Net, by age, the oldest first.
	Expired int
	// Late counts the updates that had no effect, as they would have given an edge a time before its label's horizon.
	Late int
	// Revised holds, ascending, the vertices that are in both graphs and whose declared values differ, or their labels
	// where there may be several (DESIGN S16).
	// Each is in Net twice: its old version with the sign Deleted, behind the edges of its place, and its new version
	// with the sign Inserted, before them. Nothing structural knows of it.
	Revised []Revision
	// Listed counts the inserted and deleted vertices in Net. At its place, a deleted one comes behind the deleted
	// edges and before revised vertices; an inserted one is among the revised ones by id, before the inserted edges.
	// Isolated counts those that were removed for they have no edges: they are the last ones in Net.
	Listed, Isolated int
	// Absent counts the operations =v on vertices that were not there: they have no effect.
	Absent int
	// Touched holds, ascending and once each, the ends of the inserted and deleted edges and the created and freed
	// vertices. What is replaced or revised touches no vertex.
	Touched []VertexID
	// Created and Freed are the vertices that the batch brought into being and took away. A freed id keeps its key
	// and label readable until the id is re-used.
	Created, Freed []VertexID
	// Declared are vertices in both graphs that were implied until a +v declared them; see ExpireIsolated.
	Declared []VertexID
	// Renewed lists edges that are in both graphs and whose attributes the batch renewed, the replaced ones included.
	Renewed []EdgeIndex
	// NewParallel reports that a label has parallel edges since this batch; see HasParallel.
	NewParallel bool
	// Unnamed counts the updates that delete the edge without id where there is none, between ends whose edges of the
	// label have ids: they had no effect.
	Unnamed int
	// NewTriples reports that the batch brought a (source label, edge label, target label) combination that no edge
	// of the old graph has, or a label that the table did not have: plans that resolved labels against the statistics
	// must be made again.
	NewTriples bool
}

// Inserted counts the net edges with sign Inserted.
func (d *Delta) Inserted() int { return d.count(Inserted) }

// Deleted counts the net edges with sign Deleted.
func (d *Delta) Deleted() int { return d.count(Deleted) }

func (d *Delta) count(sign Sign) (n int) {
	for i := range d.Net {
		if d.Net[i].Sign == sign && !d.Net[i].Vertex {
			n++
		}
	}
	return n
}

// RevisionOf returns the revision of a vertex, if the batch revises it.
func (d *Delta) RevisionOf(v VertexID) (r Revision, ok bool) {
	if len(d.Revised) == 0 {
		return r, false
	}
	at, ok := slices.BinarySearchFunc(d.Revised, v, func(r Revision, v VertexID) int {
		return cmp.Compare(r.Vertex, v)
	})
	if ok {
		r = d.Revised[at]
	}
	return r, ok
}

// VertexRecord is a vertex as the checkpoint keeps it.
type VertexRecord struct {
	ID       VertexID
	Key      string
	Label    LabelID
	Values   []property.Value // of the declared properties and labels, by column, without nulls at the end
	Previous []property.Value // before the batch; set in Effect.Revised only
	// Implied tells that it came into being with an edge, and that no +v has declared it; see ExpireIsolated.
	Implied bool
}

// EdgeRecord is an edge as the checkpoint keeps it: once, under its source (in an undirected graph its lower id).
type EdgeRecord struct {
	From     VertexID
	Label    LabelID
	To       VertexID
	Attr     Attr
	Previous Attr // attributes before the batch; set in Effect.Renewed only
}

// Effect is everything that a batch changed, with before-images, in terms that survive the process: what the
// checkpoint writes on commit and what it needs to undo the batch again (DESIGN P2: the batch log's base is the
// present less the logged effects). It shares no memory with the Graph but immutable strings and bytes.
type Effect struct {
	LabelsBefore int      // length of the label table before the batch, NoLabel included
	NewLabels    []string // appended by the batch, in id order
	Created      []VertexRecord
	Freed        []VertexRecord
	Declared     []VertexRecord // as they were: implied, until a +v declared them
	Released     []VertexID     // freed by batch n-2, free for re-use from this batch on
	Inserted     []EdgeRecord
	Deleted      []EdgeRecord
	Renewed      []EdgeRecord
	Revised      []VertexRecord // ascending by id
}
