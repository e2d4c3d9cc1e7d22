//go:build data

package cpu_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/stream/monitor"
)

// BenchmarkDataApply replays the stream in batches of 1,000 through one thread and reports what an update costs
// outside the search, by phase of a step, the first batch apart: nanoseconds an update, medians over batches of the
// least of all rounds.
func BenchmarkDataApply(b *testing.B) {
	var batches [][]dyngraph.Message
	for _, us := range synthStream(b, 1000) {
		var msgs []dyngraph.Message
		for i := range us {
			msgs = append(msgs, dyngraph.Message{Updates: us[i : i+1]})
		}
		batches = append(batches, msgs)
	}
	for _, name := range []string{"Q_0", "Q_8", "Q_28"} {
		b.Run(name, func(b *testing.B) {
			least := make([]map[string]int64, len(batches))
			for i := range least {
				least[i] = map[string]int64{}
			}
			query := []matcher.QueryState{{Query: synthQuery(b, name, matcher.EmitCounts)}}
			for b.Loop() {
				began, at, last, took := time.Now(), int64(0), "", map[string]int64{}
				clock := func() int64 { return int64(time.Since(began)) }
				next := func(phase string) {
					now := clock()
					if last != "" {
						took[last] += now - at
					}
					at, last = now, phase
				}
				e, err := monitor.NewEngine(matcher.EngineOptions{
					Graph: synthGraph(b), Backend: cpu.New(cpu.Options{Threads: 1, Clock: clock}),
					Phase: func(_ uint64, p matcher.Phase) { next(string(p)) },
				})
				require.NoError(b, err)
				next("restore")
				require.NoError(b, e.Restore(b.Context(), query))
				next("")
				for n, msgs := range batches {
					clear(took)
					next("accept")
					us, refused := e.Accept(msgs)
					next("")
					require.Empty(b, refused)
					_, err := e.Step(context.Background(), &matcher.Batch{Number: uint64(n + 1), Updates: us},
						func(*matcher.Event) error { return nil }, nil)
					require.NoError(b, err)
					for phase, ns := range took {
						if old, ok := least[n][phase]; !ok || ns < old {
							least[n][phase] = ns
						}
					}
				}
			}
			var all float64
			for _, phase := range []matcher.Phase{"accept", matcher.PhaseStage, matcher.PhasePlan, matcher.PhaseFilter,
				matcher.PhaseApply, matcher.PhaseSearch} {
				var ns []int64
				for _, l := range least[1:] {
					ns = append(ns, l[string(phase)])
				}
				slices.Sort(ns)
				first, median := float64(least[0][string(phase)])/1000, float64(ns[len(ns)/2])/1000
				if phase != matcher.PhaseSearch {
					all += median
				}
				b.ReportMetric(median, fmt.Sprint(phase, "-ns"))
				if phase == matcher.PhaseFilter {
					b.ReportMetric(first, "first-filter-ns")
				}
			}
			b.ReportMetric(all, "all-ns")
			b.ReportMetric(0, "ns/op")
		})
	}
}
