package matchertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
)

// Driver steps one Engine over batches, checks what must hold of any output, and writes everything down.
type Driver struct {
	t      testing.TB
	Engine *matcher.Engine
	// Log holds every batch that was stepped, with the decisions that were made: what a batch log would hold.
	Log []*matcher.Batch
	// Batches holds what each of them put out.
	Batches []*Output

	// Isolated removes vertices without edges that no +v declared, after all else in a batch.
	Isolated bool
	expiry   expiry
}

// RecordBytes is the size of the record of a match, as the driver tells the engine (matcher.Limits.QueryOutput), in
// each fourth batch; in those between, records have twice, four times and eight times as much.
const RecordBytes = 4000

// Output is the output of one Step.
type Output struct {
	Number  uint64
	Records []Record
	Rejects []dyngraph.Reject
	Summary *matcher.Summary
	Decided []matcher.Decision
	Queries []matcher.QueryState // after the step
}

// Record is one output record, in terms that outlive the batch.
type Record struct {
	Index    uint64
	Kind     matcher.EventKind
	Query    string
	Version  uint64
	Sign     dyngraph.Sign
	Snapshot bool
	Count    matcher.Count // of EventCount
	Notice   matcher.Notice
	// LossySince is that of the query, as a negative's record shows it.
	LossySince uint64
	// Of EventMatches:
	Match Match
	IDs   []uint32 // vertex ids, then the identity of each edge
	// Aggregates are those of a query with WITH, as text.
	Aggregates []string
	// Of an anchored match: the order of the anchor is that of (UpdateIndex, AnchorIDs). At one place come new versions
	// of vertices, edges by their tuples of dense ids, old versions of vertices.
	Anchored    bool
	Anchor      dyngraph.Position
	AnchorEdge  Edge // of a revised vertex: with it at both ends
	UpdateIndex uint32
	AnchorIDs   []uint32
	// Turned tells that the anchor is a change of what blocks the match.
	Turned bool
	// Expired tells that the anchor is an edge that expired, whose time is AnchorTS.
	Expired  bool
	AnchorTS int64
}

// NewDriver makes an engine over an empty graph. The test closes it.
func NewDriver(t testing.TB, directed bool, backend matcher.Backend, planner matcher.Planner) *Driver {
	t.Helper()
	return NewDriverWith(t, matcher.EngineOptions{
		Graph: dyngraph.NewGraph(dyngraph.Options{Directed: directed}), Backend: backend, Planner: planner})
}

// NewDriverWith makes an engine with options of the caller's; Decide is the driver's.
func NewDriverWith(t testing.TB, opt matcher.EngineOptions) *Driver {
	t.Helper()
	d := &Driver{t: t}
	opt.Decide = func(batch uint64, x matcher.Decision) error {
		last := d.Batches[len(d.Batches)-1]
		if batch != last.Number {
			t.Errorf("batch %d: a decision about batch %d", last.Number, batch)
		}
		last.Decided = append(last.Decided, x)
		return nil
	}
	var err error
	if d.Engine, err = matcher.NewEngine(opt); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// Run registers the case's queries and steps over its batches. Output i+len(c.Queries) is that of batch i.
func Run(t testing.TB, c *Case, backend matcher.Backend, planner matcher.Planner) *Driver {
	t.Helper()
	d := NewDriverWith(t, matcher.EngineOptions{Graph: c.Graph(), Backend: backend, Planner: planner})
	for _, q := range c.Queries {
		d.Register(q)
	}
	for _, msgs := range c.Batches {
		d.Batch(msgs)
	}
	return d
}

// Register steps over the registration of a query.
func (d *Driver) Register(q *matcher.Query) *Output {
	d.t.Helper()
	return d.Change(&matcher.QueryChange{Add: q})
}

// Remove steps over the removal of a query.
func (d *Driver) Remove(name string) *Output {
	d.t.Helper()
	return d.Change(&matcher.QueryChange{Remove: name})
}

// Change prepares a query change and steps over it.
func (d *Driver) Change(ch *matcher.QueryChange) *Output {
	d.t.Helper()
	prepared, err := d.Engine.PrepareChange(ch)
	if errors.Is(err, matcher.ErrCompeting) {
		prepared, err = d.asBefore(ch), nil
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return d.Step(&matcher.Batch{Number: d.next(), Change: prepared})
}

// asBefore prepares the registration of a query that is refused now, as it is in the logs of earlier versions.
func (d *Driver) asBefore(ch *matcher.QueryChange) *matcher.QueryChange {
	q := *ch.Add
	prepared := &matcher.QueryChange{Add: &q}
	q.Version = 1
	for _, s := range d.Engine.Queries() {
		if s.Query.Name == q.Name {
			q.Version = s.Query.Version + 1
			if !s.Removed {
				prepared.Remove = q.Name
			}
		}
	}
	return prepared
}

// Batch accepts messages and steps over those that were accepted.
func (d *Driver) Batch(msgs []dyngraph.Message) *Output {
	d.t.Helper()
	horizons := d.expiry.horizons(d.Engine.Graph(), msgs)
	updates, rejects := d.Engine.Accept(msgs)
	out := d.Step(&matcher.Batch{Number: d.next(), Updates: updates, Horizons: horizons, Isolated: d.Isolated})
	out.Rejects = rejects
	return out
}

func (d *Driver) next() uint64 { return uint64(len(d.Log)) + 1 }

// Step steps over a batch, which is not changed.
func (d *Driver) Step(b *matcher.Batch) *Output {
	d.t.Helper()
	out, err := d.try(context.Background(), b, func(*matcher.Event) error { return nil })
	if err != nil {
		d.t.Fatalf("batch %d: %v", b.Number, err)
	}
	return out
}

// try steps over a batch, with a look at every event; when that fails nothing is written down.
func (d *Driver) try(ctx context.Context, b *matcher.Batch, look func(*matcher.Event) error) (*Output, error) {
	d.t.Helper()
	logged := *b
	out := &Output{Number: b.Number}
	d.Batches = append(d.Batches, out)
	settled, kept := 0, keptEvents{}
	sum, err := d.Engine.Step(ctx, b, func(ev *matcher.Event) error {
		if settled > 0 {
			d.t.Errorf("batch %d: an event comes after the step was settled", b.Number)
		}
		out.record(d.t, b, ev)
		kept.add(ev, out)
		if ev.Kind == matcher.EventMatches {
			ev.Wrote(ev.Records(), int64(ev.Records())*RecordBytes<<(b.Number%4))
		}
		return look(ev)
	}, func(err error) error {
		settled++
		kept.check(d.t, out)
		return err
	})
	if settled != 1 {
		d.t.Errorf("batch %d was settled %d times", b.Number, settled)
	}
	if err != nil {
		d.Batches = d.Batches[:len(d.Batches)-1]
		return nil, err
	}
	logged.Decisions = append(slices.Clone(logged.Decisions), out.Decided...)
	d.Log = append(d.Log, &logged)
	out.Summary = sum
	out.Queries = d.Engine.Queries()
	if sum.Number != b.Number || sum.Records != uint64(len(out.Records)) || sum.Updates != len(b.Updates) {
		d.t.Fatalf("batch %d: %d records and %d updates, but the summary says %+v", b.Number, len(out.Records),
			len(b.Updates), sum)
	}
	out.check(d.t, b)
	return out, nil
}

// Replay makes a new driver with the same options step over a batch log.
func Replay(t testing.TB, log []*matcher.Batch, opt matcher.EngineOptions) *Driver {
	t.Helper()
	d := NewDriverWith(t, opt)
	for _, b := range log {
		again := *b
		again.MeasureFrom = matcher.NeverMeasure
		d.Step(&again)
	}
	return d
}

// record writes an event down; it is borrowed.
func (o *Output) record(t testing.TB, b *matcher.Batch, ev *matcher.Event) {
	if ev.Batch != b.Number || ev.FirstIndex != uint64(len(o.Records)) {
		t.Errorf("batch %d: an event of batch %d starts at index %d, not %d", b.Number, ev.Batch, ev.FirstIndex,
			len(o.Records))
	}
	r := Record{Kind: ev.Kind, Query: ev.Query.Name, Version: ev.Query.Version, Sign: ev.Sign, Snapshot: ev.Snapshot,
		Count:  ev.Count,
		Notice: ev.Notice, LossySince: ev.LossySince}
	if ev.LossySince > 0 && (ev.Sign == dyngraph.Inserted || ev.LossySince >= b.Number) {
		t.Errorf("batch %d: a record of sign %d says that its query is lossy since batch %d", b.Number, ev.Sign,
			ev.LossySince)
	}
	if ev.Kind == matcher.EventNotice && ev.Query.Emit == matcher.EmitDeltas {
		r.IDs = []uint32{^uint32(0)} // behind what is put out of its group
		if ev.Notice.End {
			r.UpdateIndex = ^uint32(0)
		}
		if n := ev.AnchorEdge; n != nil {
			r.Anchored, r.Anchor, r.UpdateIndex = true, ev.Anchor.Pos, n.UpdateIndex
			r.AnchorEdge, r.AnchorIDs = anchorOf(ev.View, n)
			if n.Expired() {
				r.expired(t, ev)
			}
		}
		r.Index = uint64(len(o.Records))
		o.Records = append(o.Records, r)
		return
	}
	if ev.Notice.End {
		r.UpdateIndex = ^uint32(0)
	}
	if ev.Kind != matcher.EventMatches {
		if ev.Anchor != nil || ev.AnchorEdge != nil {
			t.Errorf("batch %d: a record without a match has an anchor", b.Number)
		}
		r.Index = uint64(len(o.Records))
		o.Records = append(o.Records, r)
		return
	}
	if r.Anchored = ev.Anchor != nil; r.Anchored {
		n := ev.AnchorEdge
		r.Anchor, r.UpdateIndex = ev.Anchor.Pos, n.UpdateIndex
		r.AnchorEdge, r.AnchorIDs = anchorOf(ev.View, n)
		r.Turned = n.Sign != ev.Sign
		if n.Expired() {
			r.expired(t, ev)
		} else if b.Updates[n.UpdateIndex].Pos != ev.Anchor.Pos ||
			n.Sign != ev.Sign && ev.Query.Groups == nil && len(ev.Query.Negations) == 0 {
			t.Errorf("batch %d: anchor %+v does not agree with its edge %+v", b.Number, ev.Anchor, n)
		}
	}
	if r.Anchored == ev.Snapshot || (ev.Anchor == nil) != (ev.AnchorEdge == nil) {
		t.Errorf("batch %d: anchored %v, snapshot %v", b.Number, r.Anchored, ev.Snapshot)
	}
	of := ev.Pattern()
	if ev.Rows.Len() == 0 || ev.Rows.Vertices != len(of.Vertices) || ev.Rows.Edges != len(of.Edges) ||
		of != ev.Query && (of.Name != ev.Query.Name || of.Version != ev.Query.Version) {
		t.Errorf("batch %d: %d rows of %d vertices and %d edges", b.Number, ev.Rows.Len(), ev.Rows.Vertices,
			ev.Rows.Edges)
		return
	}
	for i := range ev.Rows.Len() {
		m := r
		m.Index = uint64(len(o.Records))
		m.Match = MatchOf(ev.View, ev.Rows, i)
		m.IDs = identities(t, ev, i)
		if ev.Query.Groups != nil {
			m.Aggregates = AggregatesOf(ev.View, ev.Query, ev.Rows.Row(i))
		}
		if r.Anchored && ev.Query.Groups == nil && ev.AnchorEdge.Sign == ev.Sign &&
			!slices.Contains(m.Match.Edges, r.AnchorEdge) &&
			!(ev.AnchorEdge.Vertex && slices.Contains(m.Match.Vertices, r.AnchorEdge.From)) {
			t.Errorf("batch %d: match %v without its anchor %v", b.Number, m.Match, r.AnchorEdge)
		}
		o.Records = append(o.Records, m)
	}
}

// AggregatesOf returns the aggregates of a row of a query with WITH as text.
func AggregatesOf(view dyngraph.View, q *matcher.Query, row []uint32) (all []string) {
	for i, a := range q.Groups.Aggregates() {
		if a.Function != matcher.Collect {
			all = append(all, string(q.AggregateOf(row, i).Append(nil)))
			continue
		}
		var list []Edge
		for _, e := range q.ListOf(row, i) {
			list = append(list, EdgeOf(view, dyngraph.EdgeIndex(e)))
		}
		all = append(all, fmt.Sprint(list))
	}
	return all
}

// anchorOf returns a net element by keys, and what orders it within its place.
func anchorOf(view dyngraph.View, n *dyngraph.NetEdge) (Edge, []uint32) {
	class := uint32(1)
	if n.Vertex {
		v := vertexOf(view, n.From)
		if class -= uint32(n.Sign); n.Revised && n.Sign == dyngraph.Deleted {
			class++ // behind the deleted ones
		}
		return Edge{From: v, To: v}, []uint32{class, uint32(n.From), uint32(n.To)}
	}
	// The old version of a replaced edge comes before the new one.
	return EdgeOf(view, n.Edge), append(append([]uint32{class}, identityOf(view, n.Edge)...), uint32(1+n.Sign))
}

// identities returns the row by ids, behind the lengths of its paths, and checks that all of it is in the event's view.
func identities(t testing.TB, ev *matcher.Event, i int) (ids []uint32) {
	for _, n := range ev.Pattern().Lengths() {
		ids = append(ids, uint32(n))
	}
	ids = append(ids, ev.Rows.Row(i)[:ev.Rows.Vertices]...)
	for v := range ev.Rows.Vertices {
		if !ev.View.HasVertex(ev.Rows.Vertex(i, v)) {
			t.Errorf("query %s: vertex %d is not in the view", ev.Query.Name, ev.Rows.Vertex(i, v))
		}
	}
	for e := range ev.Rows.Edges {
		if !ev.View.Visible(ev.Rows.Edge(i, e)) {
			t.Errorf("query %s: edge %d is not in the view", ev.Query.Name, ev.Rows.Edge(i, e))
		}
		ids = append(ids, identityOf(ev.View, ev.Rows.Edge(i, e))...)
	}
	return ids
}

// identityOf returns an edge's identity as numbers that compare as identities do: its ends and label and, where ids
// identify edges, the bytes of its id, each plus 1, and 0.
func identityOf(view dyngraph.View, e dyngraph.EdgeIndex) []uint32 {
	from, to, label := view.Edge(e)
	ids := []uint32{uint32(from), uint32(to), uint32(label)}
	if !view.Graph().Options().EdgeIDs {
		return ids
	}
	for _, b := range []byte(view.Attr(e).ID) {
		ids = append(ids, uint32(b)+1)
	}
	return append(ids, 0)
}

// check checks the canonical order of DESIGN S7 and S12, strictly: nothing comes twice.
func (o *Output) check(t testing.TB, b *matcher.Batch) {
	t.Helper()
	for i := 1; i < len(o.Records); i++ {
		if x, y := &o.Records[i-1], &o.Records[i]; compareRecords(x, y) >= 0 {
			t.Fatalf("batch %d is out of order at index %d:\n%s %v\n%s %v", b.Number, i, x.Line(), x.IDs, y.Line(),
				y.IDs)
		}
	}
}

// expired notes an anchor that has expired.
func (r *Record) expired(t testing.TB, ev *matcher.Event) {
	a := ev.Anchor
	r.Expired, r.AnchorTS = true, a.Attr.TS
	if a.Op == dyngraph.ExpireVertex {
		if v := r.AnchorEdge.From; a.Key != v.Key || a.Label != v.Label ||
			ev.AnchorEdge.Sign != dyngraph.Deleted {
			t.Errorf("batch %d: anchor %+v is of the removed vertex %v", ev.Batch, a, v)
		}
		return
	}
	from, to := r.AnchorEdge.From.Key, r.AnchorEdge.To.Key
	if !ev.View.Graph().Directed() && a.From == to {
		from, to = to, from
	}
	if a.Op != dyngraph.ExpireEdge || !a.Attr.HasTS || a.From != from || a.To != to ||
		ev.AnchorEdge.Sign != dyngraph.Deleted {
		t.Errorf("batch %d: anchor %+v is of the expired edge %v", ev.Batch, a, r.AnchorEdge)
	}
}

// place returns the place of the anchor in the batch: edges expire before all updates, vertices behind them.
func (r *Record) place() int64 {
	if r.Expired && r.UpdateIndex == dyngraph.AtExpiry {
		return -1
	}
	return int64(r.UpdateIndex)
}

func compareRecords(x, y *Record) int {
	matches := func(r *Record) int {
		if r.Kind == matcher.EventMatches || r.IDs != nil || r.Notice.End {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(x.Sign, y.Sign), cmp.Compare(matches(x), matches(y)),
		cmp.Compare(x.place(), y.place()), cmp.Compare(x.AnchorTS, y.AnchorTS),
		slices.Compare(x.AnchorIDs, y.AnchorIDs), cmp.Compare(x.Query, y.Query), slices.Compare(x.IDs, y.IDs))
}

// Prepare returns the batch that Batch would step over.
func (d *Driver) Prepare(msgs []dyngraph.Message) *matcher.Batch {
	horizons := d.expiry.horizons(d.Engine.Graph(), msgs)
	updates, _ := d.Engine.Accept(msgs)
	return &matcher.Batch{Number: d.next(), Updates: updates, Horizons: horizons, Isolated: d.Isolated}
}

// Reload returns a copy of a graph that is not staged, made the way that a checkpoint is loaded.
func Reload(t testing.TB, g *dyngraph.Graph) *dyngraph.Graph {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	l := dyngraph.NewLoader(g.Options())
	view := g.View(dyngraph.New)
	for id := 1; id < g.Labels(); id++ {
		must(l.Label(g.LabelName(dyngraph.LabelID(id))))
	}
	for v := range view.VerticesSeq() {
		must(l.Vertex(dyngraph.VertexRecord{ID: v, Key: view.Key(v), Label: view.Label(v),
			Values: view.VertexValues(v)}))
	}
	for e := range view.EdgesSeq() {
		from, to, label := view.Edge(e)
		must(l.Edge(dyngraph.EdgeRecord{From: from, Label: label, To: to, Attr: view.Attr(e)}))
	}
	l.Pending(g.PendingFree())
	loaded, err := l.Graph()
	must(err)
	return loaded
}
