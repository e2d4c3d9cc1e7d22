package monitor_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/pattern"
	"motifd/stream/monitor"
)

// watch returns an open Monitor with one query, and is closed with the test.
func watch(t *testing.T, opt monitor.Options, cypher string, set func(q *matcher.Query)) *monitor.Monitor {
	t.Helper()
	m, err := monitor.Open(opt)
	require.NoError(t, err)
	t.Cleanup(func() { _ = m.Close() })
	q, err := m.Parse("q", cypher)
	require.NoError(t, err)
	if set != nil {
		set(q)
	}
	_, err = m.Add(t.Context(), q, nil)
	require.NoError(t, err)
	return m
}

func edge(op dyngraph.Op, from, to string) dyngraph.Update {
	return dyngraph.Update{Op: op, From: from, To: to, Label: "T"}
}

// apply applies updates and returns what comes out.
func apply(t *testing.T, m *monitor.Monitor, updates ...dyngraph.Update) (deltas []monitor.Delta) {
	t.Helper()
	_, err := m.Apply(t.Context(), updates, monitor.Each(func(d monitor.Delta) error {
		deltas = append(deltas, d)
		return nil
	}))
	require.NoError(t, err)
	return deltas
}

// TestDeltaIsComplete: a result has keys, labels and attributes as they were sent, and the update that made it.
func TestDeltaIsComplete(t *testing.T) {
	m := watch(t, monitor.Options{}, "MATCH (a:A)-[x:T]->(b)", nil)
	sent := dyngraph.Update{Op: dyngraph.InsertEdge, From: "1", To: "2", Label: "T", FromLabel: "A", ToLabel: "B",
		Attr: dyngraph.Attr{ID: "tx", TS: 5, HasTS: true, Props: []byte(`{"n":1}`)}, Pos: dyngraph.Position{Offset: 7}}
	got := apply(t, m, sent)
	require.Len(t, got, 1)
	require.Len(t, got[0].ID, 32)
	want := monitor.Delta{
		Batch: 2, Query: "q", Version: 1, Sign: dyngraph.Inserted, ID: got[0].ID, Anchor: &sent,
		Vertices: []monitor.Vertex{{Name: "a", Key: "1", Label: "A"}, {Name: "b", Key: "2", Label: "B"}},
		Edges:    []monitor.Edge{{Name: "x", From: "1", To: "2", Label: "T", Attr: sent.Attr}},
	}
	require.Equal(t, want, got[0])
	require.Equal(t, "", got[0].Key("c"))
	gone := apply(t, m, dyngraph.Update{Op: dyngraph.DeleteVertex, Key: "1"})
	require.Len(t, gone, 1)
	require.Equal(t, "-", gone[0].Op())
	require.Equal(t, want.ID, gone[0].ID)
	require.Equal(t, want.Edges, gone[0].Edges)
	require.Equal(t, dyngraph.DeleteVertex, gone[0].Anchor.Op)
	require.Equal(t, want, got[0], "it shares no memory with the graph")
}

// TestExistsTellsTransitions: one result when the first match appears, one when the last one is gone.
func TestExistsTellsTransitions(t *testing.T) {
	m := watch(t, monitor.Options{}, "MATCH (a)-[:T]->(b)", func(q *matcher.Query) { q.Emit = matcher.EmitExists })
	ops := func(updates ...dyngraph.Update) (ops string) {
		for _, d := range apply(t, m, updates...) {
			require.Empty(t, d.ID)
			ops += d.Op()
		}
		return ops
	}
	require.Equal(t, "+", ops(edge(dyngraph.InsertEdge, "1", "2")))
	require.Equal(t, "", ops(edge(dyngraph.InsertEdge, "2", "3")))
	require.Equal(t, "", ops(edge(dyngraph.DeleteEdge, "1", "2")))
	require.Equal(t, "-", ops(edge(dyngraph.DeleteEdge, "2", "3")))
}

// TestLimitsAreTold: what a limit leaves out is a result of its own, and later results say that some are missing.
func TestLimitsAreTold(t *testing.T) {
	m := watch(t, monitor.Options{Limits: matcher.Limits{Matches: 2}}, "MATCH (a)-[:T]->(b)-[:T]->(c)", nil)
	require.Empty(t, apply(t, m, edge(dyngraph.InsertEdge, "2", "3"), edge(dyngraph.InsertEdge, "2", "4"),
		edge(dyngraph.InsertEdge, "2", "5")))
	got := apply(t, m, edge(dyngraph.InsertEdge, "1", "2"))
	require.Len(t, got, 1)
	require.Equal(t, "!", got[0].Op())
	require.Equal(t, matcher.ReasonSkipped, got[0].Notice.Reason)
	require.Equal(t, matcher.CauseMatches, got[0].Notice.Cause)
	require.Equal(t, "1", got[0].Anchor.From)
	gone := apply(t, m, edge(dyngraph.DeleteEdge, "2", "5"))
	require.Len(t, gone, 1)
	require.EqualValues(t, 3, gone[0].LossySince)
}

// TestErrorsAreTyped: each kind of error can be told from others, and none of them changes anything or takes a number.
func TestErrorsAreTyped(t *testing.T) {
	ctx := t.Context()
	m := watch(t, monitor.Options{}, "MATCH (a)-[:T]->(b)", nil)
	q, err := m.Parse("q", "MATCH (a)-[:T]->(b)")
	require.NoError(t, err)

	_, err = m.Parse("bad", "MATCH (a)-[:T]->(b) WHERE a.x = 1")
	var at *pattern.Error
	require.ErrorAs(t, err, &at)
	require.Equal(t, 27, at.Column)
	require.ErrorIs(t, err, matcher.ErrQuery)

	_, err = m.Add(ctx, q, nil)
	var same *matcher.UnchangedError
	require.ErrorAs(t, err, &same)
	_, err = m.Add(ctx, &matcher.Query{Name: "none"}, nil)
	require.ErrorIs(t, err, matcher.ErrQuery)
	_, err = m.Count(ctx, &matcher.Query{Name: "none"})
	require.ErrorIs(t, err, matcher.ErrQuery)
	_, err = m.Remove(ctx, "none")
	require.ErrorIs(t, err, matcher.ErrNoQuery)

	updates := []dyngraph.Update{edge(dyngraph.InsertEdge, "1", "2"), edge(dyngraph.InsertEdge, "2", "2")}
	_, err = m.Apply(ctx, updates, nil)
	var refused *dyngraph.UpdateError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, dyngraph.ReasonSelfLoop, refused.Reason)
	require.ErrorContains(t, err, "update 1 of 2")

	full := errors.New("disk full")
	_, err = m.Apply(ctx, updates[:1], func(*matcher.Event) error { return full })
	require.ErrorIs(t, err, full)

	calls := 0
	sum, err := m.Apply(ctx, updates[:1], func(*matcher.Event) error {
		calls++
		_, err := m.Count(ctx, q)
		require.ErrorIs(t, err, monitor.ErrBusy)
		_, err = m.Apply(ctx, nil, nil)
		require.ErrorIs(t, err, monitor.ErrBusy)
		_, err = m.Add(ctx, q, nil)
		require.ErrorIs(t, err, monitor.ErrBusy)
		require.ErrorIs(t, m.Close(), monitor.ErrBusy)
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, 1, calls, "what failed before left the graph without the edge")
	require.EqualValues(t, 2, sum.Number)

	require.NoError(t, m.Close())
	_, err = m.Apply(ctx, nil, nil)
	require.ErrorIs(t, err, monitor.ErrClosed)
	_, err = m.Remove(ctx, "q")
	require.ErrorIs(t, err, monitor.ErrClosed)
	_, err = m.Count(ctx, q)
	require.ErrorIs(t, err, monitor.ErrClosed)
	require.ErrorIs(t, m.Close(), monitor.ErrClosed)
}

// closing is a backend that tells whether it was closed, and may fail to load.
type closing struct {
	matcher.Backend
	fails  error
	closed int
}

func (c *closing) Load(g *dyngraph.Graph) error { return errors.Join(c.fails, c.Backend.Load(g)) }

func (c *closing) Close() error {
	c.closed++
	return c.Backend.Close()
}

// TestOpen: options that contradict each other are refused, a given graph keeps its content and direction, and a
// backend is closed even if Open fails.
func TestOpen(t *testing.T) {
	g := dyngraph.NewGraph(dyngraph.Options{})
	_, err := g.Stage([]dyngraph.Update{edge(dyngraph.InsertEdge, "1", "2")})
	require.NoError(t, err)
	g.Commit()
	for _, opt := range []monitor.Options{
		{Graph: g, Undirected: true},
		{Threads: -1},
		{Threads: 1, Backend: cpu.New(cpu.Options{})},
		{TempDir: "x", Backend: cpu.New(cpu.Options{})},
	} {
		_, err := monitor.Open(opt)
		require.ErrorContains(t, err, "motifd: Options.", fmt.Sprint(opt))
	}
	broken := &closing{Backend: cpu.New(cpu.Options{}), fails: errors.New("no memory")}
	_, err = monitor.Open(monitor.Options{Backend: broken})
	require.ErrorIs(t, err, broken.fails)
	require.Equal(t, 1, broken.closed)

	backend := &closing{Backend: cpu.New(cpu.Options{})}
	m, err := monitor.Open(monitor.Options{Graph: g, Backend: backend})
	require.NoError(t, err)
	q, err := m.Parse("edges", "MATCH (a)--(b)")
	require.NoError(t, err)
	n, err := m.Count(t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, matcher.CountOf(2), n)
	require.NoError(t, m.Close())
	require.Equal(t, 1, backend.closed)
}

// TestNewEngine: an engine without options has all that a query may need, a sample by match id included.
func TestNewEngine(t *testing.T) {
	e, err := monitor.NewEngine(matcher.EngineOptions{})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	require.Equal(t, "cpu", e.Backend())
	require.True(t, e.Graph().Directed())
	q, err := pattern.Parse(pattern.Cypher, []byte("MATCH (a)-[:T]->(b)"), pattern.Options{Name: "q", Directed: true})
	require.NoError(t, err)
	q.Sample = 4
	ch, err := e.PrepareChange(&matcher.QueryChange{Add: q})
	require.NoError(t, err)
	batch := &matcher.Batch{Number: 2}
	for i := range 400 {
		batch.Updates = append(batch.Updates, edge(dyngraph.InsertEdge, "hub", fmt.Sprint(i)))
	}
	records := uint64(0)
	for _, b := range []*matcher.Batch{{Number: 1, Change: ch}, batch} {
		sum, err := e.Step(t.Context(), b, func(*matcher.Event) error { return nil }, nil)
		require.NoError(t, err)
		records += sum.Records
	}
	require.Greater(t, records, uint64(50))
	require.Less(t, records, uint64(150))
}
