package matcher

import (
	"motifd/dyngraph"
)

// Batch is what the Engine steps over: accepted updates, or one query change and no updates (DESIGN S8). The batch
// log holds it as it was cut, so that a replay does the same.
type Batch struct {
	Number  uint64 // 1, 2, ...
	Updates []dyngraph.Update
	Change  *QueryChange
	// Suspensions are decided while the batch is searched for the first time and obeyed ever after (DESIGN S11).
	Suspensions []Suspension
	// Replayed batches come from the batch log: work budgets are not measured, only the suspensions obeyed.
	Replayed bool
}

// QueryChange registers or removes a query.
type QueryChange struct {
	// Add is the query to register, with its version; nil removes.
	Add *Query `json:"add,omitempty"`
	// Remove names the query to remove; with Add it is the same name and its version is replaced.
	Remove string `json:"remove,omitempty"`
	// Retract emits a negative for every match of what is removed: the tombstones of upsert mode.
	Retract bool `json:"retract,omitempty"`
}

// Suspension stops a query within a batch: nothing of the group (sign, order) nor of a later group of the query is
// published, and the query stays suspended until a new version is registered.
type Suspension struct {
	Query   string        `json:"query"`
	Version uint64        `json:"version"`
	Sign    dyngraph.Sign `json:"sign"`
	Order   uint32        `json:"order"` // order of the anchor (A2); 0 for counts and exists
}

// EventKind tells what an Event carries.
type EventKind uint8

// The kinds of events.
const (
	EventMatches EventKind = iota // Rows
	EventCount                    // Count
	EventExists                   // nothing more: the sign is the transition
)

// Event is a run of results of one query, sign and anchor, handed to the emit callback in canonical order (DESIGN
// S7). It and its Rows are borrowed until the callback returns; a copy without rows, and all that it refers to, may be used until the
// callback of Step named settle returns. Any number of goroutines may read them.
type Event struct {
	Kind     EventKind
	Query    *Query
	Sign     dyngraph.Sign
	Snapshot bool // a result of registration: it has no anchor
	// Anchor is the update that completed or broke the matches (DESIGN A2); nil for snapshots, counts and exists.
	Anchor *dyngraph.Update
	// AnchorEdge is the net edge of the anchor; nil when Anchor is.
	AnchorEdge *dyngraph.NetEdge
	// FirstIndex is the index, within the batch, of the event's first record; an event of matches has Rows.Len()
	// records, any other one.
	FirstIndex uint64
	Rows       Rows
	Count      Count
	// View resolves ids: the old graph for negatives, the new one for positives and snapshots.
	View dyngraph.View
}

// Records returns how many output records the event stands for.
func (e *Event) Records() int {
	if e.Kind == EventMatches {
		return e.Rows.Len()
	}
	return 1
}

// Rows are matches in columns of one flat slice: row i holds the vertex ids in pattern order, then the edge indexes
// in pattern order.
type Rows struct {
	Vertices, Edges int // columns of either kind
	Data            []uint32
}

// Len returns the number of rows.
func (r Rows) Len() int {
	if r.Vertices == 0 {
		return 0
	}
	return len(r.Data) / (r.Vertices + r.Edges)
}

// Row returns row i: vertices, then edges.
func (r Rows) Row(i int) []uint32 {
	n := r.Vertices + r.Edges
	return r.Data[i*n : (i+1)*n : (i+1)*n]
}

// Vertex returns the data vertex that pattern vertex v maps to in row i.
func (r Rows) Vertex(i, v int) dyngraph.VertexID {
	return dyngraph.VertexID(r.Data[i*(r.Vertices+r.Edges)+v])
}

// Edge returns the data edge that pattern edge e maps to in row i.
func (r Rows) Edge(i, e int) dyngraph.EdgeIndex {
	return dyngraph.EdgeIndex(r.Data[i*(r.Vertices+r.Edges)+r.Vertices+e])
}

// Slice returns rows i to j.
func (r Rows) Slice(i, j int) Rows {
	n := r.Vertices + r.Edges
	return Rows{r.Vertices, r.Edges, r.Data[i*n : j*n]}
}

// QuerySummary is what a batch did to one query.
type QuerySummary struct {
	Query     *Query
	Positive  Count // matches found; with a cap and no exact total, those emitted
	Negative  Count
	Truncated bool // a cap was reached on either sign (DESIGN S11)
	Suspended *Suspension
	Snapshot  bool   // Positive and Negative are from registration or removal
	Emitted   uint64 // records emitted
	SearchNS  int64  // nanoseconds of search, summed over threads, when the backend was given a clock
	Steps     uint64 // search steps: candidates tried
}

// Summary is what Step did.
type Summary struct {
	Number  uint64
	Records uint64 // records emitted
	Queries []QuerySummary
	// Effect is what changed in the graph, for the checkpoint.
	Effect dyngraph.Effect
	// NetInserted and NetDeleted count the net edges; Updates the accepted updates.
	NetInserted, NetDeleted, Updates int
}

// QueryState is a query as the Engine knows it and the checkpoint keeps it.
type QueryState struct {
	Query *Query `json:"query"`
	// Suspended queries exceeded their work budget and are not searched (DESIGN S11).
	Suspended bool `json:"suspended,omitempty"`
	// Removed queries are kept so that a query registered again under the same name gets a new version: match ids
	// never return (DESIGN S6). Query has only its Name and Version then.
	Removed bool `json:"removed,omitempty"`
}
