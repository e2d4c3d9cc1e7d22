package dyngraph

// NetEdge is one edge that a batch really inserted or deleted, or one of the two versions of an edge that it replaced.
type NetEdge struct {
	Sign     Sign
	Replaced bool // the edge is in both graphs, with other declared values; see Delta.Replaced
	Edge     EdgeIndex
	From, To VertexID // in an undirected graph From < To
	Label    LabelID
	// UpdateIndex is the index, in the batch's accepted updates, of the last operation that changed the edge's
	// presence, or, if the edge is replaced, that changed its presence or a declared value that differs in the end.
	UpdateIndex uint32
}

// Delta is the net effect of a staged batch. It is owned by the Graph and valid until Commit or Abort.
type Delta struct {
	// Net holds the net edges in the total order of DESIGN S3; an edge's order is its index here.
	Net []NetEdge
	// Replaced counts the edges that are in both graphs and whose declared values differ (DESIGN S15). Such an edge
	// keeps its index and its adjacency entries, and nothing structural knows of it. It is in Net twice, one behind the
	// other: its old version as deleted, its new version as inserted. It is in Renewed, too.
	Replaced int
	// Touched holds, ascending and once each, the ends of the inserted and deleted edges and the created and freed
	// vertices. What is replaced touches no vertex.
	Touched []VertexID
	// Created and Freed are the vertices that the batch brought into being and took away. A freed id keeps its key
	// and label readable until the id is re-used.
	Created, Freed []VertexID
	// Renewed lists edges that are in both graphs and whose attributes the batch renewed, the replaced ones included.
	Renewed []EdgeIndex
	// NewTriples reports that the batch brought a (source label, edge label, target label) combination that no edge
	// of the old graph has, or a label that the table did not have: plans that resolved labels against the statistics
	// must be made again.
	NewTriples bool
}

// Inserted counts the net edges with sign Inserted.
func (d *Delta) Inserted() int {
	n := 0
	for i := range d.Net {
		if d.Net[i].Sign == Inserted {
			n++
		}
	}
	return n
}

// Deleted counts the net edges with sign Deleted.
func (d *Delta) Deleted() int { return len(d.Net) - d.Inserted() }

// VertexRecord is a vertex as the checkpoint keeps it.
type VertexRecord struct {
	ID    VertexID
	Key   string
	Label LabelID
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
	Released     []VertexID // freed by batch n-2, free for re-use from this batch on
	Inserted     []EdgeRecord
	Deleted      []EdgeRecord
	Renewed      []EdgeRecord
}
