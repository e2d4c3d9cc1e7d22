//go:build unix

package cpu

import (
	"testing"
	"time"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream/tempfile"
)

// BenchmarkDense measures how long it takes to find, and to count, the matches of patterns whose vertices are joined
// to several others, in CPU time of one thread: edges are inserted into a graph of 4,000 vertices, 300,000 edges and
// 3 labels. The least time counts.
func BenchmarkDense(b *testing.B) {
	p := newPowerLaw(1, 4000, 300_000, 3, 2000)
	for i := range denseShapes {
		shape := &denseShapes[i]
		b.Run(shape.name, func(b *testing.B) {
			x := newBench(b, p.graph, shape.query(), Options{Threads: 1, TempFiles: tempfile.In(b.TempDir())})
			defer x.stage(p.stream[:shape.updates])()
			produced, counted := time.Hour, time.Hour
			var matches, count uint64
			for b.Loop() {
				produced = min(produced, timed(cpuTime, func() { matches = x.produce() }))
				counted = min(counted, timed(cpuTime, func() { count = x.count() }))
			}
			if matches != count {
				b.Fatalf("%d matches, counted %d", matches, count)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(produced.Microseconds())/1e3, "deltas-ms")
			b.ReportMetric(float64(counted.Microseconds())/1e3, "counts-ms")
			b.ReportMetric(float64(matches), "matches")
		})
	}
}

// count searches the staged batch for the number of matches.
func (x *bench) count() uint64 {
	res, err := x.b.Search(x.tb.Context(), dyngraph.Inserted,
		[]matcher.Request{{Plan: x.plan, Want: matcher.WantCount, Before: matcher.AllOrders}}, nil,
		func(int, uint32, matcher.Cause) (bool, error) { return true, nil })
	if err != nil {
		x.tb.Fatal(err)
	}
	n, _ := res[0].Count.Uint64()
	return n
}
