package dyngraph

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
)

// BenchmarkSteady compares a stream in which each insertion has one edge expire, and the vertices that this isolates
// with it or not, with one that deletes it by an update. An iteration is a batch of 1,000 insertions, over 200,000
// edges with a time each millisecond, or over 3,000, ten seconds apart: then no two are in one bucket of the calendar.
func BenchmarkSteady(b *testing.B) {
	b.Run("dense", func(b *testing.B) { benchSteady(b, 200_000, 1) })
	b.Run("sparse", func(b *testing.B) { benchSteady(b, 3000, 10_000) })
}

func benchSteady(b *testing.B, kept, apart int) {
	const size = 1000
	rng := rand.New(rand.NewPCG(1, 18))
	insert := func(i int) Update {
		from := rng.IntN(kept)
		return Update{Op: InsertEdge, From: fmt.Sprint("k", from), To: fmt.Sprint("k", (from+1+rng.IntN(kept-1))%kept),
			Label: "T", Attr: Attr{TS: int64(i * apart), HasTS: true}}
	}
	for _, mode := range []string{"deletes", "expires", "isolated"} {
		b.Run(mode, func(b *testing.B) {
			expires := mode != "deletes"
			g := NewGraph(Options{Directed: true})
			g.ExpireIsolated(mode == "isolated")
			n, last := 0, make([]Update, 0, kept)
			step := func(measured bool) {
				var us []Update
				for range size {
					us = append(us, insert(n))
					n++
				}
				if measured {
					b.StartTimer()
				}
				if over := n - kept; over > 0 && expires {
					g.SetHorizons(g.Approach([]Horizon{{"*", int64(over * apart)}}, 10*size))
				} else if expires {
					g.SetHorizons([]Horizon{{"*", 0}})
				} else if over > 0 {
					old := last[:size]
					last = last[size:]
					for _, u := range old {
						u.Op = DeleteEdge
						us = append(us, u)
					}
				}
				last = append(last, us[:size]...)
				accepted, _ := g.Accept([]Message{{Updates: us}})
				if _, err := g.Stage(accepted); err != nil {
					b.Fatal(err)
				}
				g.Commit()
				b.StopTimer()
			}
			b.StopTimer()
			for n < kept+size {
				step(false)
			}
			b.ResetTimer()
			for range b.N {
				step(true)
			}
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			entries := 0
			if expires {
				c := &g.expiry.calendar.classes[0]
				entries = 16 * (cap(c.front) + cap(c.recent))
				for _, k := range c.buckets {
					entries += 4 * cap(k.edges)
				}
				entries += 8 * cap(g.expiry.calendar.in)
			}
			b.ReportMetric(float64(entries)/float64(g.Edges()), "B/edge")
		})
	}
}
