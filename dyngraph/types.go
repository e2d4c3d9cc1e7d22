package dyngraph

import (
	"fmt"

	"motifd/dyngraph/property"
)

// VertexID is the dense id of a vertex. Ids are re-used after deletion (see the package comment).
type VertexID uint32

// NoVertex is no vertex's id.
const NoVertex = ^VertexID(0)

// LabelID is the dense id of an interned label; vertex and edge labels share one table. Ids are never freed.
type LabelID uint32

// NoLabel is the label of a vertex or edge that has none. The empty string is interned as NoLabel.
const NoLabel LabelID = 0

// EdgeIndex names a live edge inside the graph: a row in the edge table and in the property columns. It is an
// internal name: two runs over the same batch log may number edges differently, so no output may depend on it.
type EdgeIndex uint32

// NoEdge is no edge's index. Indexes use 31 bits: the top bit of an Entry marks staged edges.
const NoEdge = EdgeIndex(1<<31 - 1)

// Dir is the side from which an adjacency entry is seen. Undirected graphs use Out only, under both ends.
type Dir uint8

// The directions of an adjacency entry, in sort order.
const (
	Out Dir = 0 // the vertex is the edge's source
	In  Dir = 1 // the vertex is the edge's target
)

// Op is the operation of one update.
type Op uint8

// The operations; their input spellings are in the comments.
const (
	InsertEdge   Op = iota + 1 // "+"
	DeleteEdge                 // "-"
	InsertVertex               // "+v": declares a vertex with a label (or none)
	DeleteVertex               // "-v": deletes a vertex and its edges
)

// String returns the operation as it is spelt in JSON updates.
func (o Op) String() string {
	switch o {
	case InsertEdge:
		return "+"
	case DeleteEdge:
		return "-"
	case InsertVertex:
		return "+v"
	case DeleteVertex:
		return "-v"
	}
	return fmt.Sprintf("Op(%d)", uint8(o))
}

// Position is where an update stood in the input: a Kafka partition and offset (or a file's number and byte
// offset), and the element inside a message that carries an array.
type Position struct {
	Partition int32
	Offset    int64
	Element   int32
}

// Attr are an edge's attributes outside its identity. They are echoed in deltas. An edge whose declared values change
// is another version of itself (DESIGN S15); the other attributes ride along.
type Attr struct {
	ID    string // the user's id of the edge; "" when none
	TS    int64  // milliseconds since the epoch; meaningful when HasTS
	HasTS bool
	Props []byte // a compact JSON object, or nil; immutable once handed over
	// Values are those of the declared properties, by column (Graph.Columns). The rest of a shorter slice is null.
	// Immutable once handed over.
	Values []property.Value
}

// Value returns the value in a column, or null; property.TS stands for the time.
func (a *Attr) Value(column int) property.Value {
	switch {
	case column == property.TS && a.HasTS:
		return property.Time(a.TS)
	case column >= 0 && column < len(a.Values):
		return a.Values[column]
	}
	return property.Value{}
}

// Update is one operation on the graph, decoded and not yet accepted. The strings are owned by the update.
type Update struct {
	Op Op
	// From and To are the external keys of an edge's ends; vertex operations use Key.
	From, To, Key string
	// Label is the edge's label, or the vertex's for InsertVertex; "" is no label.
	Label string
	// FromLabel and ToLabel declare the labels of an edge's ends; "" declares nothing.
	FromLabel, ToLabel string
	Attr               Attr
	Pos                Position
}

// Message is a run of updates that is accepted or refused as one (DESIGN S3, S10): an input record.
type Message struct {
	Updates []Update
}

// Reject says why a message was refused.
type Reject struct {
	Message int   // index into the messages given to Accept
	Update  int   // index of the offending update inside the message
	Err     error // an *UpdateError
}

// Sign says whether an edge or a match appears or disappears.
type Sign int8

// The signs. Deleted sorts before inserted, as negatives come before positives (DESIGN S7).
const (
	Deleted  Sign = -1
	Inserted Sign = 1
)

// Which selects one of the two graphs that a staged batch shows. Without a staged batch they are the same.
type Which uint8

// The two graphs of a staged batch.
const (
	Old Which = iota // G_{n-1}: skips inserted edges
	New              // G_n: skips deleted edges
)
