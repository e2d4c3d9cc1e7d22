package matcher_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
	"motifd/stream/monitor"
)

func TestS8RegistrationIsABatchOfItsOwn(t *testing.T) {
	w := newWorld(t, true)
	w.batch("+ a b; + b c; + c d")
	w.register(w.query("none", "MATCH (x)-->(y)-->(z) RETURN x, y, z"))
	w.register(w.query("full", "MATCH (x)-->(y)-->(z) RETURN x, y, z", backfill), "+full snapshot a b c",
		"+full snapshot b c d")
	w.batch("+ d e", "+full c d e", "+none c d e")
	if n := w.cpu.Log[len(w.cpu.Log)-1].Number; n != 4 {
		t.Fatalf("batch %d", n)
	}
	w.remove("full")
	w.batch("- c d", "-none b c d", "-none c d e")
}

func TestS8SnapshotsAreInOrderWhenCapped(t *testing.T) {
	w := newWorld(t, true)
	w.batch("+ c d; + b c; + a b") // ids: c, d, b, a
	q := w.query("q", "MATCH (x)-->(y) RETURN x, y", backfill, capped(2), exactTotal)
	w.register(q, "+q snapshot c d", "+q snapshot b c", "+q snapshot ! truncated")
	s := w.cpu.Batches[1].Summary.Queries
	if len(s) != 1 || !s[0].Truncated || s[0].Positive != matcher.CountOf(3) || !s[0].Snapshot || s[0].Emitted != 3 {
		t.Fatalf("%+v", s)
	}
}

func TestS8AChangedQueryIsANewVersion(t *testing.T) {
	w := newWorld(t, true)
	w.batch("+ a b T; + b c U")
	q := w.query("q", "MATCH (x)-[:T]->(y) RETURN x, y", backfill)
	w.register(q, "+q snapshot a b")
	if _, err := w.cpu.Engine.PrepareChange(&matcher.QueryChange{Add: q}); !errors.Is(err, matcher.ErrUnchanged) {
		t.Fatal(err)
	}
	version := func() uint64 { return w.cpu.Engine.Queries()[0].Query.Version }
	w.register(w.query("q", "MATCH (x)-[:U]->(y) RETURN x, y", backfill), "+q snapshot b c")
	if version() != 2 {
		t.Fatalf("version %d", version())
	}
	out := w.batch("- a b T; - b c U; + a c U", "-q b c", "+q a c")
	if out.Records[0].Version != 2 || out.Records[1].Version != 2 {
		t.Fatalf("%+v", out.Records)
	}
	// The version of a removed query does not come back.
	w.remove("q")
	if s := w.cpu.Engine.Queries(); len(s) != 1 || !s[0].Removed {
		t.Fatalf("%+v", s)
	}
	nameAndVersion(t, w.cpu.Engine.Queries()[0])
	if _, err := w.cpu.Engine.PrepareChange(&matcher.QueryChange{Remove: "q"}); !errors.Is(err, matcher.ErrNoQuery) {
		t.Fatal(err)
	}
	w.register(q)
	if version() != 3 {
		t.Fatalf("version %d", version())
	}
}

func TestS8BadQueriesAreRefused(t *testing.T) {
	w := newWorld(t, true)
	for _, ch := range []*matcher.QueryChange{
		{Add: &matcher.Query{Name: "q"}},
		{Add: w.query("q", "MATCH (x)-->(y) RETURN x, y", func(q *matcher.Query) { q.Name = "" })},
		{Add: w.query("q", "MATCH (x)-->(y) RETURN x, y", func(q *matcher.Query) { q.Edges[0].To = 0 })},
		{Add: w.query("q", "MATCH (x)-->(y) RETURN x, y", counts, capped(3))},
		{Add: w.query("q", "MATCH (x)-->(y) RETURN x, y", exactTotal)},
	} {
		if _, err := w.cpu.Engine.PrepareChange(ch); !errors.Is(err, matcher.ErrQuery) {
			t.Errorf("%+v: %v", ch.Add, err)
		}
	}
	if _, err := w.cpu.Engine.PrepareChange(&matcher.QueryChange{Remove: "q"}); !errors.Is(err, matcher.ErrNoQuery) {
		t.Error(err)
	}
}

func TestNewNames(t *testing.T) {
	for _, name := range []string{"q", "über-weisung", "環 1", "a.b:c*\"'{}", "...", "🙂",
		strings.Repeat("x", matcher.MaxNameLen)} {
		if err := matcher.CheckNewName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{
		"", "a/b", `a\b`, "a\nb", "a\x00", "a\x7f", "a\u0085", "\ufffd", "a\xffb", "a\xed\xa0\x80", "a\u202eb",
		"a\u200b", "a\u00a0b", "\ufeffa",
		" a", "a ", ".", "..", strings.Repeat("x", matcher.MaxNameLen+1),
	} {
		err := matcher.CheckNewName(name)
		if !errors.Is(err, matcher.ErrQuery) || len(err.Error()) > 400 {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestStoredNamesStay holds that a query that is stored under a name which is not allowed any more is restored,
// replaced, resumed and removed like any other, and that no new one gets such a name.
func TestStoredNamesStay(t *testing.T) {
	w := newWorld(t, true)
	old := w.query("q", "MATCH (x)-->(y) RETURN x, y", func(q *matcher.Query) { q.Name, q.Version = "x/y\n", 4 })
	stopped := w.query("q", "MATCH (x)-->(y) RETURN x, y", func(q *matcher.Query) { q.Name, q.Version = "x\\y", 2 })
	e := w.cpu.Engine
	if err := e.Restore(t.Context(), []matcher.QueryState{{Query: old}, {Query: stopped, Suspended: true}}); err !=
		nil {
		t.Fatal(err)
	}
	var same *matcher.UnchangedError
	if _, err := e.PrepareChange(&matcher.QueryChange{Add: old}); !errors.As(err, &same) || same.Version != 4 {
		t.Fatal(err)
	}
	other := *old
	other.Emit = matcher.EmitCounts
	for q, version := range map[*matcher.Query]uint64{&other: 5, stopped: 3} {
		ch, err := e.PrepareChange(&matcher.QueryChange{Add: q})
		if err != nil || ch.Add.Version != version {
			t.Fatalf("%+v: %v", ch, err)
		}
	}
	w.cpu.Change(&matcher.QueryChange{Remove: old.Name})
	if _, err := e.PrepareChange(&matcher.QueryChange{Add: old}); !errors.Is(err, matcher.ErrQuery) {
		t.Fatalf("a removed query is new when it comes back: %v", err)
	}
}

// upsertWorld is a driver in upsert mode.
func upsertWorld(t *testing.T, backend matcher.Backend) *matchertest.Driver {
	return matchertest.NewDriverWith(t, matcher.EngineOptions{Upsert: true, Backend: backend, Planner: plan.New(),
		Graph: dyngraph.NewGraph(dyngraph.Options{Directed: true})})
}

func TestS8RemovalRetractsInUpsertMode(t *testing.T) {
	w := newWorld(t, true)
	w.cpu, w.other = upsertWorld(t, newCPU(t, 2, false)), upsertWorld(t, reference.New())
	w.batch("+ a b; + b c")
	w.register(w.query("q", "MATCH (x)-->(y) RETURN x, y", backfill), "+q snapshot a b", "+q snapshot b c")
	w.batch("- a b; + c d", "-q a b", "+q c d")
	// A new version retracts the old one's matches, under the old version.
	w.register(w.query("q", "MATCH (x)-->(y)-->(z) RETURN x, y, z", backfill), "-q snapshot b c", "-q snapshot c d",
		"+q snapshot b c d")
	last := w.cpu.Batches[len(w.cpu.Batches)-1].Records
	if last[0].Version != 1 || last[2].Version != 2 {
		t.Fatalf("versions %d and %d", last[0].Version, last[2].Version)
	}
	w.remove("q", "-q snapshot b c d")
}

func TestS12UpsertRefusesOtherCombinations(t *testing.T) {
	d := upsertWorld(t, reference.New())
	w := newWorld(t, true)
	for _, q := range []*matcher.Query{
		w.query("q", "MATCH (x)-->(y) RETURN x, y"),
		w.query("q", "MATCH (x)-->(y) RETURN x, y", backfill, counts),
		w.query("q", "MATCH (x)-->(y) RETURN x, y", backfill, exists),
		w.query("q", "MATCH (x)-->(y) RETURN x, y", backfill, capped(1)),
	} {
		if _, err := d.Engine.PrepareChange(&matcher.QueryChange{Add: q}); !errors.Is(err, matcher.ErrQuery) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

// star returns updates that give a hub n targets, each closing n-1 new pairs.
func star(n int) []dyngraph.Message {
	var msgs []dyngraph.Message
	for i := range n {
		msgs = append(msgs, dyngraph.Message{Updates: []dyngraph.Update{
			{Op: dyngraph.InsertEdge, From: "hub", To: fmt.Sprint("t", i), Pos: dyngraph.Position{Offset: int64(i)}}}})
	}
	return msgs
}

// TestS11BudgetSuspendsVisibly gives a query less work than a batch needs: what is put out is whole groups up to the
// one that the log records, the query stays suspended, other queries are not touched, a replay on either backend obeys
// the log without measuring, and a resumed query is a new version.
func TestS11BudgetSuspendsVisibly(t *testing.T) {
	w := newWorld(t, true)
	for _, mode := range []matcher.Emit{matcher.EmitDeltas, matcher.EmitCounts, matcher.EmitExists} {
		for _, backend := range []func() matcher.Backend{
			func() matcher.Backend { return newCPU(t, 1, false) },
			func() matcher.Backend { return newCPU(t, 4, false) },
			func() matcher.Backend { return reference.New() },
		} {
			hungry := w.query("hungry", "MATCH (y)<--(x)-->(z) RETURN x, y, z", func(q *matcher.Query) {
				q.WorkBudget, q.Emit, q.OverBudget = 2000, mode, matcher.SuspendQuery
				if mode == matcher.EmitCounts { // takes few steps
					q.WorkBudget = 300
				}
				if mode == matcher.EmitExists {
					// Never there, and takes long to find out.
					*q = *w.query("hungry", "MATCH (x)-->(y)-->(z)-->(x) RETURN x, y, z")
					q.WorkBudget, q.Emit, q.OverBudget = 50, mode, matcher.SuspendQuery
				}
			})
			d := matchertest.NewDriver(t, true, backend(), plan.New())
			d.Register(hungry)
			d.Register(w.query("modest", "MATCH (x)-->(y) RETURN x, y", counts))
			msgs := star(200)
			if mode == matcher.EmitExists {
				for i := range msgs { // a ring: each edge may be of a triangle, going by its ends
					msgs[i].Updates[0].From, msgs[i].Updates[0].To = fmt.Sprint("t", i),
						fmt.Sprint("t", (i+1)%len(msgs))
				}
			}
			out := d.Batch(msgs)
			if len(out.Decided) != 1 || out.Decided[0].Query != "hungry" || out.Decided[0].Version != 1 ||
				out.Decided[0].Sign != dyngraph.Inserted {
				t.Fatalf("mode %d: suspensions %+v", mode, out.Decided)
			}
			s := out.Decided[0]
			if modest := of(out, &matcher.Query{Name: "modest"}, dyngraph.Inserted); len(modest) != 1 ||
				modest[0].Count != matcher.CountOf(200) {
				t.Fatalf("mode %d: %+v", mode, modest)
			}
			given := of(out, hungry, dyngraph.Inserted)
			if mode != matcher.EmitDeltas && (len(given) != 0 || s.Order != 0) {
				t.Fatalf("mode %d: %+v, suspended at %d", mode, given, s.Order)
			}
			// Group i has 2i matches; the groups before the recorded one are whole, the others absent.
			if n := int(s.Order) * max(0, int(s.Order)-1); len(given) != n && mode == matcher.EmitDeltas {
				t.Fatalf("%d records, suspended at %d", len(given), s.Order)
			}
			if !d.Engine.Queries()[0].Suspended || out.Summary.Queries[0].Suspended == nil {
				t.Fatalf("mode %d: %+v %+v", mode, d.Engine.Queries()[0], out.Summary.Queries)
			}
			if out := d.Batch(star(201)[200:]); len(of(out, hungry, dyngraph.Inserted)) != 0 {
				t.Fatal("a suspended query goes on")
			}
			for _, other := range []matcher.Backend{newCPU(t, 2, false), reference.New()} {
				again := matchertest.Replay(t, d.Log, matcher.EngineOptions{Backend: other, Planner: plan.New(),
					Graph: dyngraph.NewGraph(dyngraph.Options{Directed: true})})
				if diff := matchertest.Diff(d.Transcript(), again.Transcript()); diff != "" {
					t.Fatalf("mode %d, first run against replay: %s", mode, diff)
				}
				if len(again.Batches[2].Decided) != 0 {
					t.Fatal("a replay suspends anew")
				}
			}
			if mode == matcher.EmitExists { // that there is no match takes as long to find out again
				more := *hungry
				more.WorkBudget = 1 << 20
				hungry = &more
			}
			d.Register(hungry)
			if q := d.Engine.Queries()[0]; q.Suspended || q.Query.Version != 2 {
				t.Fatalf("resumed: %+v", q)
			}
		}
	}
}

// TestS11SuspensionIsDurableFirst fails when the suspension is recorded: Step fails, everything is as before, and
// nothing of the group or a later one of the query was put out.
func TestS11SuspensionIsDurableFirst(t *testing.T) {
	full := errors.New("disk full")
	fail := true
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true})
	var recorded []matcher.Decision
	e, err := monitor.NewEngine(matcher.EngineOptions{Graph: g, Backend: newCPU(t, 1, false),
		Decide: func(_ uint64, s matcher.Decision) error {
			if fail {
				return full
			}
			recorded = append(recorded, s)
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, true)
	ch, err := e.PrepareChange(&matcher.QueryChange{Add: w.query("q", "MATCH (y)<--(x)-->(z) RETURN x, y, z",
		func(q *matcher.Query) { q.WorkBudget, q.OverBudget = 500, matcher.SuspendQuery })})
	if err != nil {
		t.Fatal(err)
	}
	step := func(b *matcher.Batch) (rows []string, err error) {
		_, err = e.Step(context.Background(), b, func(ev *matcher.Event) error {
			for i := range ev.Rows.Len() {
				rows = append(rows, matchertest.RowLine(ev.View, ev.Rows, i))
			}
			return nil
		}, nil)
		return rows, err
	}
	if _, err := step(&matcher.Batch{Number: 1, Change: ch}); err != nil {
		t.Fatal(err)
	}
	updates, _ := e.Accept(star(60))
	before, err := step(&matcher.Batch{Number: 2, Updates: updates})
	if !errors.Is(err, full) || g.Edges() != 0 || g.Vertices() != 0 || e.Queries()[0].Suspended {
		t.Fatalf("%v; %d edges, %d vertices, %+v", err, g.Edges(), g.Vertices(), e.Queries())
	}
	fail = false
	after, err := step(&matcher.Batch{Number: 2, Updates: updates})
	if err != nil || len(recorded) != 1 || !slices.Equal(before, after) {
		t.Fatalf("%v; %+v; %d rows, then %d", err, recorded, len(before), len(after))
	}
}

// TestS11FailedStepsLeaveEverythingAsBefore cancels, and fails to emit, at registration.
func TestS11FailedStepsLeaveEverythingAsBefore(t *testing.T) {
	w := newWorld(t, true)
	w.batch("+ a b; + b c")
	q := w.query("q", "MATCH (x)-->(y) RETURN x, y", backfill)
	ch, err := w.cpu.Engine.PrepareChange(&matcher.QueryChange{Add: q})
	if err != nil {
		t.Fatal(err)
	}
	b := &matcher.Batch{Number: 2, Change: ch}
	w.cpu.Fail(b, 1)
	if n := len(w.cpu.Engine.Queries()); n != 0 {
		t.Fatalf("%d queries", n)
	}
	w.register(q, "+q snapshot a b", "+q snapshot b c")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	msgs := w.messages("+ c d; - a b")
	if _, err := w.cpu.Engine.Step(ctx, w.cpu.Prepare(msgs), func(*matcher.Event) error { return nil },
		nil); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	w.batch("+ c d; - a b", "-q a b", "+q c d")
	// A failed replacement leaves the old version in force.
	ch, err = w.cpu.Engine.PrepareChange(
		&matcher.QueryChange{Add: w.query("q", "MATCH (x)-->(y)-->(z) RETURN x, y, z", backfill)})
	if err != nil {
		t.Fatal(err)
	}
	w.cpu.Fail(&matcher.Batch{Number: 4, Change: ch}, 0)
	w.batch("+ d e", "+q d e")
}

// TestS11SuspendedByNegatives exceeds the budget in the first phase: the second puts nothing out of the query.
func TestS11SuspendedByNegatives(t *testing.T) {
	w := newWorld(t, true)
	for _, mode := range []matcher.Emit{matcher.EmitDeltas, matcher.EmitCounts} {
		for _, backend := range []matcher.Backend{newCPU(t, 3, false), reference.New()} {
			d := matchertest.NewDriver(t, true, backend, plan.New())
			d.Batch(star(100))
			hungry := w.query("hungry", "MATCH (y)<--(x)-->(z) RETURN x, y, z", func(q *matcher.Query) {
				q.WorkBudget, q.Emit, q.OverBudget = 200, mode, matcher.SuspendQuery
			})
			d.Register(hungry)
			msgs := w.messages("+ other a; + other b")
			for _, m := range star(100) {
				m.Updates[0].Op = dyngraph.DeleteEdge
				msgs = append(msgs, m)
			}
			out := d.Batch(append(msgs, w.messages("+ more a; + more b")...))
			if len(out.Decided) != 1 || out.Decided[0].Sign != dyngraph.Deleted {
				t.Fatalf("mode %d: %+v", mode, out.Decided)
			}
			if n := len(of(out, hungry, dyngraph.Inserted)); n != 0 {
				t.Fatalf("mode %d: %d positives of a query that was suspended at a negative", mode, n)
			}
			if n := len(of(out, hungry, dyngraph.Deleted)); n >= 100*99 || mode == matcher.EmitCounts && n != 0 {
				t.Fatalf("mode %d: %d negatives", mode, n)
			}
			again := matchertest.Replay(t, d.Log,
				matcher.EngineOptions{Backend: newCPU(t, 1, false), Planner: plan.New(),
					Graph: dyngraph.NewGraph(dyngraph.Options{Directed: true})})
			if diff := matchertest.Diff(d.Transcript(), again.Transcript()); diff != "" {
				t.Fatalf("mode %d, first run against replay: %s", mode, diff)
			}
		}
	}
}

// nameAndVersion holds that no more than this is kept of a removed query.
func nameAndVersion(t *testing.T, s matcher.QueryState) {
	t.Helper()
	want := matcher.QueryState{Query: &matcher.Query{Name: s.Query.Name, Version: s.Query.Version}, Removed: true}
	if !reflect.DeepEqual(s, want) {
		t.Fatalf("kept of a removed query: %+v", s.Query)
	}
}

// TestRestoreTrimsRemovedQueries: checkpoints of earlier versions hold removed queries whole.
func TestRestoreTrimsRemovedQueries(t *testing.T) {
	w := newWorld(t, true)
	q := w.query("q", "MATCH (x)-->(y) RETURN x, y")
	q.Version = 3
	if err := w.cpu.Engine.Restore(t.Context(), []matcher.QueryState{{Query: q, Removed: true}}); err != nil {
		t.Fatal(err)
	}
	nameAndVersion(t, w.cpu.Engine.Queries()[0])
	if len(q.Edges) == 0 || w.cpu.Engine.Queries()[0].Query.Version != 3 {
		t.Fatalf("%+v", w.cpu.Engine.Queries()[0].Query)
	}
}

// TestS8RemovalOfASuspendedQueryRetracts removes, and replaces, a query that was suspended when the engine was
// restored. Its matches have tombstones; those that broke since it was suspended, which nobody knows, are ended.
func TestS8RemovalOfASuspendedQueryRetracts(t *testing.T) {
	for _, replace := range []bool{false, true} {
		w := newWorld(t, true)
		w.cpu, w.other = upsertWorld(t, newCPU(t, 2, false)), upsertWorld(t, reference.New())
		w.batch("+ a b; + b c")
		q := w.query("q", "MATCH (x)-->(y) RETURN x, y", backfill)
		q.Version = 1
		for _, d := range []*matchertest.Driver{w.cpu, w.other} {
			if err := d.Engine.Restore(t.Context(), []matcher.QueryState{{Query: q, Suspended: true}}); err != nil {
				t.Fatal(err)
			}
		}
		if replace {
			w.register(w.query("q", "MATCH (x)-->(y) RETURN x, y", backfill), "-q snapshot a b", "-q snapshot b c",
				"-q snapshot ! ended", "+q snapshot a b", "+q snapshot b c")
			continue
		}
		w.remove("q", "-q snapshot a b", "-q snapshot b c", "-q snapshot ! ended")
		w.batch("+ c d")
	}
}
