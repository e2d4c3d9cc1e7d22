//go:build unix

package cpu

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/condition"
)

// BenchmarkConditions measures what conditions cost that always hold: how fast one thread produces the matches of
// patterns, in user CPU time, without conditions, with one on each edge, with a chain of comparisons between edges,
// with a window, and with weighted sums of the values of two edges. The graph has 20,000 vertices, 150,000 edges and 5
// labels.
func BenchmarkConditions(b *testing.B) {
	p := newPowerLaw(1, 20_000, 150_000, 5, 4000)
	for _, us := range [][]dyngraph.Update{p.graph, p.stream} {
		value(us, func(int) (n, ts int64) { return 6, 1000 })
	}
	for _, name := range []string{"star", "triangle"} {
		at := slices.IndexFunc(shapes, func(s patternShape) bool { return s.name == name })
		for _, with := range []string{"none", "own", "between", "within", "formula"} {
			b.Run(name+"/"+with, func(b *testing.B) {
				q := shapeQuery(at)
				var exprs []*condition.Expr
				for i := range q.Edges {
					switch e := fmt.Sprint("e", i); {
					case with == "own":
						exprs = append(exprs, compared(propertyOf(e, "n"), condition.Gt, number("5")))
					case with == "between" && i > 0:
						exprs = append(exprs, compared(propertyOf(fmt.Sprint("e", i-1), "n"), condition.Le,
							propertyOf(e, "n")))
					case with == "formula" && i > 0:
						exprs = append(exprs, compared(
							operation(condition.OpMul, number("10"), propertyOf(e, "n")), condition.Ge,
							operation(condition.OpSub, propertyOf(fmt.Sprint("e", i-1), "n"), number("1000"))))
					}
				}
				ask(b, q, exprs...)
				if with == "within" {
					q.Within = 1
				}
				benchConditions(b, p, q, shapes[at].updates)
			})
		}
	}
}

func benchConditions(b *testing.B, p *powerLaw, q *matcher.Query, updates int) {
	x := newBenchOf(b, dyngraph.NewGraph(dyngraph.Options{Schema: amounts}), p.graph, q, Options{Threads: 1})
	least, total := time.Hour, uint64(0)
	for b.Loop() {
		done := x.stage(p.stream[:updates])
		least = min(least, timed(userTime, func() { total = x.produce() }))
		done()
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(total), "matches")
	b.ReportMetric(float64(total)/1e6/least.Seconds(), "M-produced/s")
}

func operation(op condition.Op, args ...*condition.Expr) *condition.Expr {
	return &condition.Expr{Op: op, Args: args}
}
