//go:build data && unix

package cpu

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/plan"
)

// squeeze lays all blocks out side by side and without room, as those of a plain CSR are.
func (a *adjacency) squeeze() {
	total := 0
	for v := range a.heads {
		total += 2*int(a.heads[v].pairs) + int(a.heads[v].n)
	}
	nbr, ent := make([]dyngraph.VertexID, 0, total), make([]dyngraph.Entry, 0, total)
	for v := range a.heads {
		h := &a.heads[v]
		pairs, base, at := h.at+2*int(h.pairs), h.at+2*int(h.width), len(nbr)
		nbr = append(append(nbr, a.nbr[h.at:pairs]...), a.nbr[base:base+int(h.n)]...)
		ent = append(append(ent, a.ent[h.at:pairs]...), a.ent[base:base+int(h.n)]...)
		h.at, h.room, h.width = at, h.n, h.pairs
	}
	a.nbr, a.ent, a.free = nbr, ent, 0
}

// BenchmarkDataRoomInIndex counts the stream of the synth case in batches of 1,000 from the index, by turns with one whose blocks have no room to grow,
// and compares the time of the searches: the sums over batches of the least of all rounds.
func BenchmarkDataRoomInIndex(b *testing.B) {
	const rounds = 9
	stream := slices.Collect(slices.Chunk(synth.Updates(b, "insert.txt"), 1000))
	for _, name := range []string{"Q_0", "Q_4", "Q_8", "Q_10", "Q_12", "Q_14", "Q_16", "Q_18", "Q_24", "Q_28"} {
		b.Run(name, func(b *testing.B) {
			q := synth.Query(b, name)
			q.Emit = matcher.EmitCounts
			for b.Loop() {
				g := dyngraph.NewGraph(dyngraph.Options{})
				stage := func(us []dyngraph.Update) *dyngraph.Delta {
					us, rejects := g.Accept([]dyngraph.Message{{Updates: us}})
					require.Empty(b, rejects)
					d, err := g.Stage(us)
					require.NoError(b, err)
					return d
				}
				stage(synth.Updates(b, "graph.txt"))
				g.Commit()
				p, err := plan.New().Plan(q, g)
				require.NoError(b, err)
				var backends [rounds][2]*Backend
				for r := range backends {
					for k := range backends[r] {
						be := New(Options{Threads: 1})
						require.NoError(b, be.Load(g))
						require.NoError(b, be.Prepare([]*matcher.Plan{p}))
						backends[r][k] = be
					}
				}
				var sum [2]time.Duration
				var found [2]matcher.Count
				for _, us := range stream {
					d := stage(us)
					var least [2]time.Duration
					for r := range backends {
						for k, be := range backends[r] {
							require.NoError(b, be.Stage(d))
							if k == 0 {
								be.adj.pack() // either is laid out anew, so that caches are alike
							} else {
								be.adj.squeeze()
							}
							t := time.Now()
							res, err := be.Search(context.Background(), dyngraph.Inserted, []matcher.Request{{Plan: p, Before: matcher.AllOrders, Want: matcher.WantCount}}, nil, nil)
							spent := time.Since(t)
							require.NoError(b, err)
							require.NoError(b, be.Commit())
							if r == 0 || spent < least[k] {
								least[k] = spent
							}
							if r == 0 {
								found[k] = found[k].Add(res[0].Count)
							}
						}
					}
					g.Commit()
					for k := range sum {
						sum[k] += least[k]
					}
				}
				require.Equal(b, found[0], found[1])
				b.ReportMetric(float64(sum[0])/float64(sum[1]), "room/none")
				b.ReportMetric(float64(sum[0].Microseconds())/1e3, "room-ms")
				b.ReportMetric(float64(found[0].Lo), "matches")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}
