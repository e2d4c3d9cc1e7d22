//go:build cuda || emu

package cuda_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/plan"
)

var (
	streamRounds  = flag.Int("motifd.rounds", 3, "rounds of a benchmark of streams: each plays all streams anew")
	streamBatches = flag.Int("motifd.batches", 400, "batches of each stream of a benchmark of streams")
)

// benchClock returns a clock.
func benchClock() func() int64 {
	start := time.Now()
	return func() int64 { return int64(time.Since(start)) }
}

// follower is a backend that follows a graph of its own through a stream.
type follower struct {
	name  string
	graph *dyngraph.Graph
	be    matcher.Backend
	plans []*matcher.Plan
	took  []time.Duration // by batch: staging, searching and committing in the backend
}

func (f *follower) total() (d time.Duration) {
	for _, t := range f.took {
		d += t
	}
	return d
}

// requests makes one request of each plan.
func (f *follower) requests(want matcher.Want) []matcher.Request {
	reqs := make([]matcher.Request, len(f.plans))
	for i, p := range f.plans {
		reqs[i] = matcher.Request{Plan: p, Want: want, Before: matcher.AllOrders}
	}
	return reqs
}

// quantile returns what a share of the batches took at most.
func (f *follower) quantile(share float64) time.Duration {
	t := slices.Sorted(slices.Values(f.took))
	return t[min(len(t)-1, int(share*float64(len(t))))]
}

// benchStream is a stream of batches, two insertions to a deletion.
type benchStream struct {
	name string
	want matcher.Want
	size func(at int) int // updates of a batch
}

var benchStreams = []benchStream{
	{"small counts", matcher.WantCount, func(int) int { return 100 }},
	{"small rows", matcher.WantRows, func(int) int { return 100 }},
	{"mixed counts", matcher.WantCount, mixedSizes},
	{"mixed rows", matcher.WantRows, mixedSizes},
	{"large counts", matcher.WantCount, func(int) int { return 10_000 }},
}

// mixedSizes are small batches with larger ones between them.
func mixedSizes(at int) int {
	switch {
	case at%50 == 49:
		return 10_000
	case at%5 == 4:
		return 1000
	}
	return 100
}

// playStream plays a stream past backends, which it closes; what rehearses does so before. It ends early when there is
// nothing left to insert.
func playStream(b *testing.B, s *benchStream, seed uint64, backends []*follower) {
	var pool []dyngraph.Update
	for _, f := range backends {
		w := generate(b, *benchVertices, *benchDegree, *benchLabels, 2, 2) // the same, from a fixed seed
		f.graph, pool = w.graph, w.batch
		for _, c := range classes {
			if s.want == matcher.WantRows && c != "dense" { // the others have too many
				continue
			}
			for _, q := range w.queries[c] {
				if s.want == matcher.WantRows { // or the CPU keeps what it counts by
					q.Emit = matcher.EmitDeltas
				}
				p, err := plan.New().Plan(q, w.graph)
				if err != nil {
					b.Fatal(err)
				}
				f.plans = append(f.plans, p)
			}
		}
		if err := f.be.Load(f.graph); err != nil {
			b.Fatal(err)
		}
		if err := f.be.Prepare(f.plans); err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		n, err := matcher.Rehearse(b.Context(), f.graph, f.be, f.requests(s.want))
		if err != nil {
			b.Fatal(err)
		}
		if n > 0 {
			fmt.Printf("%s: %s rehearsed %d batches, %.1f ms\n", s.name, f.name, n, time.Since(began).Seconds()*1e3)
		}
	}
	rng := rand.New(rand.NewPCG(5, seed))
	present := 0 // pool[:present] is in the graph
	for at := range *streamBatches {
		if len(pool)-present < s.size(at) {
			break
		}
		batch := make([]dyngraph.Update, 0, s.size(at))
		for range cap(batch) {
			if present > 0 && rng.IntN(3) == 0 {
				i := rng.IntN(present)
				present--
				pool[i], pool[present] = pool[present], pool[i]
				u := pool[present]
				u.Op = dyngraph.DeleteEdge
				batch = append(batch, u)
				continue
			}
			i := present + rng.IntN(len(pool)-present)
			pool[i], pool[present] = pool[present], pool[i]
			batch = append(batch, pool[present])
			present++
		}
		var first []matcher.Result
		for turn := range backends {
			f := backends[(at+turn)%len(backends)]
			got := f.step(b, batch, s.want)
			if first == nil {
				first = got
			}
			for i := range got {
				if got[i].Count.Cmp(first[i].Count) != 0 {
					b.Fatalf("batch %d: %s counts %s, another %s", at, f.name, got[i].Count, first[i].Count)
				}
			}
		}
	}
	for _, f := range backends {
		if err := f.be.Close(); err != nil {
			b.Error(err)
		}
	}
}

// step has the backend follow a batch, and returns what it found, deleted and inserted.
func (f *follower) step(b *testing.B, batch []dyngraph.Update, want matcher.Want) (all []matcher.Result) {
	b.Helper()
	delta, err := f.graph.Stage(batch)
	if err != nil {
		b.Fatalf("%s, batch %d: %v", f.name, len(f.took), err)
	}
	reqs := f.requests(want)
	began := time.Now()
	if err := f.be.Stage(delta); err != nil {
		b.Fatalf("%s, batch %d: %v", f.name, len(f.took), err)
	}
	for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
		r, err := f.be.Search(b.Context(), sign, reqs, func(matcher.Group) error { return nil }, nil)
		if err != nil {
			b.Fatalf("%s, batch %d: %v", f.name, len(f.took), err)
		}
		all = append(all, r...)
	}
	if err := f.be.Commit(); err != nil {
		b.Fatalf("%s, batch %d: %v", f.name, len(f.took), err)
	}
	f.took = append(f.took, time.Since(began))
	f.graph.Commit()
	return all
}
