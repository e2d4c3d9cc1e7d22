package matcher_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/pattern"
	"motifd/stream/monitor"
)

// cancelling cancels a context when an enumeration of the graph begins.
type cancelling struct {
	matcher.Backend
	cancel context.CancelFunc
}

func (c *cancelling) Enumerate(ctx context.Context, which dyngraph.Which, p *matcher.Plan, want matcher.Want,
	limit uint64,
	budget *matcher.Budget, emit func(matcher.Rows) error,
) (matcher.Result, error) {
	c.cancel()
	return c.Backend.Enumerate(ctx, which, p, want, limit, budget, emit)
}

// oddRing returns a graph and a query for existence that takes about 60^10 steps: a cycle of 11 vertices has no match
// in a complete bipartite graph.
func oddRing(t *testing.T) (*dyngraph.Graph, *matcher.Query) {
	g := dyngraph.NewGraph(dyngraph.Options{})
	var updates []dyngraph.Update
	for i := range 60 {
		for k := range 60 {
			updates = append(updates, dyngraph.Update{Op: dyngraph.InsertEdge, From: fmt.Sprint("a", i),
				To: fmt.Sprint("b", k)})
		}
	}
	if _, err := g.Stage(updates); err != nil {
		t.Fatal(err)
	}
	g.Commit()
	text := "t 11 11\n"
	for v := range 11 {
		text += fmt.Sprintf("v %d 0 2\n", v)
	}
	for v := range 11 {
		text += fmt.Sprintf("e %d %d\n", v, (v+1)%11)
	}
	q, err := pattern.Parse(pattern.Text, []byte(text), pattern.Options{Name: "ring"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range q.Vertices {
		q.Vertices[i].Label = ""
	}
	q.Emit, q.Version = matcher.EmitExists, 1
	return g, q
}

// TestRestoreStopsASearchForAWitness ends because the context ends the search.
func TestRestoreStopsASearchForAWitness(t *testing.T) {
	g, q := oddRing(t)
	ctx, cancel := context.WithCancel(t.Context())
	e, err := monitor.NewEngine(matcher.EngineOptions{Graph: g, Backend: &cancelling{newCPU(t, 2, false), cancel}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.Restore(ctx, []matcher.QueryState{{Query: q}}); !errors.Is(err, context.Canceled) {
		t.Fatalf("Restore returned %v", err)
	}
}

// TestAStopEndsCounting counts cliques of 8 in a complete graph of 7 parts, which has none, for far longer than anybody
// waits: once as a batch adds an edge, once in the whole graph. The clock that the search looks at stops it.
func TestAStopEndsCounting(t *testing.T) {
	const parts, each, clique = 7, 30, 8
	var edges []dyngraph.Update
	for u := range parts * each {
		for v := range u {
			if u%parts != v%parts {
				edges = append(edges, dyngraph.Update{Op: dyngraph.InsertEdge, From: fmt.Sprint(u), To: fmt.Sprint(v)})
			}
		}
	}
	q := &matcher.Query{Name: "clique", Version: 1, Emit: matcher.EmitCounts}
	for v := range clique {
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("v", v)})
		for u := range v {
			name := fmt.Sprint("e", len(q.Edges))
			q.Edges = append(q.Edges, matcher.QueryEdge{Name: name, From: u, To: v, Either: true})
		}
	}
	for _, threads := range []int{1, 3} {
		for _, backfill := range []matcher.Backfill{matcher.BackfillNone, matcher.BackfillFull} {
			ctx, cancel := context.WithCancel(t.Context())
			var looks, most atomic.Int64
			most.Store(1 << 62)
			clock := func() int64 {
				if looks.Add(1) == most.Load() {
					cancel()
				}
				return 0
			}
			g := dyngraph.NewGraph(dyngraph.Options{})
			_, err := g.Stage(edges[1:])
			require.NoError(t, err)
			g.Commit()
			e, err := monitor.NewEngine(matcher.EngineOptions{Graph: g,
				Backend: cpu.New(cpu.Options{Threads: threads, Clock: clock})})
			require.NoError(t, err)
			none := func(*matcher.Event) error { return nil }
			q.Backfill = backfill
			ch, err := e.PrepareChange(&matcher.QueryChange{Add: q})
			require.NoError(t, err)
			step := &matcher.Batch{Number: 1, Change: ch}
			if backfill == matcher.BackfillNone {
				_, err = e.Step(ctx, step, none, nil)
				require.NoError(t, err)
				step = &matcher.Batch{Number: 2, Updates: edges[:1]}
			}
			looks.Store(0)
			most.Store(10)
			_, err = e.Step(ctx, step, none, nil)
			require.ErrorIs(t, err, context.Canceled)
			cancel()
			require.NoError(t, e.Close())
		}
	}
}
