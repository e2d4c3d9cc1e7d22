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
	// ExpireEdge is of no input: it stands for the deletion of an edge that has expired (Graph.SetHorizons).
	ExpireEdge
	ReviseVertex // "=v": sets some declared properties of a vertex that is there
	// ExpireVertex is of no input either: it stands for the removal of a vertex that Graph.ExpireIsolated removes.
	ExpireVertex
)

// OfVertex reports whether the operation is on a vertex, and not on an edge.
func (o Op) OfVertex() bool { return o == InsertVertex || o == DeleteVertex || o == ReviseVertex }

// IsExpiry reports whether the operation is of no input: it stands for what has expired.
func (o Op) IsExpiry() bool { return o == ExpireEdge || o == ExpireVertex }

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
	case ExpireEdge, ExpireVertex:
		return "expire"
	case ReviseVertex:
		return "=v"
	}
	return fmt.Sprintf("Op(%d)", uint8(o))
}

// Position is the place of an update in the input: a Kafka partition and offset (or a file's number and byte offset),
// and the element inside a message that carries an array.
type Position struct {
	Partition int32
	Offset    int64
	Element   int32
}

// Attr are an edge's attributes outside its ends and label. They are echoed in deltas. An edge whose declared values
// change is another version of itself (DESIGN S15); the other attributes ride along.
type Attr struct {
	ID    string // the user's id of the edge; "" when none. With Options.EdgeIDs it is part of the edge's identity
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
	// Label is the edge's label, or the vertex's for an operation on a vertex; "" is no label. InsertVertex declares
	// it, the others take it to agree with the vertex's. Where a vertex may have several labels
	// (property.Schema.SeveralLabels), it is a text of labels (property.JoinLabels): InsertVertex sets all labels,
	// ReviseVertex adds those with + before them and removes those with -, and DeleteVertex ignores them.
	Label string
	// FromLabel and ToLabel declare the labels of an edge's ends; "" declares nothing. Where a vertex may have several
	// labels, they are texts of labels that InsertEdge adds to those of the ends, and that DeleteEdge ignores.
	FromLabel, ToLabel string
	// Attr is the edge's. An operation on a vertex has Values alone, by column of Graph.VertexColumns: InsertVertex
	// sets all that the vertex's label declares.
	Attr Attr
	// Named are the columns that ReviseVertex sets, ascending. The other values stay.
	Named []int
	Pos   Position
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
	// Changed is of a match that is in both graphs and shows another value (DESIGN S24). No net element has it.
	Changed Sign = 0
)

// String returns the sign as records spell it.
func (s Sign) String() string {
	switch {
	case s < 0:
		return "-"
	case s > 0:
		return "+"
	}
	return "~"
}

// Which selects one of the two graphs that a staged batch shows. Without a staged batch they are the same.
type Which uint8

// The two graphs of a staged batch.
const (
	Old Which = iota // G_{n-1}: skips inserted edges
	New              // G_n: skips deleted edges
)
