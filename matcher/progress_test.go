package matcher_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/pattern"
	"motifd/stream/monitor"
	"motifd/stream/tempfile"
)

// watched is the progress that an engine reports of a step while it runs.
type watched struct {
	all  uint64   // most anchors of all
	done []uint64 // values, as they come
}

// look takes note of what the engine tells now.
func (w *watched) look(t *testing.T, e *matcher.Engine) {
	done, all := e.Anchors()
	if done > all {
		t.Errorf("%d anchors of %d are done", done, all)
	}
	if w.all = max(w.all, all); len(w.done) == 0 || w.done[len(w.done)-1] != done {
		w.done = append(w.done, done)
	}
}

// TestAStepTellsItsAnchors looks at the engine while it searches: anchors are done with one after the other, of rows,
// of counts that enumerate and of a backfill, which begins at vertices.
func TestAStepTellsItsAnchors(t *testing.T) {
	const edges = 3000
	for _, threads := range []int{1, 2} {
		for _, emit := range []matcher.Emit{matcher.EmitDeltas, matcher.EmitCounts} {
			t.Run(fmt.Sprintf("%v, %d threads", emit, threads), func(t *testing.T) {
				var e *matcher.Engine
				var w *watched
				ask := make(chan struct{}, 1) // one at a time
				b := cpu.New(cpu.Options{Threads: threads, TempFiles: tempfile.In(t.TempDir()), Clock: func() int64 {
					ask <- struct{}{}
					defer func() { <-ask }()
					if w != nil {
						w.look(t, e)
					}
					return 0
				}})
				e, err := monitor.NewEngine(matcher.EngineOptions{Backend: b})
				require.NoError(t, err)
				defer e.Close()
				number := uint64(0)
				step := func(b *matcher.Batch) *watched {
					number++
					b.Number = number
					ask <- struct{}{}
					w = &watched{}
					<-ask
					_, err := e.Step(t.Context(), b, func(*matcher.Event) error { return nil }, nil)
					require.NoError(t, err)
					done, all := e.Anchors()
					require.Zero(t, done)
					require.Zero(t, all)
					return w
				}
				register := func(name string) *watched {
					q, err := pattern.Parse(
						pattern.Cypher,
						[]byte("MATCH (a)-[:T]->(b)-[:T]->(c)-[:T]->(d) RETURN a"),
						pattern.Options{Name: name, Directed: true},
					)
					require.NoError(t, err)
					q.Emit, q.Backfill = emit, matcher.BackfillFull
					ch, err := e.PrepareChange(&matcher.QueryChange{Add: q})
					require.NoError(t, err)
					return step(&matcher.Batch{Change: ch})
				}
				register("first")
				var updates []dyngraph.Update
				for i := range edges {
					updates = append(
						updates,
						dyngraph.Update{Op: dyngraph.InsertEdge, From: fmt.Sprint(i), To: fmt.Sprint(i + 1),
							Label: "T"},
					)
				}
				got := step(&matcher.Batch{Updates: updates})
				if emit == matcher.EmitDeltas {
					require.EqualValues(t, edges, got.all)
				} else {
					require.GreaterOrEqual(t, got.all, uint64(edges))
				}
				require.Greater(t, len(got.done), 5, got.done)
				got = register("again")
				require.GreaterOrEqual(t, got.all, uint64(edges-2)) // where a path of three edges can begin
				require.Greater(t, len(got.done), 2, got.done)
			})
		}
	}
}
