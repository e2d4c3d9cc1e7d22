//go:build unix

package cpu

import (
	"runtime"
	"testing"
	"time"

	"motifd/dyngraph"
	"motifd/matcher"
)

// BenchmarkHubEdge inserts one edge between two hubs: the time that passes with one thread by that with two, and the processor time of two by that of one, by
// turns, medians.
func BenchmarkHubEdge(b *testing.B) {
	rowsGraph, rowsInsert, path := hubCase(100)
	cliques, insert, clique := hubClique(6, 70, "E")
	_, _, wild := hubClique(5, 70, "")
	for _, c := range []struct {
		name          string
		graph, insert []dyngraph.Update
		q             *matcher.Query
		search        func(x *bench) matcher.Result
	}{
		{"deltas", rowsGraph, rowsInsert, path, func(x *bench) matcher.Result { return x.rows(func(matcher.Group) error { return nil }) }},
		{"counts", cliques, insert, clique, func(x *bench) matcher.Result { return x.total(matcher.WantCount, 0) }},
		{"counts-one-by-one", cliques, insert, wild, func(x *bench) matcher.Result { return x.total(matcher.WantCount, 0) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			var of [2]*bench
			for k := range of {
				of[k] = newBench(b, c.graph, c.q, Options{Threads: k + 1, SpillDir: b.TempDir()})
				defer of[k].stage(c.insert)()
				c.search(of[k])
			}
			var passes, takes []float64
			var res matcher.Result
			least := time.Hour
			for b.Loop() {
				for range benchTurns {
					var walls, users [2]time.Duration
					for k, x := range of {
						runtime.GC()
						at := time.Now()
						users[k] = timed(userTime, func() { res = c.search(x) })
						walls[k] = time.Since(at)
					}
					least = min(least, walls[0])
					passes, takes = append(passes, walls[0].Seconds()/walls[1].Seconds()), append(takes, users[1].Seconds()/users[0].Seconds())
				}
			}
			matches, _ := res.Count.Uint64()
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(matches), "matches")
			b.ReportMetric(least.Seconds()*1e3, "1-thread-ms")
			b.ReportMetric(median(passes), "1-thread/2-threads")
			b.ReportMetric(median(takes), "user-2/1")
		})
	}
}
