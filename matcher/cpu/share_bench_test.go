//go:build unix

package cpu

import (
	"runtime"
	"testing"
	"time"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream/tempfile"
)

// BenchmarkHubEdge inserts one edge between two hubs, which one pattern edge fits in one direction: the time that
// passes with one thread by that with two, and the processor time of two by that of one, by turns, medians; and which
// part of their time two threads search, whatever else the machine does: 0.5 is one thread at a time. Putting rows in
// order is not searching.
func BenchmarkHubEdge(b *testing.B) {
	rowsGraph, rowsInsert, path := hubCase(100)
	cliques, insert, clique := hubClique(6, 120, "E")
	_, _, wild := hubClique(5, 120, "")
	cliques[0].Label, cliques[1].Label = "X", "Y" // the hubs
	for _, q := range []*matcher.Query{clique, wild} {
		q.Vertices[0].Label, q.Vertices[1].Label = "X", "Y"
	}
	for _, c := range []struct {
		name          string
		graph, insert []dyngraph.Update
		q             *matcher.Query
		search        func(x *bench) matcher.Result
	}{
		{"deltas", rowsGraph, rowsInsert, path,
			func(x *bench) matcher.Result { return x.rows(func(matcher.Group) error { return nil }) }},
		{"counts", cliques, insert, clique, func(x *bench) matcher.Result { return x.total(matcher.WantCount, 0) }},
		{"counts-one-by-one", cliques, insert, wild,
			func(x *bench) matcher.Result { return x.total(matcher.WantCount, 0) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			var of [2]*bench
			for k := range of {
				began := time.Now()
				of[k] = newBench(b, c.graph, c.q,
					Options{Threads: k + 1, TempFiles: tempfile.In(b.TempDir()),
						Clock: func() int64 { return int64(time.Since(began)) }})
				defer of[k].stage(c.insert)()
				c.search(of[k])
			}
			var passes, takes, busy []float64
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
					least, busy = min(least, walls[0]), append(busy, float64(res.SearchNS)/2/float64(walls[1]))
					passes, takes = append(passes, walls[0].Seconds()/walls[1].Seconds()),
						append(takes, users[1].Seconds()/users[0].Seconds())
				}
			}
			matches, _ := res.Count.Uint64()
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(matches), "matches")
			b.ReportMetric(least.Seconds()*1e3, "1-thread-ms")
			b.ReportMetric(median(passes), "1-thread/2-threads")
			b.ReportMetric(median(takes), "user-2/1")
			b.ReportMetric(median(busy), "searching-2")
		})
	}
}
