package matchertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
)

// Driver steps one Engine over batches, checks what must hold of any output, and writes everything down.
type Driver struct {
	t      testing.TB
	Engine *matcher.Engine
	// Log holds every batch that was stepped, with the suspensions that were decided: what a batch log would hold.
	Log []*matcher.Batch
	// Batches holds what each of them put out.
	Batches []*Output
}

// Output is what one Step put out.
type Output struct {
	Number   uint64
	Records  []Record
	Rejects  []dyngraph.Reject
	Summary  *matcher.Summary
	Suspends []matcher.Suspension
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
	// Of EventMatches:
	Match Match
	IDs   []uint32 // vertex ids, then (from, to, label) of each edge
	// Of an anchored match: the order of the anchor is that of (Place, its tuple of dense ids).
	Anchored   bool
	Anchor     dyngraph.Position
	AnchorEdge Edge
	Place      uint32
	AnchorIDs  [3]uint32
}

// NewDriver makes an engine over an empty graph. The test closes it.
func NewDriver(t testing.TB, directed bool, backend matcher.Backend, planner matcher.Planner) *Driver {
	t.Helper()
	return NewDriverWith(t, matcher.EngineOptions{
		Graph: dyngraph.NewGraph(dyngraph.Options{Directed: directed}), Backend: backend, Planner: planner})
}

// NewDriverWith makes an engine with options of the caller's; Suspend is the driver's.
func NewDriverWith(t testing.TB, opt matcher.EngineOptions) *Driver {
	t.Helper()
	d := &Driver{t: t}
	opt.Suspend = func(batch uint64, s matcher.Suspension) error {
		last := d.Batches[len(d.Batches)-1]
		if batch != last.Number {
			t.Errorf("batch %d: a suspension of batch %d", last.Number, batch)
		}
		last.Suspends = append(last.Suspends, s)
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
	d := NewDriver(t, c.Directed, backend, planner)
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
	if err != nil {
		d.t.Fatal(err)
	}
	return d.Step(&matcher.Batch{Number: d.next(), Change: prepared})
}

// Batch accepts messages and steps over those that were accepted.
func (d *Driver) Batch(msgs []dyngraph.Message) *Output {
	d.t.Helper()
	updates, rejects := d.Engine.Accept(msgs)
	out := d.Step(&matcher.Batch{Number: d.next(), Updates: updates})
	out.Rejects = rejects
	return out
}

func (d *Driver) next() uint64 { return uint64(len(d.Log)) + 1 }

// Step steps over a batch, which is not changed.
func (d *Driver) Step(b *matcher.Batch) *Output {
	d.t.Helper()
	logged := *b
	out := &Output{Number: b.Number}
	d.Batches = append(d.Batches, out)
	sum, err := d.Engine.Step(context.Background(), b, func(ev *matcher.Event) error {
		out.record(d.t, b, ev)
		return nil
	})
	if err != nil {
		d.t.Fatalf("batch %d: %v", b.Number, err)
	}
	logged.Suspensions = append(slices.Clone(logged.Suspensions), out.Suspends...)
	d.Log = append(d.Log, &logged)
	out.Summary = sum
	if sum.Number != b.Number || sum.Records != uint64(len(out.Records)) || sum.Updates != len(b.Updates) {
		d.t.Fatalf("batch %d: %d records and %d updates, but the summary says %+v", b.Number, len(out.Records), len(b.Updates), sum)
	}
	out.check(d.t, b)
	return out
}

// Replay makes a new driver with the same options step over a batch log.
func Replay(t testing.TB, log []*matcher.Batch, opt matcher.EngineOptions) *Driver {
	t.Helper()
	d := NewDriverWith(t, opt)
	for _, b := range log {
		again := *b
		again.Replayed = true
		d.Step(&again)
	}
	return d
}

// record writes an event down; it is borrowed.
func (o *Output) record(t testing.TB, b *matcher.Batch, ev *matcher.Event) {
	if ev.FirstIndex != uint64(len(o.Records)) {
		t.Errorf("batch %d: an event starts at index %d, not %d", b.Number, ev.FirstIndex, len(o.Records))
	}
	r := Record{Kind: ev.Kind, Query: ev.Query.Name, Version: ev.Query.Version, Sign: ev.Sign, Snapshot: ev.Snapshot, Count: ev.Count}
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
		r.Anchor, r.Place, r.AnchorEdge = ev.Anchor.Pos, n.Place, EdgeOf(ev.View, n.Edge)
		r.AnchorIDs = [3]uint32{uint32(n.From), uint32(n.To), uint32(n.Label)}
		if b.Updates[n.Place].Pos != ev.Anchor.Pos || n.Sign != ev.Sign {
			t.Errorf("batch %d: anchor %+v does not agree with its edge %+v", b.Number, ev.Anchor, n)
		}
	}
	if r.Anchored == ev.Snapshot || (ev.Anchor == nil) != (ev.AnchorEdge == nil) {
		t.Errorf("batch %d: anchored %v, snapshot %v", b.Number, r.Anchored, ev.Snapshot)
	}
	if ev.Rows.Len() == 0 || ev.Rows.Vertices != len(ev.Query.Vertices) || ev.Rows.Edges != len(ev.Query.Edges) {
		t.Errorf("batch %d: %d rows of %d vertices and %d edges", b.Number, ev.Rows.Len(), ev.Rows.Vertices, ev.Rows.Edges)
		return
	}
	for i := range ev.Rows.Len() {
		m := r
		m.Index = uint64(len(o.Records))
		m.Match = MatchOf(ev.View, ev.Rows, i)
		m.IDs = identities(t, ev, i)
		if r.Anchored && !slices.Contains(m.Match.Edges, r.AnchorEdge) {
			t.Errorf("batch %d: match %v without its anchor %v", b.Number, m.Match, r.AnchorEdge)
		}
		o.Records = append(o.Records, m)
	}
}

// identities returns the row by ids, and checks that all of it is in the event's view.
func identities(t testing.TB, ev *matcher.Event, i int) []uint32 {
	ids := slices.Clone(ev.Rows.Row(i)[:ev.Rows.Vertices])
	for v := range ev.Rows.Vertices {
		if !ev.View.HasVertex(ev.Rows.Vertex(i, v)) {
			t.Errorf("query %s: vertex %d is not in the view", ev.Query.Name, ev.Rows.Vertex(i, v))
		}
	}
	for e := range ev.Rows.Edges {
		if !ev.View.Visible(ev.Rows.Edge(i, e)) {
			t.Errorf("query %s: edge %d is not in the view", ev.Query.Name, ev.Rows.Edge(i, e))
		}
		from, to, label := ev.View.Edge(ev.Rows.Edge(i, e))
		ids = append(ids, uint32(from), uint32(to), uint32(label))
	}
	return ids
}

// check checks the canonical order of DESIGN S7 and S12, strictly: nothing comes twice.
func (o *Output) check(t testing.TB, b *matcher.Batch) {
	t.Helper()
	for i := 1; i < len(o.Records); i++ {
		if x, y := &o.Records[i-1], &o.Records[i]; compareRecords(x, y) >= 0 {
			t.Fatalf("batch %d is out of order at index %d:\n%s %v\n%s %v", b.Number, i, x.Line(), x.IDs, y.Line(), y.IDs)
		}
	}
}

func compareRecords(x, y *Record) int {
	matches := func(r *Record) int {
		if r.Kind == matcher.EventMatches {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(x.Sign, y.Sign), cmp.Compare(matches(x), matches(y)), cmp.Compare(x.Place, y.Place),
		slices.Compare(x.AnchorIDs[:], y.AnchorIDs[:]), cmp.Compare(x.Query, y.Query), slices.Compare(x.IDs, y.IDs))
}

// Line writes the record by keys.
func (r *Record) Line() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%+d %s v%d", r.Sign, r.Query, r.Version)
	if r.Snapshot {
		s.WriteString(" snapshot")
	}
	switch {
	case r.Kind == matcher.EventCount:
		fmt.Fprintf(&s, " count %v", r.Count)
	case r.Kind == matcher.EventExists:
		s.WriteString(" exists")
	default:
		if r.Anchored {
			fmt.Fprintf(&s, " [%d/%d/%d %v]", r.Anchor.Partition, r.Anchor.Offset, r.Anchor.Element, r.AnchorEdge)
		}
		fmt.Fprintf(&s, " %v", r.Match)
	}
	return s.String()
}

// Lines writes the records by keys, in order.
func (o *Output) Lines() []string {
	lines := make([]string, len(o.Records))
	for i := range o.Records {
		lines[i] = o.Records[i].Line()
	}
	return lines
}

// Transcript writes everything that the driver's engine put out, by keys and by ids.
func (d *Driver) Transcript() []string {
	var lines []string
	for _, o := range d.Batches {
		for i := range o.Records {
			r := &o.Records[i]
			lines = append(lines, fmt.Sprintf("%d %d %s %v", o.Number, r.Index, r.Line(), r.IDs))
		}
		for _, q := range o.Summary.Queries {
			lines = append(lines, fmt.Sprintf("%d %s +%v -%v truncated=%v suspended=%v emitted=%d", o.Number, q.Query.Name,
				q.Positive, q.Negative, q.Truncated, q.Suspended != nil, q.Emitted))
		}
	}
	return lines
}

// Net sums what was put out up to now, by query and match name: positives less negatives, zeros left out.
func (d *Driver) Net(name func(query string, m Match) string) map[string]int {
	net := map[string]int{}
	for _, o := range d.Batches {
		for i := range o.Records {
			r := &o.Records[i]
			if r.Kind != matcher.EventMatches {
				continue
			}
			key := r.Query + " " + name(r.Query, r.Match)
			if net[key] += int(r.Sign); net[key] == 0 {
				delete(net, key)
			}
		}
	}
	return net
}

// Diff returns the first place where two lists of lines differ, or "".
func Diff(a, b []string) string {
	for i := range max(len(a), len(b)) {
		x, y := "(end)", "(end)"
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return fmt.Sprintf("line %d:\n%s\n%s", i, x, y)
		}
	}
	return ""
}

// Prepare returns the batch that Batch would step over.
func (d *Driver) Prepare(msgs []dyngraph.Message) *matcher.Batch {
	updates, _ := d.Engine.Accept(msgs)
	return &matcher.Batch{Number: d.next(), Updates: updates}
}

// Fail steps over a batch with an emit that fails at the given record index, and checks that Step returns that error.
// The batch must have such a record. After it everything is to be as before.
func (d *Driver) Fail(b *matcher.Batch, at uint64) {
	d.t.Helper()
	broken := errors.New("broken pipe")
	d.Batches = append(d.Batches, &Output{Number: b.Number}) // for suspensions
	_, err := d.Engine.Step(context.Background(), b, func(ev *matcher.Event) error {
		if at < ev.FirstIndex+uint64(ev.Records()) {
			return broken
		}
		return nil
	})
	d.Batches = d.Batches[:len(d.Batches)-1]
	if !errors.Is(err, broken) {
		d.t.Fatalf("batch %d was to fail at record %d: %v", b.Number, at, err)
	}
}
