package matcher

import (
	"context"
	"slices"

	"motifd/dyngraph"
)

// Want is the kind of answer that a request asks for.
type Want uint8

// The wants.
const (
	WantRows  Want = iota // the matches, in canonical order
	WantCount             // their number
	WantAny               // whether there is one
)

// AllOrders as Request.Before searches every anchor.
const AllOrders = ^uint32(0)

// Request asks for the incremental matches of one plan in one phase.
type Request struct {
	Plan *Plan
	Want Want
	// Limit caps the rows emitted: a prefix in canonical order. When it is reached nothing more is searched. 0 is no
	// cap.
	Limit uint64
	// Before restricts the search to anchors of a lower order: a suspension that is obeyed (DESIGN S11). With WantCount
	// and WantAny, which have no anchors, it is 0 or AllOrders.
	Before uint32
	// From restricts the search for rows to anchors of that order and higher ones.
	From uint32
	// Skip lists the orders of anchors that are left out, ascending: decisions that are obeyed.
	Skip []uint32
	// Silence leaves out matches that hold in both views; nil leaves out none, as where no edge is replaced.
	Silence *Silence
	// Budget bounds the search; nil is no bound. A group beyond it is left out, and Exceeded is told.
	Budget *Budget
}

// Skips reports whether the anchor of an order is left out.
func (r *Request) Skips(order uint32) bool {
	if order < r.From || order >= r.Before {
		return true
	}
	if len(r.Skip) == 0 {
		return false
	}
	_, found := slices.BinarySearch(r.Skip, order)
	return found
}

// Exceeded is told of a group that is left out because it is beyond its budget, after all groups before it are emitted
// and before anything of a later group is. stop tells that nothing more of the request is wanted.
type Exceeded func(request int, order uint32, cause Cause) (stop bool, err error)

// Result is the answer to the request of the same index.
type Result struct {
	// Count is the number of matches: emitted, or with WantCount all of them. With WantAny it is 0 or 1.
	Count Count
	// Truncated tells that the limit was reached; of Enumerate, that there are more matches than it.
	Truncated bool
	// Over is the limit at which a search of WantCount, WantAny or Enumerate ended: Count and Witness are void then,
	// and no row was emitted. With WantRows each group beyond a limit is reported by itself; see Exceeded.
	Over     Cause
	Steps    uint64
	SearchNS int64 // when the backend has a clock
	// FilterNS and OrderNS are the nanoseconds that Enumerate spent on the candidate space of this one search and on
	// choosing an order from it (DESIGN A22); 0 if the backend has no clock. They are not in SearchNS.
	FilterNS, OrderNS int64
	// Witness is a match, with WantAny and Count 1: vertices, then edges.
	Witness []uint32
}

// Group is a run of rows of one request and one anchor. Several consecutive groups may share them; their rows ascend.
type Group struct {
	Request int    // index into the requests
	Order   uint32 // of the anchor
	Rows    Rows   // borrowed until the callback returns
}

// Backend searches. It is owned by the Engine, which calls Stage, Search, then Commit or Abort, in this order, from one
// goroutine. cpu, reference and cuda implement it; all emit the same bytes (DESIGN P2).
type Backend interface {
	// Name returns the backend's name, as `--backend` takes it.
	Name() string
	// Capabilities returns what it can do beyond the rest of the methods.
	Capabilities() Capabilities
	// Load takes over the graph's present content; the graph is not staged.
	Load(g *dyngraph.Graph) error
	// Prepare sets the registered plans: what later Stages keep filters for and later Searches ask for. It is called
	// between batches, and between the graph's Stage and the backend's own when plans were made anew for the batch.
	Prepare(plans []*Plan) error
	// Stage takes note of a batch that the graph has staged.
	Stage(d *dyngraph.Delta) error
	// Search finds the matches of the staged batch: sign Deleted searches the old view anchored at deleted edges,
	// sign Inserted the new view anchored at inserted ones (DESIGN A1, A2). Sign Changed is asked of queries that emit
	// changes alone (Query.EmitsChanges): matches of the new view that the old one shows with other values. emit
	// receives the rows in the order (anchor, query name, row); requests are sorted by query name. An error of emit or
	// over ends the search and is returned.
	Search(ctx context.Context, sign dyngraph.Sign, reqs []Request, emit func(Group) error, over Exceeded) ([]Result,
		error)
	// Commit and Abort end the batch; they are called before the graph's own, while the delta is valid.
	Commit() error
	Abort() error
	// Enumerate finds the matches of the plan in a view, in the order (vertex ids, edge identities) when rows are
	// wanted. limit caps the rows, 0 for none; with WantAny the search stops at the first match. A search beyond the
	// budget, which may be nil, emits nothing.
	Enumerate(ctx context.Context, which dyngraph.Which, p *Plan, want Want, limit uint64, budget *Budget,
		emit func(Rows) error) (Result, error)
	Close() error
}

// Capabilities are the optional functions of a backend; nil stands for one that it lacks. A Backend that wraps another
// has that one's, unless it returns its own.
type Capabilities struct {
	// Groups tells that it answers queries with WITH (DESIGN S24). Others are refused them.
	Groups bool
	// Concern tells which of the prepared plans Search must be asked for, by their indexes in Prepare, and for which
	// sign: the backend knows it better than the labels of net edges. The other plans have no match that the batch
	// makes or breaks, and no budget that an attempt would use. It is called between Stage and Search.
	Concern func(note func(plan int, sign dyngraph.Sign))
	// Rehearse searches the staged batch, which is then aborted, in all the ways that the backend has, and keeps their
	// times. Nothing is emitted. more tells whether another such batch, or one of four times as many updates, would
	// tell it more. It is nil where there is no choice to make, or no time left for rehearsals.
	Rehearse func(ctx context.Context, reqs []Request) (more bool, err error)
	// Negations tells that queries with negations can be searched. Without it the engine refuses them.
	Negations bool
	// Unblocked reports whether a row of a prepared plan, which holds in the core of the staged batch's new graph, is
	// blocked by no negation there. It is false, too, where that is beyond the budget. nil: the engine searches anew.
	Unblocked func(ctx context.Context, p *Plan, row []uint32, budget *Budget) (bool, error)
	// TellProgress sets the Progress to which the backend reports during searches. It is called before the first
	// search.
	TellProgress func(*Progress)
	// Kept returns the state that is kept for a prepared plan from batch to batch, of vertices with very many edges
	// (DESIGN A19). It is called between batches. nil: there is none.
	Kept func(p *Plan) Kept
}

// Kept is state that a backend derives from the graph.
type Kept struct {
	Hubs  int    // vertices of which there is some
	Bytes uint64 // of memory, about
}

// Planner makes plans; package plan implements it. Statistics are read from the graph.
type Planner interface {
	Plan(q *Query, g *dyngraph.Graph) (*Plan, error)
	// Static makes a plan for Backend.Enumerate alone: it has no orders for batches.
	Static(q *Query, g *dyngraph.Graph) (*Plan, error)
}
