package matcher

import (
	"motifd/dyngraph"
)

// Batch is the input of one step of the Engine: accepted updates, or one query change and no updates (DESIGN S8). The
// batch log holds it as it was cut, so that a replay does the same.
type Batch struct {
	Number  uint64 // 1, 2, ...
	Updates []dyngraph.Update
	Change  *QueryChange
	// Declaration is a step of a change of the declared properties: a batch without updates and Change.
	Declaration *dyngraph.Declaration
	// Horizons say which edges of the old graph expire, before the updates (DESIGN S20). A query change leaves those of
	// the batch before as they are.
	Horizons []dyngraph.Horizon
	// Isolated removes vertices without edges that no +v declared, after all else (dyngraph.Graph.ExpireIsolated).
	Isolated bool
	// Decisions are made while the batch is searched for the first time, and obeyed ever after (DESIGN S11).
	Decisions []Decision
	// MeasureFrom is the index of the first record from which limits are measured: 0 for a new batch; for one whose
	// intent was open at start, what is published already; NeverMeasure for a replay of the batch log.
	MeasureFrom uint64
}

// NeverMeasure as Batch.MeasureFrom has decisions obeyed and none made.
const NeverMeasure = ^uint64(0)

// QueryChange registers or removes a query.
type QueryChange struct {
	// Add is the query to register, with its version; nil removes.
	Add *Query `json:"add,omitempty"`
	// Remove names the query to remove; with Add it is the same name and its version is replaced.
	Remove string `json:"remove,omitempty"`
	// Retract emits a negative for every match of what is removed: the tombstones of upsert mode.
	Retract bool `json:"retract,omitempty"`
}

// Action is the effect of a Decision.
type Action uint8

// The actions.
const (
	// Suspend: nothing of the group but Decision.Kept, nor of a later one of the query, is published. The query stays
	// suspended until a new version is registered.
	Suspend Action = iota
	// Skip leaves out the group alone, but for Decision.Kept.
	Skip
	// SkipRest leaves out the group and all later ones of the query and sign in the batch.
	SkipRest
	// NoTotal: the exact total of the query and sign is not known. Records are not concerned.
	NoTotal
)

var actions = [...]string{"suspend", "skip", "skip_rest", "no_total"}

// String returns the action as `checkpoint info` shows it.
func (a Action) String() string {
	if int(a) < len(actions) {
		return actions[a]
	}
	return "unknown"
}

// Decision records what the engine left out of a batch because of a limit (DESIGN S11). It is durable before anything
// that it concerns is published.
type Decision struct {
	Query   string
	Version uint64
	Sign    dyngraph.Sign
	// Order is the anchor's; 0 for counts, exists and snapshots. AllOrders is behind all records of the batch: a
	// suspension that leaves nothing out of it.
	Order    uint32
	Action   Action
	Cause    Cause
	Snapshot bool // it concerns what a registration or a removal emits
	// Kept is the number of a snapshot's records that were emitted before or, for a group that is cut in the middle,
	// the number of its matches that were handed on.
	Kept uint64
}

// EventKind tells what an Event carries.
type EventKind uint8

// The kinds of events.
const (
	EventMatches EventKind = iota // Rows
	EventCount                    // Count
	EventExists                   // nothing more: the sign is the transition
	EventNotice                   // Notice: what was left out
)

// Reason says what a notice is about (DESIGN S11).
type Reason string

// The reasons.
const (
	// ReasonSuspended: the query puts out nothing more until it is resumed.
	ReasonSuspended Reason = "suspended"
	// ReasonSkipped: matches that appeared, or changes of matches, were left out; those of one anchor, or with Rest of
	// all later ones.
	ReasonSkipped Reason = "skipped"
	// ReasonEnded: matches that disappeared were left out; every announced match that holds the anchor's edge is void,
	// or without an anchor every announced match of the version.
	ReasonEnded Reason = "ended"
	// ReasonTruncated: the cap on positives was reached, and there are more.
	ReasonTruncated Reason = "truncated"
)

// Notice tells consumers in band what was left out.
type Notice struct {
	Reason Reason
	Cause  Cause // NoCause of a cap
	Rest   bool  // of ReasonSkipped: all later groups of the query in this batch are left out, too
	End    bool  // of ReasonSuspended: it comes behind all records of the batch, and nothing of it is left out
}

// Event is a run of results of one query, sign and anchor, handed to the emit callback in canonical order (DESIGN S7).
// It and its Rows are borrowed until the callback returns; a copy without rows, and all that it refers to, may be used
// until the callback of Step named settle returns. Any number of goroutines may read them.
type Event struct {
	Batch    uint64 // its number
	Kind     EventKind
	Query    *Query
	Sign     dyngraph.Sign
	Snapshot bool // a result of registration: it has no anchor
	// Anchor is the update that completed or broke the matches (DESIGN A2); nil for snapshots, counts and exists. For
	// an edge that has expired its Op is dyngraph.ExpireEdge, and no input holds it.
	Anchor *dyngraph.Update
	// AnchorEdge is the net edge of the anchor; nil when Anchor is.
	AnchorEdge *dyngraph.NetEdge
	// FirstIndex is the index, within the batch, of the event's first record; an event of matches has Rows.Len()
	// records, any other one.
	FirstIndex uint64
	Rows       Rows
	Count      Count
	Notice     Notice
	// LossySince is the batch since which positives of the query are left out, 0 for none: a negative or a change may
	// be of a match that was not announced.
	LossySince uint64
	// View resolves ids: the old graph for negatives, the new one for all else.
	View dyngraph.View

	output *output // of the query; see Wrote
}

// Records returns how many output records the event stands for.
func (e *Event) Records() int {
	if e.Kind == EventMatches {
		return e.Rows.Len()
	}
	return 1
}

// Pattern returns the pattern that the event's rows are matches of: the query, or its variant of their lengths.
func (e *Event) Pattern() *Query {
	if e.Rows.Of != nil {
		return e.Rows.Of
	}
	return e.Query
}

// Rows are matches in columns of one flat slice: row i holds the vertex ids in pattern order, then the edge indexes
// in pattern order, then the aggregates of a query with WITH (Query.AggregateOf).
type Rows struct {
	Vertices, Edges int // columns of either kind
	Extra           int // words of aggregates
	Data            []uint32
	// Of is the pattern that the rows are matches of, where the query has paths: the variant of their lengths. nil is
	// the query itself.
	Of *Query
}

// Width returns the number of words of a row.
func (r Rows) Width() int { return r.Vertices + r.Edges + r.Extra }

// Len returns the number of rows.
func (r Rows) Len() int {
	if r.Vertices+r.Edges == 0 {
		return 0
	}
	return len(r.Data) / r.Width()
}

// Row returns row i: vertices, then edges, then aggregates.
func (r Rows) Row(i int) []uint32 {
	n := r.Width()
	return r.Data[i*n : (i+1)*n : (i+1)*n]
}

// Vertex returns the data vertex that pattern vertex v maps to in row i.
func (r Rows) Vertex(i, v int) dyngraph.VertexID {
	return dyngraph.VertexID(r.Data[i*r.Width()+v])
}

// Edge returns the data edge that pattern edge e maps to in row i.
func (r Rows) Edge(i, e int) dyngraph.EdgeIndex {
	return dyngraph.EdgeIndex(r.Data[i*r.Width()+r.Vertices+e])
}

// Slice returns rows i to j.
func (r Rows) Slice(i, j int) Rows {
	n := r.Width()
	return Rows{r.Vertices, r.Edges, r.Extra, r.Data[i*n : j*n], r.Of}
}

// QuerySummary has the results of a batch for one query.
type QuerySummary struct {
	Query    *Query
	Positive Count // matches found; with a cap and no exact total, those emitted
	Negative Count
	Changed  Count // matches that go on and show another value (Query.EmitsChanges)
	// NoPositive and NoNegative tell that the number is not known: counting it was beyond a limit.
	NoPositive, NoNegative bool
	Truncated              bool // the cap was reached (DESIGN S11)
	Suspended              *Decision
	// Skipped counts the decisions that left something out, but for Suspended; Cause is the last one's.
	Skipped uint64
	Cause   Cause
	// Once counts the positives that Query.Once dropped, which are in Positive.
	Once uint64
	// LossySince is the query's after the batch; see QueryState.
	LossySince uint64
	Snapshot   bool   // Positive and Negative are from registration or removal
	Emitted    uint64 // records emitted
	SearchNS   int64  // nanoseconds of search, summed over threads, when the backend was given a clock
	Steps      uint64 // search steps: candidates tried
}

// Summary is the result of Step.
type Summary struct {
	Number  uint64
	Records uint64 // records emitted
	Queries []QuerySummary
	// Effect holds the changes of the graph, for the checkpoint.
	Effect dyngraph.Effect
	// Once lists, in order, the batch's changes of the keys that queries with Query.Once remember, for the checkpoint.
	Once []OnceChange
	// QueriesChanged tells that what Engine.Queries returns has changed.
	QueriesChanged bool
	// NetInserted and NetDeleted count the net edges; Updates the accepted updates.
	NetInserted, NetDeleted, Updates int
	// Expired counts the edges that have expired, which are in NetDeleted, too; Late the updates that came too late.
	Expired, Late int
	// Revised counts the revised vertices, Absent the operations =v on vertices that were not there.
	Revised, Absent int
	// Redeclared counts the edges and vertices that a step of a change of the declared properties has changed.
	Redeclared int
	// Unnamed counts the deletions without id that found only edges with ids (dyngraph.Delta.Unnamed).
	Unnamed int
}

// QueryState is a query as the Engine knows it and the checkpoint keeps it.
type QueryState struct {
	Query *Query `json:"query"`
	// Suspended queries exceeded a limit, or somebody suspended them, and are not searched (DESIGN S11). SuspendedBy is
	// the Cause's name; "" in checkpoints of older versions.
	Suspended   bool   `json:"suspended,omitempty"`
	SuspendedBy string `json:"suspended_by,omitempty"`
	// LossySince is the batch since which some positives of this version were left out, 0 if none were.
	LossySince uint64 `json:"lossy_since,omitempty"`
	// Announced is set for an exists query while no witness is known that decides it: what was announced last.
	Announced *bool `json:"announced,omitempty"`
	// Removed queries are kept so that a query registered again under the same name gets a new version: match ids
	// never return (DESIGN S6). Query has only its Name and Version then.
	Removed bool `json:"removed,omitempty"`
	// Once lists the keys that Query.Once remembers, for Engine.Restore; Engine.Queries leaves it out. The checkpoint
	// keeps it by itself.
	Once []OnceEntry `json:"-"`
}
