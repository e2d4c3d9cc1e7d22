//go:build cuda || emu

package cuda_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/cuda/cudatest"
	"motifd/matcher/matchertest"
	"motifd/matcher/pattern"
	"motifd/stream/monitor"
	"motifd/stream/tempfile"
)

// TestADeviceTellsItsAnchors: the engine tells how many anchors are handed out while the device searches.
func TestADeviceTellsItsAnchors(t *testing.T) {
	matchertest.ForSeeds(t, 1, func(t *testing.T, rng *rand.Rand) {
		b := cuda.New(
			cuda.Options{Device: cudatest.NewDevice(t, rng),
				CPU: cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}, RowMemory: 1 << 14},
		)
		e, err := monitor.NewEngine(matcher.EngineOptions{Backend: b})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		q, err := pattern.Parse(
			pattern.Cypher,
			[]byte("MATCH (a:V)-[:T]->(b:V)-[:T]->(c:V) RETURN a"),
			pattern.Options{Name: "path", Directed: true},
		)
		if err != nil {
			t.Fatal(err)
		}
		ch, err := e.PrepareChange(&matcher.QueryChange{Add: q})
		if err != nil {
			t.Fatal(err)
		}
		const edges = 2000
		most, seen := uint64(0), map[uint64]bool{}
		step := func(b *matcher.Batch) {
			if _, err := e.Step(t.Context(), b, func(*matcher.Event) error {
				done, all := e.Anchors()
				if done > all {
					t.Errorf("%d anchors of %d", done, all)
				}
				most, seen[done] = max(most, all), true
				return nil
			}, nil); err != nil {
				t.Fatal(err)
			}
		}
		step(&matcher.Batch{Number: 1, Change: ch})
		var updates []dyngraph.Update
		for i := range edges + 1 {
			updates = append(updates, dyngraph.Update{Op: dyngraph.InsertVertex, Key: fmt.Sprint(i), Label: "V"})
		}
		for i := range edges {
			updates = append(
				updates,
				dyngraph.Update{Op: dyngraph.InsertEdge, From: fmt.Sprint(i), To: fmt.Sprint(i + 1), Label: "T"},
			)
		}
		step(&matcher.Batch{Number: 2, Updates: updates})
		if most < edges/2 || most > edges || len(seen) < 3 {
			t.Errorf("%d anchors, %d values of those that are done", most, len(seen))
		}
	})
}
