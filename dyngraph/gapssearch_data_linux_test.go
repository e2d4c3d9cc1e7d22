//go:build data

package dyngraph_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// synth is the synth case, from this folder.
const synth = matchertest.Synth("../../shared/data/synth")

// churnedSynth is the graph of the synth case after as many deletions and insertions as it has edges, of those that
// it has.
func churnedSynth(b *testing.B) (g *dyngraph.Graph, stage func(us []dyngraph.Update) *dyngraph.Delta) {
	g = dyngraph.NewGraph(dyngraph.Options{})
	stage = func(us []dyngraph.Update) *dyngraph.Delta {
		us, rejects := g.Accept([]dyngraph.Message{{Updates: us}})
		if len(rejects) > 0 {
			b.Fatal(rejects[0].Err)
		}
		d, err := g.Stage(us)
		if err != nil {
			b.Fatal(err)
		}
		return d
	}
	us := synth.Updates(b, "graph.txt")
	stage(us)
	g.Commit()
	edges := slices.DeleteFunc(us, func(u dyngraph.Update) bool { return u.Op != dyngraph.InsertEdge })
	rand.New(rand.NewPCG(5, 5)).Shuffle(len(edges), func(i, j int) { edges[i], edges[j] = edges[j], edges[i] })
	for some := range slices.Chunk(edges, 1000) {
		for _, op := range []dyngraph.Op{dyngraph.DeleteEdge, dyngraph.InsertEdge} {
			for i := range some {
				some[i].Op = op
			}
			stage(some)
			g.Commit()
		}
	}
	return g, stage
}

// BenchmarkDataGapsInSearch replays the stream of the synth case in batches of 1,000 for one query, by turns over the
// array, over one without gaps, and over one that a search cannot tell from a plain CSR's, each with backends of its
// own, and compares the time of the searches: the sums over batches of the least of all rounds. Matches are
// enumerated: what counts without enumeration reads an index of its own, which has no gaps.
func BenchmarkDataGapsInSearch(b *testing.B) {
	const rounds = 9
	stream := synth.Updates(b, "insert.txt")
	for _, name := range []string{"Q_0", "Q_2", "Q_4", "Q_6", "Q_8", "Q_10", "Q_12", "Q_14", "Q_15", "Q_18", "Q_20",
		"Q_22", "Q_24"} {
		b.Run(name, func(b *testing.B) {
			must := func(err error) {
				if err != nil {
					b.Fatal(err)
				}
			}
			q := synth.Query(b, name)
			for b.Loop() {
				g, stage := churnedSynth(b)
				p, err := plan.New().Plan(q, g)
				must(err)
				var backends [rounds][3]*cpu.Backend
				for r := range backends {
					for k := range backends[r] {
						be := cpu.New(cpu.Options{Threads: 1})
						must(be.Load(g))
						must(be.Prepare([]*matcher.Plan{p}))
						backends[r][k] = be
					}
				}
				var sum [3]time.Duration
				var found [3]matcher.Count
				for us := range slices.Chunk(stream, 1000) {
					d := stage(us)
					swap := [3]func(){func() {}, g.PackedTwin(), g.FlatTwin()}
					var least [3]time.Duration
					for r := range backends {
						for k, be := range backends[r] {
							swap[k]()
							must(be.Stage(d))
							t := time.Now()
							res, err := be.Search(
								context.Background(),
								dyngraph.Inserted,
								[]matcher.Request{{Plan: p, Before: matcher.AllOrders}},
								func(matcher.Group) error { return nil },
								func(int, uint32, matcher.Cause) (bool, error) { return true, nil },
							)
							spent := time.Since(t)
							must(err)
							must(be.Commit())
							swap[k]()
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
				if found[0] != found[1] || found[0] != found[2] {
					b.Fatalf("%v matches, %v without gaps, %v in the CSR", found[0], found[1], found[2])
				}
				b.ReportMetric(float64(sum[0])/float64(sum[1]), "gaps/packed")
				b.ReportMetric(float64(sum[0])/float64(sum[2]), "gaps/flat")
				b.ReportMetric(float64(sum[0].Microseconds())/1e3, "gaps-ms")
				b.ReportMetric(float64(found[0].Lo), "matches")
				b.ReportMetric(g.Density(), "density")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}
