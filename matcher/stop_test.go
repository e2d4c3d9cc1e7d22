package matcher_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/pattern"
	"motifd/matcher/plan"
)

// cancelling cancels a context when an enumeration of the graph begins.
type cancelling struct {
	matcher.Backend
	cancel context.CancelFunc
}

func (c *cancelling) Enumerate(ctx context.Context, which dyngraph.Which, p *matcher.Plan, want matcher.Want, limit uint64,
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
			updates = append(updates, dyngraph.Update{Op: dyngraph.InsertEdge, From: fmt.Sprint("a", i), To: fmt.Sprint("b", k)})
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
	e, err := matcher.NewEngine(matcher.EngineOptions{Graph: g, Backend: &cancelling{newCPU(t, 2, false), cancel}, Planner: plan.New()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.Restore(ctx, []matcher.QueryState{{Query: q}}); !errors.Is(err, context.Canceled) {
		t.Fatalf("Restore returned %v", err)
	}
}
