//go:build unix

package cpu

import (
	"fmt"
	"testing"
	"time"

	"motifd/dyngraph"
	"motifd/matcher"
)

// windowHub returns a graph in which one vertex, the hub, has edges in and out. Their times are one millisecond apart.
// It also returns payments with later times.
func windowHub(n, updates int) (graph, insert []dyngraph.Update, q *matcher.Query) {
	edge := func(i int) dyngraph.Update {
		u := dyngraph.Update{Op: dyngraph.InsertEdge, From: fmt.Sprint("in", i), To: "hub",
			Attr: dyngraph.Attr{TS: int64(i), HasTS: true}}
		if i%2 == 0 {
			u.From, u.To = "hub", fmt.Sprint("out", i)
		}
		return u
	}
	for i := range 2 * n {
		graph = append(graph, edge(i))
	}
	for i := range updates {
		insert = append(insert, edge(2*n+i))
	}
	q = &matcher.Query{Name: "through", Version: 1, Vertices: []matcher.QueryVertex{{Name: "a"}, {Name: "m"},
		{Name: "b"}}, Edges: []matcher.QueryEdge{{Name: "t", From: 0, To: 1}, {Name: "u", From: 1, To: 2}}, Within: 20}
	return graph, insert, q
}

// BenchmarkWindowHub measures what a payment to or from a hub costs, in user CPU time, where the window holds ten of
// the hub's payments: in a batch of 1,000 payments, by the size of the hub.
func BenchmarkWindowHub(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			const updates = 1000
			graph, insert, q := windowHub(n, updates)
			x := newBenchOf(b, dyngraph.NewGraph(dyngraph.Options{Directed: true, Schema: amounts}), graph, q,
				Options{Threads: 1})
			least, total := time.Hour, uint64(0)
			for b.Loop() {
				done := x.stage(insert)
				least = min(least, timed(userTime, func() { total = x.produce() }))
				done()
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(total)/updates, "matches/update")
			b.ReportMetric(float64(least.Nanoseconds())/updates, "ns/update")
		})
	}
}
